import { redactor } from "../src/transport/redact.ts";
import type { Reading } from "../src/transport/response.ts";

/** What the transport needs, with limits that no test reaches. */
export const reading: Reading = {
  name: "GET /report",
  timeout: 30_000,
  signals: [],
  maxResponseBytes: 2 ** 20,
  redact: redactor(),
};
