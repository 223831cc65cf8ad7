// Made by `deno task generate` from openapi/openapi.yaml. Do not edit.

import { issuesOf, type Operation } from "../operation.ts";
import { checks } from "./validators.ts";

/** The header that carries the key. */
export const apiKeyHeader = "X-API-Key";

/** The operations by method and path: "GET /path/{name}". */
export const operations: Readonly<Record<string, Operation>> = {
  __proto__: null as never, // no name is there that is not below
  "POST /checkKey": {
    operationId: "checkKey",
    apiKey: "none",
    idempotent: true,
    responses: { "2XX": (value) => issuesOf(checks[0], value) },
  },
};
