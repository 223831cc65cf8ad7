import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Call } from "./call.ts";
import { mustBe } from "./checks.ts";
import type { Issue } from "./errors.ts";
import { ADVICE } from "./transport/failures.ts";
import { MAX_SEARCHED, type Secrets } from "./transport/redact.ts";

/** How many issues are kept: a schema may have one for each element of a large response. */
const MAX_ISSUES = 100;

/** How much of each path and message is kept, in characters. */
const MAX_TEXT = 500;

/** Parses the body of a 2xx response as JSON, and checks it: the document's check, `call`'s schema. */
export async function readData(text: string, response: Response, call: Call): Promise<unknown> {
  const { headers, status } = response;
  const refuse = (issues: readonly Issue[], problem = describe(issues)): never => {
    const error = call.failures.invalid(response, text, issues, problem);
    Error.captureStackTrace?.(error, readData); // with fewer frames, so that it shows who called
    throw error;
  };
  const fail = (rule: string, problem: string) => refuse([{ path: "", rule }], problem);

  const { responses = {} } = call.operation ?? {};
  const listed = [`${status}`, "2XX"].find((name) => name in responses);
  if (call.operation && !listed) {
    fail("status", `the OpenAPI document has no status ${status} for it`);
  }
  const check = listed ? responses[listed] : undefined;
  if (text === "" && check) fail("empty", "the body is empty");
  let value: unknown;
  try {
    value = text === "" ? undefined : JSON.parse(text);
  } catch {
    const given = call.failures.secrets.redact(headers.get("content-type") ?? "");
    const type = given.replace(/;.*/s, "").slice(0, MAX_TEXT);
    const other = type && !/json/i.test(type) ? ` but ${type}` : "";
    // What is documented without JSON is not a sign of a wrong address.
    fail("json", `the body is not JSON${other}, ${listed && !check ? 'set "parseAs"' : ADVICE}`);
  }
  const issues = check?.(value);
  if (issues) refuse(issues);
  if (!call.schema) return value;
  const result = await call.schema["~standard"].validate(value);
  return result.issues ? refuse(toIssues(result.issues, call.failures.secrets)) : result.value;
}

/** Says what is wrong with data, in at most five places. */
function describe(issues: readonly Issue[]): string {
  const list = issues.slice(0, 5).map(({ path, rule, message }) => {
    const where = path || "the body";
    if (message !== undefined) return `${where}: ${message}`;
    if (rule === "depth") return `${where} is nested too deep`;
    return `${where} does not match the OpenAPI document (${rule})`;
  });
  if (issues.length > list.length) list.push(`and ${issues.length - list.length} more`);
  return list.join("; ");
}

/** Checks that a value is a [Standard Schema](https://standardschema.dev). */
export function checkSchema(schema: unknown): void {
  const { "~standard": standard } = Object(schema) as Partial<StandardSchemaV1>;
  if (schema === undefined || typeof standard?.validate === "function") return;
  throw mustBe("schema", "a Standard Schema, such as one of Zod, Valibot or ArkType", schema);
}

/** Writes the issues of a caller's schema, which may quote the response and so a secret. */
function toIssues(issues: readonly StandardSchemaV1.Issue[], secrets: Secrets): Issue[] {
  let left = MAX_SEARCHED; // of their paths and messages together
  const clean = (text: string) => {
    const part = text.slice(0, left);
    left -= part.length;
    return secrets.redact(part).slice(0, MAX_TEXT);
  };
  return issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const pointer = path.map((segment) => {
      const name = String(typeof segment === "object" ? segment.key : segment);
      return `/${clean(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    });
    return { path: pointer.join("").slice(0, MAX_TEXT), rule: "schema", message: clean(message) };
  });
}
