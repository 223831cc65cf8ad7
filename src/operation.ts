import type { Issue } from "./errors.ts";

/** Checks a value; returns what does not match the schema, or `undefined` if all does. */
export type Validator = (value: unknown) => Issue[] | undefined;

/** What the client must know about an operation to call it. */
export interface Operation {
  /** The name of the operation in the OpenAPI document. */
  readonly operationId: string;
  /** Whether the key must be set and is sent, is sent if it is set, or is never sent. */
  readonly apiKey: "required" | "optional" | "none";
  /** Whether the operation may be retried after any temporary failure. */
  readonly idempotent: boolean;
  /**
   * Validators of the success responses, by status: "200", or "2XX" for all others. A status with
   * `undefined` is documented without JSON; a 2xx status that is not listed is refused.
   */
  readonly responses: Readonly<Record<string, Validator | undefined>>;
}

/** A check as `@exodus/schemasafe` writes it: when it returns `false`, `errors` says why. */
export interface Check {
  (value: unknown): boolean;
  readonly errors?: readonly {
    readonly keywordLocation: string;
    readonly instanceLocation: string;
  }[];
}

/** Runs a generated check, which stops at the first problem. */
export function issuesOf(check: Check, value: unknown): Issue[] | undefined {
  try {
    if (check(value)) return undefined;
  } catch (error) { // The value is nested too deep for the stack; Firefox has an `InternalError`.
    if (!["RangeError", "InternalError"].includes((error as Error).name)) throw error;
    return [{ path: "", rule: "depth" }];
  }
  return (check.errors ?? []).map(({ keywordLocation, instanceLocation }) => ({
    path: instanceLocation.slice(1), // without the "#"
    rule: keywordLocation.slice(keywordLocation.lastIndexOf("/") + 1),
  }));
}
