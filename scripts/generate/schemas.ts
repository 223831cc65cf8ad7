/** Reads schemas: which values they list, and which types these have. @module */

import { dereference, type Json, type JsonObject, listOf, objectOf } from "./json.ts";

/** The fields that combine schemas. */
export const combiners = ["allOf", "anyOf", "oneOf"];

/** Lists the properties that a response must have: a `writeOnly` one is only in requests. */
export function requiredOf({ properties, required }: JsonObject): Json[] {
  return listOf(required).filter((name) => !objectOf(objectOf(properties)[`${name}`]).writeOnly);
}

/** Lists the values that a schema names. */
export function valuesOf(schema: JsonObject): Json[] {
  return "const" in schema ? [schema.const!] : listOf(schema.enum);
}

/** Lists the types that the values of a schema may have; none if they may have any. */
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

/** Returns a type, without the distinction of integers, which are numbers, too. */
export const kindOf = (type: Json): Json => type === "integer" ? "number" : type;

/** Tells whether all values of a schema are strings, numbers or booleans. */
export function isScalar(schema: Json | undefined, document: JsonObject): boolean {
  const types = typesOf(schema, document);
  return types.length > 0 && !/null|array|object/.test(types.join());
}
