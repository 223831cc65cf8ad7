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
import type { ResponseSpec } from "./operations.ts";
import { compileSchemas } from "./schemasafe.ts";
import { combiners, requiredOf } from "./schemas.ts";
import { chooseBranch } from "./unions.ts";

/** Fields that describe a value; all others of a schema restrict it. */
const annotations = `title description default example examples format deprecated readOnly
  writeOnly`.split(/\s+/);

/** Converts the schemas of a document for the compiler. */
class SchemaReader {
  /** The schemas that others refer to, by JSON Pointer, URI-encoded. */
  readonly definitions = new Map<string, JsonObject>();

  constructor(readonly document: JsonObject) {}

  convert = (from: Json): JsonObject => {
    const { $ref } = objectOf(from);
    if ($ref) return { $ref: this.define(`${$ref}`.slice("#".length)) };
    const schema: JsonObject = {};
    for (const [field, value] of Object.entries(objectOf(from))) {
      if (annotations.includes(field)) continue;
      const choice = ["anyOf", "oneOf"].includes(field) &&
        chooseBranch(listOf(value), this.document, this.convert);
      if (choice) schema.allOf = [choice]; // A schema has only one of them: see schema_rules.ts.
      else if (combiners.includes(field)) schema[field] = listOf(value).map(this.convert);
      else if (field === "properties") schema[field] = mapValues(value, this.convert);
      else if (field === "required") schema[field] = requiredOf(objectOf(from));
      else schema[field] = isObject(value) ? this.convert(value) : value;
    }
    return schema;
  };

  /** Adds a definition, unless it exists; returns its name. */
  define(pointer: string): string {
    const name = encodeURIComponent(pointer);
    if (!this.definitions.has(name)) {
      const definition: JsonObject = {};
      this.definitions.set(name, definition); // before it is read, because it may refer to itself
      Object.assign(definition, this.convert(follow(this.document, pointer) ?? {}));
    }
    return name;
  }
}

/** Compiles the check of one schema; returns why schemasafe refuses it, if it does. */
export function checkOf(document: JsonObject, schema: Json): SchemaCheck | string {
  const { convert, definitions } = new SchemaReader(document);
  try {
    return compileSchemas(new Map([["", convert(schema)]]), definitions).functions[0]!;
  } catch (error) {
    return (error as Error).message.replace(/ at #\S*$/, ""); // a place in what was converted
  }
}

/**
 * Writes the checks of a document's responses, in their order.
 *
 * @param document The document, which has passed the lint.
 * @param responses Its responses.
 * @returns TypeScript.
 */
export function writeValidators(document: JsonObject, responses: readonly ResponseSpec[]): string {
  const { convert, definitions } = new SchemaReader(document);
  const checks = new Map(responses.map(({ name, schema }) => {
    const converted = convert(schema);
    return [name, definitions.get(`${converted.$ref}`) ?? converted];
  }));
  const { code } = compileSchemas(checks, definitions);
  const lines = responses.map(({ name }) => `readonly ${JSON.stringify(name)}: SchemaCheck;`);
  return `// deno-lint-ignore-file
// @ts-nocheck: it is JavaScript that @exodus/schemasafe wrote

import type { SchemaCheck } from "../operation.ts";

/** Checks whether a value matches the schema of a response, by method, path and status. */
export const schemaChecks: { ${lines.join("\n")} } = /* @__PURE__ */ ${code}
`;
}
