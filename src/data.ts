import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Call } from "./call.ts";
import type { Issue } from "./errors.ts";
import { toPointer } from "./json_pointer.ts";
import { CHECK_BASE_URL } from "./transport/call_errors.ts";
import type { Secrets } from "./transport/secrets.ts";
import { MAX_ERROR_BODY, startOf } from "./transport/text.ts";

/** The largest number of issues kept: a schema may have one for each element of a large response. */
const MAX_ISSUES = 100;

/** The largest part of each path and message that is kept, in characters. */
const MAX_TEXT = 500;

/** The reason why a response is refused. */
interface Rejection {
  readonly issues: readonly Issue[];
  /** The issues in words, for the message of the error. */
  readonly problem: string;
}

/** Rejects a response as a whole. */
function reject(rule: string, problem: string): Rejection {
  return { issues: [{ path: "", rule }], problem };
}

/**
 * Parses the body of a 2xx response as JSON, and checks it against the OpenAPI document or the schema
 * given to `call`.
 */
export async function readData(
  text: string,
  { headers, status }: Response,
  { errors: { secrets }, operation, schema }: Call,
): Promise<{ readonly value: unknown } | Rejection> {
  const { responses = {} } = operation ?? {};
  const listed = [`${status}`, "2XX"].find((name) => name in responses);
  if (operation && !listed) {
    return reject("status", `the OpenAPI document has no status ${status} for this operation`);
  }
  const validate = listed ? responses[listed] : undefined;
  if (text === "" && validate) return reject("empty", "the body is empty");
  let value: unknown;
  try {
    value = text === "" ? undefined : JSON.parse(text);
  } catch {
    const contentType = secrets.redact(headers.get("content-type") ?? "");
    return reject("json", describeNonJson(contentType, !!validate));
  }
  const mismatches = validate?.(value);
  if (mismatches) return { issues: mismatches, problem: describeIssues(mismatches) };
  if (!schema) return { value };
  const result = await schema["~standard"].validate(value);
  if (!result.issues) return result;
  const issues = toIssues(result.issues, secrets);
  return { issues, problem: describeIssues(issues) };
}

/** Says what a body is that is not JSON, and what to do about it. */
function describeNonJson(contentType: string, isDocumented: boolean): string {
  const type = contentType.replace(/;.*/s, "");
  if (type === "" || /json/i.test(type)) return `the body is not JSON: ${CHECK_BASE_URL}`;
  // A page, or a body that the document has as JSON, is a sign of a wrong address.
  const isWrongAddress = isDocumented || /html/i.test(type);
  const advice = isWrongAddress ? CHECK_BASE_URL : 'use a typed method with "parseAs"';
  return `the body is not JSON but ${type}: ${advice}`;
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

/** Converts the issues of a caller's schema; they may quote the response, and so a secret. */
function toIssues(issues: readonly StandardSchemaV1.Issue[], secrets: Secrets): Issue[] {
  let budget = MAX_ERROR_BODY; // of their paths and messages together
  const clean = (text: string) => {
    const part = text.slice(0, budget);
    budget -= part.length;
    return startOf(secrets.redact(part), MAX_TEXT);
  };
  return issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const names = path.map((part) => clean(String(typeof part === "object" ? part.key : part)));
    return { path: toPointer(names).slice(0, MAX_TEXT), rule: "schema", message: clean(message) };
  });
}
