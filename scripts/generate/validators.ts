/**
 * Writes the checks of the JSON success responses.
 *
 * They check all that JSON Schema (draft 2020-12) says about a value, except `format` and `default`,
 * which describe it, and stop at the first problem. An issue names its place and the rule, for
 * example `{ path: "/address", rule: "required" }`, and has no value of the response; `*` stands for
 * a property name that the schema does not have.
 *
 * In a response, `required` does not count for a `writeOnly` property. In the types, `$Read` and
 * `$Write` mark what only responses or requests have; the client's methods, `Readable` and
 * `Writable` resolve these.
 *
 * @module
 */

import type { Json, JsonObject } from "./json.ts";
import { follow, listOf, mapValues, objectOf, pointerOf } from "./json.ts";
import type { ResponseSpec } from "./operations.ts";
import { compile } from "./schemasafe.ts";
import { type Spec, SpecError } from "./spec.ts";
import { chooseBranch } from "./unions.ts";

// Keywords that restrict a value, by the kind of their own value; all others are annotations.
const values = `const enum type pattern multipleOf uniqueItems minLength maxLength
  minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems minContains maxContains
  minProperties maxProperties`.split(/\s+/);
const schemas = `additionalProperties contains else if items not propertyNames then unevaluatedItems
  unevaluatedProperties`.split(/\s+/);
const schemaLists = ["allOf", "anyOf", "oneOf"];
const schemaMaps = ["dependentSchemas", "patternProperties", "properties"];

/** Converts the schemas of a document for the compiler. */
class SchemaReader {
  /** The schemas that others refer to, by JSON Pointer, URI-encoded. */
  readonly definitions = new Map<string, JsonObject>();

  constructor(readonly document: Json) {}

  read = (from: Json): JsonObject => {
    // A boolean becomes an object, so that the rule of an issue is always a keyword.
    if (typeof from === "boolean") return from ? {} : { not: {} };
    const schema: JsonObject = {};
    const parts: Json[] = [];
    for (const [keyword, value] of Object.entries(objectOf(from))) {
      if (keyword === "$ref") schema.$ref = this.define(pointerOf(value), this.resolve(value));
      else if (keyword === "required") {
        const { properties } = objectOf(from); // some are only in requests
        const isWriteOnly = (name: Json) => objectOf(objectOf(properties)[`${name}`]).writeOnly;
        schema.required = listOf(value).filter((name) => !isWriteOnly(name));
      } else if (values.includes(keyword)) schema[keyword] = value;
      else if (schemas.includes(keyword)) {
        schema[keyword] = typeof value === "boolean" ? value : this.read(value);
      } else if (schemaMaps.includes(keyword)) schema[keyword] = mapValues(value, this.read);
      else if (schemaLists.includes(keyword)) {
        const isUnion = keyword !== "allOf";
        const choice = isUnion && chooseBranch(listOf(value), this.resolve, this.read);
        if (choice) parts.push(choice);
        else schema[keyword] = listOf(value).map(this.read);
      } else if (keyword === "dependentRequired") { // otherwise the rule would be a name
        parts.push({ dependentSchemas: mapValues(value, (required) => ({ required })) });
      }
    }
    return parts.length > 0 ? { ...schema, allOf: [...listOf(schema.allOf), ...parts] } : schema;
  };

  resolve = (ref: Json): Json => follow(this.document, ref);

  /** Adds a definition, unless it exists; returns its name. */
  define(pointer: string, schema: Json): string {
    const name = encodeURIComponent(pointer);
    if (!this.definitions.has(name)) {
      const definition: JsonObject = {};
      this.definitions.set(name, definition); // before it is read, because it may refer to itself
      Object.assign(definition, this.read(schema));
    }
    return name;
  }
}

/**
 * Writes the checks of a document's responses, in their order.
 *
 * @param spec The document.
 * @param responses Its responses.
 * @returns TypeScript.
 * @throws {SpecError} If no value can match a schema, or a pattern is not a regular expression.
 */
export function writeValidators(
  { document, place }: Spec,
  responses: readonly ResponseSpec[],
): string {
  const reader = new SchemaReader(document);
  const { definitions } = reader;
  const named = responses.map(({ name, schema, pointer }) => {
    const own = reader.define(pointer, schema);
    const { $ref, ...others } = definitions.get(own)!;
    return [name, $ref && Object.keys(others).length === 0 ? String($ref) : own] as const;
  });
  try {
    const places = named.map(([, $ref]) => [$ref, { $ref }] as const); // for the message
    compile(new Map(places), definitions);
  } catch (error) {
    const { message } = error as Error;
    const [, reason = message, name = "", path = ""] = message.match(/(.*) at (\S*?)#(.*)$/s) ?? [];
    throw new SpecError(`${place(decodeURIComponent(name) + path)} schema: ${reason}`);
  }
  const checks = new Map(named.map(([name, own]) => [name, definitions.get(own)!]));
  const lines = responses.map(({ name }) => `readonly ${JSON.stringify(name)}: SchemaCheck;`);
  return `// deno-lint-ignore-file
// @ts-nocheck: it is JavaScript that @exodus/schemasafe wrote

import type { SchemaCheck } from "../operation.ts";

/** Checks whether a value matches the schema of a response, by method, path and status. */
export const schemaChecks: { ${lines.join("\n")} } = /* @__PURE__ */ ${compile(checks, definitions)}
`;
}
