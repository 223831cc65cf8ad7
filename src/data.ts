import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Call } from "./call.ts";
import { mustBe } from "./checks.ts";
import type { Issue } from "./errors.ts";
import type { Validator } from "./operation.ts";
import { decode } from "./transport/body.ts";
import type { Redact } from "./transport/redact.ts";
import { invalidResponse, type Received } from "./transport/response.ts";

/** How many issues are kept: a schema may have one for each element of a large response. */
const MAX_ISSUES = 100;

/** How much of their paths and messages is searched for a key, in characters. */
const MAX_SEARCHED = 64 * 2 ** 10;

/** How much of each path and message is kept, in characters. */
const MAX_TEXT = 500;

/** What openapi-fetch's methods resolve to. */
export interface Result {
  data?: unknown;
  error?: unknown;
  response: Response;
}

/** Returns the response with its body; one that middleware made is read now. */
export async function readReceived(
  { data, error, response }: Result,
  call: Call,
): Promise<Received> {
  if (call.received?.response === response) return call.received;
  let text = typeof error === "string" ? error : JSON.stringify(error) ?? "";
  if (response.ok) text = data === undefined ? "" : await response.text();
  return { response, bytes: new TextEncoder().encode(text), isComplete: true };
}

/** Parses a 2xx response as JSON, and checks it as the OpenAPI document says. */
export function readData(received: Received, isEmpty: boolean, call: Call): unknown {
  const { response: { status }, bytes } = received;
  const { responses = {} } = call.operation ?? {};
  const listed = [`${status}`, "2XX"].find((each) => each in responses);
  const fail = (issues: readonly Issue[]): never => {
    throw invalidResponse(received, issues, call);
  };
  if (call.operation && !listed) return fail([{ path: "", rule: "status" }]);
  const validate: Validator | undefined = responses[`${listed}`];
  if (isEmpty || bytes.byteLength === 0) {
    return validate ? fail([{ path: "", rule: "empty" }]) : undefined;
  }
  let value: unknown;
  try {
    value = JSON.parse(decode(bytes));
  } catch {
    return fail([{ path: "", rule: "json" }]);
  }
  const issues = validate?.(value);
  return issues ? fail(issues) : value;
}

/** Checks that a value is a [Standard Schema](https://standardschema.dev). */
export function checkSchema(schema: unknown): void {
  const { "~standard": standard } = Object(schema) as Partial<StandardSchemaV1>;
  if (schema === undefined || typeof standard?.validate === "function") return;
  throw mustBe("schema", "a Standard Schema, such as one of Zod, Valibot or ArkType", schema);
}

/** Checks data with a caller's schema, and returns the schema's output. */
export async function validate(
  schema: StandardSchemaV1,
  data: unknown,
  received: Received,
  call: Call,
): Promise<unknown> {
  const result = await schema["~standard"].validate(data);
  if (!result.issues) return result.value;
  let left = MAX_SEARCHED;
  const clean = (text: string) => {
    const part = text.slice(0, left);
    left -= part.length;
    return call.redact(part).slice(0, MAX_TEXT);
  };
  const issues = result.issues.slice(0, MAX_ISSUES).map((issue) => toIssue(issue, clean));
  throw invalidResponse(received, issues, call);
}

/** Converts an issue, without the secrets that the response may contain. */
function toIssue({ message, path: given = [] }: StandardSchemaV1.Issue, clean: Redact): Issue {
  const pointer = given.map((segment) => {
    const name = Object(segment) === segment ? (segment as { key: PropertyKey }).key : segment;
    return `/${clean(String(name)).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  });
  const path = pointer.join("").slice(0, MAX_TEXT);
  return { path, rule: "schema", message: clean(message) };
}
