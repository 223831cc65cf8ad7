import type { Issue } from "./errors.ts";

/** Returns what the schema rejects, or `undefined` when the value fits. */
export type Validator = (value: unknown) => Issue[] | undefined;

/** What the client has to know of an operation to call it. */
export interface Operation {
  /** The name of the operation in the OpenAPI document. */
  readonly operationId: string;
  /** Whether the key is sent: always, where there is one, or never. */
  readonly apiKey: "required" | "optional" | "none";
  /** Whether the operation may be repeated after a failure. */
  readonly idempotent: boolean;
  /** Checks of the success responses that hold JSON, by status: "200", or "2XX" for all others. */
  readonly responses?: Readonly<Record<string, Validator>>;
}

/** A check as `@exodus/schemasafe` writes it: after `false`, `errors` says what is wrong. */
export interface Check {
  (value: unknown): boolean;
  readonly errors?: readonly {
    readonly keywordLocation: string;
    readonly instanceLocation: string;
  }[];
}

/** Runs a generated check. It stops at the first fault that it finds. */
export function issuesOf(check: Check, value: unknown): Issue[] | undefined {
  if (check(value)) return undefined;
  return (check.errors ?? []).map(({ keywordLocation, instanceLocation }) => ({
    path: instanceLocation.slice(1), // without the "#"
    rule: keywordLocation.slice(keywordLocation.lastIndexOf("/") + 1),
  }));
}
