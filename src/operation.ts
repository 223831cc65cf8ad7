import type { Issue } from "./errors.ts";

/** Returns what a schema rejects, or `undefined` when the value fits. */
export type Validator = (value: unknown) => Issue[] | undefined;

/** What the client has to know of an operation to call it. */
export interface Operation {
  /** The name of the operation in the OpenAPI document. */
  readonly operationId: string;
  /** Whether the key is sent: always, when the client has one, or never. */
  readonly apiKey: "required" | "optional" | "none";
  /** Whether the operation may be repeated after a failure. */
  readonly idempotent: boolean;
  /** Checks of the 2xx responses that hold JSON, by status: "200", or "2XX" for all others. */
  readonly responses?: Readonly<Record<string, Validator>>;
}
