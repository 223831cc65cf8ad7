import type { CallContext } from "./call.ts";
import { findIssue } from "./checks.ts";
import type { Issue } from "./errors.ts";
import * as failures from "./failures.ts";
import type { Operation } from "./operation.ts";
import { optionError } from "./options.ts";
import { isJsonType } from "./serialize.ts";

/** The largest number of issues kept: a schema may have one for each element of a large response. */
const MAX_ISSUES = 100;

/**
 * Parses the body of a 2xx response as JSON, and checks it against the OpenAPI document or the schema
 * given to `call`.
 *
 * @throws {InvalidResponseError} When it does not match.
 */
export async function readData(text: string, response: Response, context: CallContext) {
  const { operation, schema } = context;
  if (operation) return readDocumented(text, response, operation, context);
  const advice = ', or use a typed method with "parseAs"';
  const value = text === "" ? undefined : parseJson(text, response, context, advice);
  if (!schema) return value;
  const result = await schema["~standard"].validate(value);
  if (!result) throw optionError("schema", 'returned no result from "validate"', context);
  if (!result.issues) return result.value;
  const issues = result.issues.slice(0, MAX_ISSUES).map(({ message, path = [] }): Issue => {
    // Redacted here, because a JSON Pointer may write a key in another form.
    const names = path.map((part) => failures.redact(String(Object(part).key ?? part), context));
    return { path: toPointer(names), rule: "schema", message };
  });
  throw failures.invalidResponse(context, response, text, issues);
}

/** Reads the data of an operation that the OpenAPI document has. */
function readDocumented(
  text: string,
  response: Response,
  operation: Operation,
  context: CallContext,
) {
  const { status } = response;
  const { responses } = operation;
  const toError = (issue: Issue, problem?: string) =>
    failures.invalidResponse(context, response, text, [issue], problem);
  const listed = [`${status}`, "2XX"].find((name) => name in responses);
  if (!listed) {
    throw toError({ path: "", rule: "status" }, `the OpenAPI document has no status ${status}`);
  }
  const check = responses[listed];
  if (!check) return undefined; // The document has no content for this status.
  if (text === "") throw toError({ path: "", rule: "empty" }, "the body is empty");
  const value = parseJson(text, response, context);
  const issue = findIssue(check, value);
  if (issue) throw toError(issue);
  return value;
}

/** Parses JSON; says why a body is not JSON, or what to do if it is of another type. */
function parseJson(
  text: string,
  response: Response,
  context: CallContext,
  advice = "",
): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const type = response.headers.get("content-type") ?? "no Content-Type";
    const why = isJsonType(type)
      ? whyNotJson(failures.redact(text, context)) // The reason may quote a part of a key.
      : `${failures.CHECK_BASE_URL}${advice}`;
    const problem = `the body is not JSON (${type}): ${why}`;
    throw failures.invalidResponse(context, response, text, [{ path: "", rule: "json" }], problem);
  }
}

/** Returns the parser's reason to refuse a text. */
function whyNotJson(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return (error as SyntaxError).message;
  }
}

/** Writes names of fields and indexes of lists as a JSON Pointer (RFC 6901), such as `/list/0`. */
function toPointer(names: readonly string[]): string {
  return names.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
