import type { StandardSchemaV1 } from "@standard-schema/spec";

import { failed, mustBe, toPointer } from "./checks.ts";
import type { Issue } from "./errors.ts";
import type { Call } from "./call.ts";
import type { Redact } from "./transport/redact.ts";
import { invalidResponse } from "./transport/response.ts";
import { within } from "./transport/time.ts";

/** How many issues are kept: a schema may have one for each element of a large response. */
const MAX_ISSUES = 100;

/** How long a path and a message may be, in characters. */
const MAX_TEXT = 500;

/** Checks that a value is a [Standard Schema](https://standardschema.dev). */
export function checkSchema(schema: unknown): void {
  let validate: unknown;
  try {
    validate = (schema as Partial<StandardSchemaV1> | null | undefined)?.["~standard"]?.validate;
  } catch { /* Reported below. */ }
  if (schema === undefined || typeof validate === "function") return;
  throw mustBe("schema", "a Standard Schema, such as one of Zod, Valibot or ArkType", schema);
}

/** Checks a response with a caller's schema, and returns the schema's output. */
export async function validate(
  schema: StandardSchemaV1,
  value: unknown,
  response: Response,
  call: Call,
): Promise<unknown> {
  const { timeout, signals, redact } = call;
  // The result is the schema's own, so reading it can fail too.
  const { output, issues } = await within({ name: "schema", timeout, signals }, async () => {
    const result = await schema["~standard"].validate(value);
    if (Object(result) !== result) throw new TypeError("Its result is not an object");
    if (!result.issues) return { output: await result.value }; // it may be a promise
    if (!Array.isArray(result.issues)) throw new TypeError("Its result has no list of issues");
    return { issues: result.issues.slice(0, MAX_ISSUES).map((issue) => toIssue(issue, redact)) };
  }, (thrown) => failed("schema", "failed", thrown, redact));
  if (issues) throw invalidResponse(call, response, issues);
  return output;
}

/** Converts an issue, without the secrets that the response may contain. */
function toIssue({ message, path = [] }: StandardSchemaV1.Issue, redact: Redact): Issue {
  if (typeof message !== "string") throw new TypeError("An issue of its result has no message");
  const pointer = path.slice(0, MAX_ISSUES).map((segment) => {
    const key = Object(segment) === segment ? (segment as { key: PropertyKey }).key : segment;
    return toPointer(redact(String(key), MAX_TEXT));
  });
  return {
    path: pointer.join("").slice(0, MAX_TEXT),
    rule: "schema",
    message: redact(message, MAX_TEXT),
  };
}
