import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Issue } from "./http/errors.ts";
import { type CallRecord, CHECK_BASE_URL, invalidResponse, redact } from "./http/failures.ts";
import type { Operation } from "./operation.ts";

/** The largest number of issues kept: a schema may have one for each element of a large response. */
const MAX_ISSUES = 100;

/** What says how the data of a 2xx response must be: the OpenAPI document, or a schema. */
export interface Expected {
  readonly operation?: Operation | undefined;
  readonly schema?: StandardSchemaV1 | undefined;
}

/**
 * Parses the body of a 2xx response as JSON, and checks it.
 *
 * @throws {InvalidResponseError} When it is not what is expected.
 */
export async function readData(
  text: string,
  response: Response,
  { operation, schema }: Expected,
  record: CallRecord,
): Promise<unknown> {
  const refuse = (...issues: Issue[]) => invalidResponse(record, response, text, issues);
  const { responses } = operation ?? {};
  const listed = responses && [`${response.status}`, "2XX"].find((name) => name in responses);
  if (responses && !listed) {
    const message = `has the status ${response.status}, which the OpenAPI document lacks`;
    throw refuse({ path: "", rule: "status", message });
  }
  const check = listed && responses[listed];
  if (listed && !check) return undefined; // The document has no content for this status.
  if (check && text === "") throw refuse({ path: "", rule: "empty", message: "is empty" });
  const value = text === "" ? undefined : parseJson(text, response, refuse);
  const issue = check && check(value);
  if (issue) throw refuse(issue);
  if (!schema) return value;
  const result = await schema["~standard"].validate(value);
  if (!result.issues) return result.value;
  throw refuse(...result.issues.slice(0, MAX_ISSUES).map((issue) => toIssue(issue, record)));
}

/** Parses JSON; an error names the type of what is not. */
function parseJson(text: string, { headers }: Response, refuse: (issue: Issue) => Error): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const type = headers.get("content-type") ?? "no Content-Type";
    const advice = /\bjson\b/i.test(type) ? "" : `: ${CHECK_BASE_URL}`;
    throw refuse({ path: "", rule: "json", message: `is not JSON (${type})${advice}` });
  }
}

/** Makes an issue of a schema's, with the path as a JSON Pointer. */
function toIssue({ message, path = [] }: StandardSchemaV1.Issue, record: CallRecord): Issue {
  const names = path.map((part) => String(typeof part === "object" ? part.key : part));
  // Redacted here, because a JSON Pointer may write a key in another form.
  const pointer = names.map((name) => escapePointer(redact(name, record))).join("");
  return { path: pointer, rule: "schema", message };
}

/** Writes a name as a part of a JSON Pointer (RFC 6901). */
const escapePointer = (name: string) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
