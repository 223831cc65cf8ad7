import type { Issue } from "./errors.ts";

/** Checks a value; returns what does not match the schema, or `undefined` if all does. */
type Validator = (value: unknown) => Issue[] | undefined;

/** An operation, as far as the client must know it to call it. */
export interface Operation {
  /** The name of the operation in the OpenAPI document. */
  readonly operationId: string;
  /** Whether the key must be set and is sent, is sent if it is set, or is never sent. */
  readonly access: "required" | "optional" | "none";
  /** Whether the operation may be retried after any temporary failure. */
  readonly idempotent: boolean;
  /** Whether the OpenAPI document has the status 404, which is then no sign of a wrong address. */
  readonly has404?: true;
  /**
   * The content of 2xx responses, by status: "200", or "2XX" for all others. It is the validator of
   * JSON, the media type of anything else, or `undefined` where the OpenAPI document has no content. A
   * 2xx status without an entry is refused.
   */
  readonly responses: Readonly<Record<string, Validator | string | undefined>>;
}

/** A check as `@exodus/schemasafe` writes it: when it returns `false`, `errors` says why. */
export interface SchemaCheck {
  (value: unknown): boolean;
  /** The keyword of the schema that does not match, and where: "#/data/credits". */
  readonly errors?: readonly { readonly rule: string; readonly place: string }[];
}

/** Runs a generated check, which stops at the first problem; returns the issues, or `undefined`. */
export function issuesOf(check: SchemaCheck, value: unknown): Issue[] | undefined {
  try {
    if (check(value)) return undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ path: "", rule: "depth" }]; // The value is nested too deeply for the stack.
  }
  return (check.errors ?? []).map(({ rule, place }) => ({ path: place.slice(1), rule }));
}
