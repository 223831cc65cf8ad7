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

const scalars = ["string", "number", "integer", "boolean"];

/** Whether openapi-fetch sends all values of a parameter, or of a part of it, as OpenAPI says. */
export function isSendable(
  schema: JsonObject,
  kind: "scalar" | "array" | "object",
  read: Read,
): boolean {
  const isScalar = (part: Json | undefined) => isSendable(read(part), "scalar", read);
  const { type, items, properties, additionalProperties } = schema;
  if (kind === "object") {
    return type === "object" && !additionalProperties &&
      Object.entries(objectOf(properties)).every(([name, field]) => {
        const { readOnly, writeOnly } = objectOf(field);
        return /^[\w.:$@~-]+$/.test(name) && !readOnly && !writeOnly && isScalar(field);
      });
  }
  const branches = [schema.anyOf, schema.oneOf].flatMap(listOf).map(read);
  const types = (branches.length > 0 ? branches : [schema]).flatMap(typesOf);
  const isSent = (type: Json) =>
    scalars.includes(`${type}`) ||
    (type === "array" && kind === "array" && isScalar(items));
  return types.every(isSent);
}

/** The types of a schema, or of the values that it lists. */
function typesOf({ type, const: constant, enum: list }: JsonObject): Json[] {
  if (type) return [type].flat();
  const values = constant === undefined ? listOf(list) : [constant];
  return values.length > 0 ? values.map((value) => typeof value) : ["any"];
}
