// Made by `deno task generate` from openapi/openapi.yaml. Do not edit.

import { checkKey2XX, type Validator } from "./validators.ts";

/** What the client has to know of an operation to call it. */
export interface Operation {
  /** The name of the operation in the description. */
  readonly operationId: string;
  /** Whether the key is sent: always, where there is one, or never. */
  readonly apiKey: "required" | "optional" | "none";
  /** Whether the operation may be repeated after a failure. */
  readonly idempotent: boolean;
  /** Checks of the success responses that hold JSON, by status: "200", or "2XX" for all others. */
  readonly responses?: Readonly<Record<string, Validator>>;
}

/** The header that carries the key. */
export const apiKeyHeader = "X-API-Key";

/** The operations by method and path: "GET /path/{name}". */
export const operations: Readonly<Record<string, Operation>> = {
  __proto__: null as never, // no name is there that is not below
  "POST /checkKey": {
    operationId: "checkKey",
    apiKey: "none",
    idempotent: true,
    responses: { "2XX": checkKey2XX },
  },
};
