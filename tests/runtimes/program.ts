/** Runs the cases at once: a program of Node, Bun and Deno. */

import { conform } from "./conformance.ts";

/** Put in by the bundler. */
declare const SERVER: string;

conform(SERVER);
