/** Runs the cases in workerd, as the test of a worker. */

import { conform } from "./conformance.ts";

/** Put in by the bundler. */
declare const SERVER: string;

export default {
  test: (): Promise<void> => conform(SERVER),
};
