import type { StandardSchemaV1 } from "@standard-schema/spec";

import { mustBe } from "./checks.ts";
import { ConfigurationError, type Issue } from "./errors.ts";
import { invalidResponse } from "./response.ts";
import type { Call } from "./call.ts";
import { withTimeout } from "./time.ts";

/** Checks that a value is a [Standard Schema](https://standardschema.dev). */
export function checkSchema(schema: unknown): void {
  const standard = (schema as Partial<StandardSchemaV1> | null | undefined)?.["~standard"];
  if (schema === undefined || typeof standard?.validate === "function") return;
  throw mustBe("schema", "a Standard Schema, such as one of Zod, Valibot or ArkType", schema);
}

/** Checks a response with a caller's schema, and returns the schema's output. */
export async function validate(
  schema: StandardSchemaV1,
  value: unknown,
  status: number,
  call: Call,
): Promise<unknown> {
  const result = await withTimeout(async () => {
    try {
      return await schema["~standard"].validate(value);
    } catch (error) {
      const cause = call.secrets.reason(error);
      throw new ConfigurationError(`"schema" failed: ${cause.message}`, { cause });
    }
  }, { ...call, name: "schema" });
  if (!result || typeof result !== "object") {
    throw mustBe("schema", "a schema whose result is an object", result);
  }
  if (!result.issues) return result.value;
  throw invalidResponse(call, status, result.issues.map((issue) => toIssue(issue, call)));
}

/** Converts an issue, without the secrets that the response may contain. */
function toIssue({ message, path = [] }: StandardSchemaV1.Issue, { secrets }: Call): Issue {
  const pointer = path.map((segment) => {
    const key = typeof segment === "object" ? segment.key : segment;
    return `/${secrets.redact(String(key)).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  });
  return {
    path: pointer.join(""),
    rule: "schema",
    message: secrets.redactStart(String(message), 500),
  };
}
