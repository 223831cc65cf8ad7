import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Call } from "./call.ts";
import type { Issue } from "./errors.ts";
import { CHECK_BASE_URL } from "./transport/call_errors.ts";
import type { Secrets } from "./transport/secrets.ts";
import { MAX_ERROR_BODY, startOf } from "./transport/text.ts";

/** How many issues are kept: a schema may have one for each element of a large response. */
const MAX_ISSUES = 100;

/** How much of each path and message is kept, in characters. */
const MAX_TEXT = 500;

/** What is wrong with a response. */
interface Problem {
  readonly issues: readonly Issue[];
  /** The same for people. */
  readonly summary: string;
}

/** Makes a problem that no schema has found. */
function problemOf(rule: string, summary: string): Problem {
  return { issues: [{ path: "", rule }], summary };
}

/**
 * Parses the body of a 2xx response as JSON, and checks it against the OpenAPI document or the schema
 * given to `call`.
 */
export async function readData(
  text: string,
  { headers, status }: Response,
  { errors: { secrets }, operation, resolvesToErrors, schema }: Call,
): Promise<{ readonly value: unknown } | Problem> {
  const { responses = {} } = operation ?? {};
  const listed = [`${status}`, "2XX"].find((name) => name in responses);
  if (operation && !listed) {
    const summary = `the OpenAPI document has no status ${status} for this operation`;
    return problemOf("status", summary);
  }
  const validate = listed ? responses[listed] : undefined;
  if (text === "" && validate) return problemOf("empty", "the body is empty");
  let value: unknown;
  try {
    value = text === "" ? undefined : JSON.parse(text);
  } catch {
    const given = secrets.redact(headers.get("content-type") ?? "");
    const type = given.replace(/;.*/s, "").slice(0, MAX_TEXT);
    const isOther = type !== "" && !/json/i.test(type);
    // Where the document has the status without JSON, `parseAs` is missing. Where it lacks the
    // operation, a typed method may want what is neither JSON nor a page. All else is a sign of a
    // wrong address.
    const isWanted = listed ? !validate : resolvesToErrors && isOther && !/html/i.test(type);
    const advice = isWanted ? 'set "parseAs"' : CHECK_BASE_URL;
    return problemOf("json", `the body is not JSON${isOther ? ` but ${type}` : ""}, ${advice}`);
  }
  const mismatches = validate?.(value);
  if (mismatches) return { issues: mismatches, summary: describeIssues(mismatches) };
  if (!schema) return { value };
  const result = await schema["~standard"].validate(value);
  if (!result.issues) return result;
  const issues = toIssues(result.issues, secrets);
  return { issues, summary: describeIssues(issues) };
}

/** Says what is wrong with data, in at most five places. */
function describeIssues(issues: readonly Issue[]): string {
  const list = issues.slice(0, 5).map(({ path, rule, message }) => {
    const where = path || "the body";
    if (message !== undefined) return `${where}: ${message}`;
    if (rule === "depth") return `${where} is nested too deep`;
    return `${where} does not match the OpenAPI document (${rule})`;
  });
  if (issues.length > list.length) list.push(`and ${issues.length - list.length} more`);
  return list.join("; ");
}

/** Writes the issues of a caller's schema, which may quote the response and so a secret. */
function toIssues(issues: readonly StandardSchemaV1.Issue[], secrets: Secrets): Issue[] {
  let left = MAX_ERROR_BODY; // of their paths and messages together
  const clean = (text: string) => {
    const part = text.slice(0, left);
    left -= part.length;
    return startOf(secrets.redact(part), MAX_TEXT);
  };
  return issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const pointer = path.map((segment) => {
      const name = String(typeof segment === "object" ? segment.key : segment);
      return `/${clean(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    });
    return { path: pointer.join("").slice(0, MAX_TEXT), rule: "schema", message: clean(message) };
  });
}
