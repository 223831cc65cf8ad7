import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Call } from "./call.ts";
import { mustBe } from "./checks.ts";
import type { Issue } from "./errors.ts";
import { invalidResponse } from "./transport/response.ts";

/** How many issues are kept: a schema may have one for each element of a large response. */
const MAX_ISSUES = 100;

/** How much of their paths and messages is searched for a key, in characters. */
const MAX_SEARCHED = 64 * 2 ** 10;

/** How much of each path and message is kept, in characters. */
const MAX_TEXT = 500;

/** Writes the body of an error, which openapi-fetch may have parsed, as JSON; `""` for none. */
export function toText(error: unknown): string {
  try {
    return JSON.stringify(error) ?? "";
  } catch {
    return ""; // It is nested too deep.
  }
}

/** Parses the body of a 2xx response as JSON, and checks it as the OpenAPI document says. */
export function readData(text: string, response: Response, call: Call): unknown {
  const fail = (issues: readonly Issue[]): never => {
    throw invalidResponse(response, text, issues, call);
  };
  const { responses = {} } = call.operation ?? {};
  const listed = [`${response.status}`, "2XX"].find((status) => status in responses);
  if (call.operation && !listed) return fail([{ path: "", rule: "status" }]);
  const validate = responses[`${listed}`];
  if (text === "") return validate ? fail([{ path: "", rule: "empty" }]) : undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
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
  text: string,
  response: Response,
  call: Call,
): Promise<unknown> {
  const result = await schema["~standard"].validate(data);
  if (!result.issues) return result.value;
  let left = MAX_SEARCHED;
  // Issues may quote the response, which may contain secrets.
  const clean = (text: string) => {
    const part = text.slice(0, left);
    left -= part.length;
    return call.secrets.redact(part).slice(0, MAX_TEXT);
  };
  const issues = result.issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const pointer = path.map((segment) => {
      const name = String(typeof segment === "object" ? segment.key : segment);
      return `/${clean(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    });
    return { path: pointer.join("").slice(0, MAX_TEXT), rule: "schema", message: clean(message) };
  });
  throw invalidResponse(response, text, issues, call);
}
