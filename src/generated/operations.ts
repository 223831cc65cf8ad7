// Sketch of the generator's output; replaced by `deno task generate`.
import { checkKey2XX, type Validator } from "./validators.ts";

export interface Operation {
  readonly operationId: string;
  readonly apiKey: "required" | "optional" | "none";
  readonly idempotent: boolean;
  readonly responses?: Readonly<Record<string, Validator>>;
}

export const apiKeyHeader = "X-API-Key";

export const operations: Readonly<Record<string, Operation>> = {
  "POST /checkKey": {
    operationId: "checkKey",
    apiKey: "none",
    idempotent: true,
    responses: { "2XX": checkKey2XX },
  },
};
