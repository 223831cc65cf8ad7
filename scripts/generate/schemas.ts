/** What the rules must know about schemas. @module */

import { type Json, type JsonObject, listOf, objectOf } from "./json.ts";

/** Reads an object, or the target of its `$ref`. */
export type Read = (value: Json | undefined) => JsonObject;

/** Whether a schema is a part of itself, so that checking a value has no end. */
export function isCircular(schema: JsonObject, read: Read): boolean {
  const found = new Set<JsonObject>();
  const search = (part: JsonObject): void => {
    const { allOf, anyOf, oneOf, dependentSchemas } = part;
    const parts = [part.not, part.if, part.then, part.else, allOf, anyOf, oneOf].flat()
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
  names: RegExp,
  read: Read,
): boolean {
  const { type, items, properties, additionalProperties } = schema;
  const isScalar = (part: Json | undefined) => isSendable(read(part), "scalar", names, read);
  if (kind === "object") {
    const fields = Object.entries(objectOf(properties));
    const isSent = ([name, field]: [string, Json]) =>
      names.test(name) && isScalar(field) && !/"(read|write)Only":/.test(JSON.stringify(field));
    return type === "object" && !additionalProperties && fields.every(isSent);
  }
  const values = "const" in schema ? [schema.const!] : listOf(schema.enum);
  const types = type ? [type].flat() : values.map((value) => typeof value);
  const isSent = (type: Json) =>
    /^(string|number|integer|boolean)$/.test(`${type}`) ||
    (type === "array" && kind === "array" && isScalar(items));
  return types.length > 0 && types.every(isSent);
}
