// Made by `deno task generate` from openapi/openapi.yaml. Do not edit.

import type { Operation } from "../operation.ts";
import * as checks from "./validators.ts";

/** The header in which the key is sent. */
export const apiKeyHeader = "X-API-Key";

/** The operations by method and path: "GET /path/{name}". */
export const operations: Readonly<Record<string, Operation>> = {
  __proto__: null as never, // without inherited names
  "POST /checkKey": {
    operationId: "checkKey",
    access: "none",
    idempotent: true,
    responses: { "2XX": checks.checkKeyStatus },
  },
};
