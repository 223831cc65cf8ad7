/** Which types of JSON the values of a schema have. @module */

import { dereference, type Json, type JsonObject, listOf } from "./json.ts";

/** The values that a schema lists, if it lists any. */
export function valuesOf(schema: JsonObject): Json[] {
  return "const" in schema ? [schema.const!] : listOf(schema.enum);
}

/** The types that the values of a schema may have; none if they may have any. */
export function typesOf(from: Json | undefined, document: JsonObject): Json[] {
  const schema = dereference(document, from);
  const { type, allOf, anyOf, oneOf } = schema;
  const types = (part: Json) => typesOf(part, document);
  const branches = [...listOf(anyOf), ...listOf(oneOf)].map(types);
  const isAny = branches.some((branch) => branch.length === 0);
  const all = type ? [type].flat() : [
    ...valuesOf(schema).map((value) => value === null ? "null" : typeof value),
    ...isAny ? [] : branches.flat(),
    ...listOf(allOf).map(types).find((part) => part.length > 0) ?? [],
  ];
  return [...new Set(all)];
}

/** A type without the distinction of integers, which are numbers, too. */
export const kindOf = (type: Json): Json => type === "integer" ? "number" : type;

/** Whether all values of a schema are texts, numbers or booleans. */
export function isScalar(schema: Json | undefined, document: JsonObject): boolean {
  const types = typesOf(schema, document);
  return types.length > 0 && !/null|array|object/.test(types.join());
}
