/**
 * Writes the checks of the JSON success responses.
 *
 * They check what accepted.yaml has of JSON Schema (draft 2020-12), except what describes a value,
 * such as `format` and `default`, and stop at the first problem. An issue names its place and the
 * rule, for example `{ path: "/address", rule: "required" }`, and has no value of the response; `*`
 * stands for a property name that the schema does not have.
 *
 * In a response, `required` does not count for a `writeOnly` property. In the types, `$Read` and
 * `$Write` mark what only responses or requests have; the client's methods, `Readable` and
 * `Writable` resolve these.
 *
 * @module
 */

import type { SchemaCheck } from "../../src/operation.ts";
import type { Json, JsonObject } from "./json.ts";
import { follow, isObject, listOf, mapValues, objectOf } from "./json.ts";
import { compileSchemas } from "./schemasafe.ts";
import { combiners, requiredOf } from "./schemas.ts";
import { chooseBranch } from "./unions.ts";

/** Fields that describe a value; all others of a schema restrict it. */
const annotations = `title description default example examples format deprecated readOnly
  writeOnly`.split(/\s+/);

/**
 * Converts a schema of a document for the compiler. What it refers to is added to `definitions`, by
 * JSON Pointer, URI-encoded.
 */
function convert(from: Json, document: JsonObject, definitions: JsonObject): JsonObject {
  const convertPart = (part: Json) => convert(part, document, definitions);
  const { $ref, ...fields } = objectOf(from);
  if ($ref) {
    const name = encodeURIComponent(`${$ref}`.slice("#".length));
    if (!(name in definitions)) {
      const definition = definitions[name] = {}; // before it is read: it may refer to itself
      Object.assign(definition, convertPart(follow(document, $ref) ?? {}));
    }
    return { $ref: name };
  }
  const schema: JsonObject = {};
  for (const [field, value] of Object.entries(fields)) {
    if (annotations.includes(field)) continue;
    const choice = ["anyOf", "oneOf"].includes(field) &&
      chooseBranch(listOf(value), document, convertPart);
    if (choice) schema.allOf = [choice]; // A schema has only one of them: see schema_rules.ts.
    else if (combiners.includes(field)) schema[field] = listOf(value).map(convertPart);
    else if (field === "properties") schema[field] = mapValues(value, convertPart);
    else if (field === "required") schema[field] = requiredOf(fields);
    else schema[field] = isObject(value) ? convertPart(value) : value;
  }
  return schema;
}

/** Compiles the check of one schema; returns why schemasafe refuses it, if it does. */
export function checkOf(document: JsonObject, schema: Json): SchemaCheck | string {
  const definitions: JsonObject = {};
  const converted = convert(schema, document, definitions);
  try {
    return compileSchemas({ schema: converted }, definitions).functions[0]!;
  } catch (error) {
    return (error as Error).message.replace(/ at #\S*$/, ""); // a place in what was converted
  }
}

/**
 * Writes the checks of a document's responses, in their order.
 *
 * @param document The document, which has passed the lint.
 * @param responses The schemas of its responses, by the names of the checks.
 * @returns TypeScript.
 */
export function writeValidators(document: JsonObject, responses: JsonObject): string {
  const definitions: JsonObject = {};
  const checks = mapValues(responses, (schema) => {
    const converted = convert(schema, document, definitions);
    return definitions[`${converted.$ref}`] ?? converted;
  });
  const { code } = compileSchemas(checks, definitions);
  const lines = Object.keys(responses).map((name) =>
    `readonly ${JSON.stringify(name)}: SchemaCheck;`
  );
  return `// deno-lint-ignore-file
// @ts-nocheck: it is JavaScript that @exodus/schemasafe wrote

import type { SchemaCheck } from "../operation.ts";

/** Checks whether a value matches the schema of a response, by method, path and status. */
export const schemaChecks: { ${lines.join("\n")} } = /* @__PURE__ */ ${code}
`;
}
