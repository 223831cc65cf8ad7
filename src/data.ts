import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Call } from "./call.ts";
import type { Issue } from "./errors.ts";
import { toPointer } from "./json_pointer.ts";
import { CHECK_BASE_URL } from "./transport/call_errors.ts";
import type { Secrets } from "./transport/secrets.ts";
import { MAX_ERROR_BODY, startOf } from "./transport/text.ts";

/** How many issues are kept: a schema may have one for each element of a large response. */
const MAX_ISSUES = 100;

/** How much of each path and message is kept, in characters. */
const MAX_TEXT = 500;

/** The reason why a response is refused. */
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
  { errors: { secrets }, operation, schema }: Call,
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
    // A page, or a body that the document has as JSON, is a sign of a wrong address.
    const isWanted = isOther && !validate && !/html/i.test(type);
    const advice = isWanted ? 'use a typed method with "parseAs"' : CHECK_BASE_URL;
    return problemOf("json", `the body is not JSON${isOther ? ` but ${type}` : ""}: ${advice}`);
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
  let budget = MAX_ERROR_BODY; // of their paths and messages together
  const clean = (text: string) => {
    const part = text.slice(0, budget);
    budget -= part.length;
    return startOf(secrets.redact(part), MAX_TEXT);
  };
  return issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const names = path.map((segment) =>
      clean(String(typeof segment === "object" ? segment.key : segment))
    );
    const pointer = toPointer(names).slice(0, MAX_TEXT);
    return { path: pointer, rule: "schema", message: clean(message) };
  });
}
