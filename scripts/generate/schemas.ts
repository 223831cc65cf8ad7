/** What the rules must know about schemas. @module */

import { type Json, type JsonObject, listOf, objectOf } from "./json.ts";

/** Reads an object, or the target of its `$ref`. */
export type Read = (value: Json | undefined) => JsonObject;

/** Whether a schema is a part of itself, which has no end, or of its items, which has no type. */
export function isCircular(schema: JsonObject, read: Read): boolean {
  const found = new Set<JsonObject>();
  const search = (part: JsonObject): void => {
    const { allOf, anyOf, oneOf, dependentSchemas } = part;
    const parts = [part.not, part.if, part.then, part.else, part.items, allOf, anyOf, oneOf].flat()
      .concat(Object.values(objectOf(dependentSchemas)));
    for (const next of parts.filter(Boolean).map(read)) {
      if (!found.has(next)) search((found.add(next), next));
    }
  };
  search(schema);
  return found.has(schema);
}

/** Whether openapi-fetch sends all values of a parameter, or of a part of it, as OpenAPI says. */
export function isSendable(
  schema: JsonObject,
  kind: "scalar" | "array" | "object",
  read: Read,
): boolean {
  const isScalar = (part: Json | undefined) => isSendable(read(part), "scalar", read);
  const { type, items, properties, additionalProperties } = schema;
  if (kind === "object") {
    const fields = Object.entries(objectOf(properties));
    const isSent = ([name, { readOnly, writeOnly, ...field }]: [string, JsonObject]) =>
      /^[\w.:$@~-]+$/.test(name) && !readOnly && !writeOnly && isScalar(field);
    return type === "object" && !additionalProperties &&
      fields.every(([name, field]) => isSent([name, objectOf(field)]));
  }
  const values = "const" in schema ? [schema.const!] : listOf(schema.enum);
  const types = type ? [type].flat() : values.map((value) => typeof value);
  const isSent = (type: Json) =>
    /^(string|number|integer|boolean)$/.test(`${type}`) ||
    (type === "array" && kind === "array" && isScalar(items));
  return types.length > 0 && types.every(isSent);
}
