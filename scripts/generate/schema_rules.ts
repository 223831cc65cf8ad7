/** What accepted.yaml cannot say of schemas: what fits together, and what no value matches. @module */

import { type Json, listOf, objectOf } from "./json.ts";
import type { Check, Rule } from "./plugin.ts";
import { unions } from "./unions.ts";
import { isScalar, kindOf, typesOf, valuesOf } from "./value_types.ts";

/** Checks the values that a schema lists. */
const checkValues: Check = (schema, read) => {
  const field = "const" in schema ? "const" : "enum";
  const values = valuesOf(schema);
  const isOdd = schema.const === null || values.some((value) => value && typeof value === "object");
  const types = typesOf({ enum: values }, read);
  const isUnused = (type: Json) => !types.includes(kindOf(type));
  const unused = values.length > 0 && listOf(schema.type).find(isUnused);
  return [
    ["enum", field in schema && values.length === 0, "Add values: none matches an empty list"],
    [field, isOdd, 'Write strings, numbers or booleans; in place of `const: null`, `type: "null"`'],
    ["type", unused, `Leave \`${unused}\` out, or add such a value to \`${field}\``],
  ];
};

/** Checks what is in `allOf`, `anyOf` or `oneOf`, and what is beside it. */
const checkUnion: Check = (schema, read) => {
  const [first = "", ...others] = [...unions, "const", "enum"].filter((name) => name in schema);
  const types = listOf(schema[first]).map((part) => typesOf(read(part), read).sort().join());
  const isBeside = unions.includes(first) && "type" in schema;
  const areObjects = [`${schema.type}`, ...types].every((type) => type === "object");
  const areDifferent = first === "allOf" && new Set(types.filter(Boolean)).size > 1;
  const hasOwn = "properties" in schema || "additionalProperties" in schema;
  const apart = "Write `allOf`, with this in one schema, and what is beside it in another";
  const objects = "Leave `type` out, or write `type: object` here and in each of these schemas";
  return [
    ...others.map((name): Rule => [name, true, apart]),
    [first, isBeside && !areObjects, objects],
    ["allOf", areDifferent, "Write the same `type` in each of its schemas"],
    ["anyOf", first === "anyOf" && hasOwn, apart],
  ];
};

/** Checks what limits numbers, texts and lists. */
const checkLimits: Check = (schema) => {
  const isBoth = (name: string, other: string) => name in schema && other in schema;
  const low = "minimum" in schema ? "minimum" : "exclusiveMinimum";
  const high = "maximum" in schema ? "maximum" : "exclusiveMaximum";
  const roomOf = (low: string, high: string) => Number(schema[high]) - Number(schema[low]);
  const isExclusive = /exclusive/.test(low + high);
  const isEmpty = roomOf(low, high) < 0 || (isExclusive && roomOf(low, high) === 0);
  const text = "No value matches it and the limit at the other end";
  return [
    ["exclusiveMinimum", isBoth("minimum", "exclusiveMinimum"), "Leave it or `minimum` out"],
    ["exclusiveMaximum", isBoth("maximum", "exclusiveMaximum"), "Leave it or `maximum` out"],
    [low, isEmpty, text],
    ["minLength", roomOf("minLength", "maxLength") < 0, text],
    ["minItems", roomOf("minItems", "maxItems") < 0, text],
  ];
};

const checkItems: Check = ({ items, uniqueItems }, read) => {
  const item = read(items);
  // openapi-typescript loses the outer list where it takes the one type of `items` for that of a list.
  const hasOne = ["type", ...unions].some((name) => listOf(objectOf(items)[name]).length === 1);
  const isLost = hasOne && typesOf(item, read).includes("array");
  const isSlow = uniqueItems && !isScalar(item, read);
  return [
    ["items", isLost, "Write what is listed without the list around it"],
    ["uniqueItems", isSlow, "Leave it out, unless `items` is a string, number, integer or boolean"],
  ];
};

const checkProperties: Check = ({ required, properties, additionalProperties }) => {
  const names = Object.keys(objectOf(properties));
  const isMixed = properties && Object.keys(objectOf(additionalProperties)).length > 0;
  const isClosed = additionalProperties === false && names.length === 0;
  const missing = listOf(required).filter((name) => !names.includes(`${name}`));
  const isBoolean = Object.values(objectOf(properties)).some((one) => typeof one === "boolean");
  return [
    ["additionalProperties", isMixed, "Write `true`: no type has both kinds of names"],
    ["additionalProperties", isClosed, "Leave it out: no type is an object without names"],
    ["required", missing[0], `Add to \`properties\`: ${missing.join(", ")}`],
    ["properties", isBoolean, "Write schemas; `{}` allows any value"],
  ];
};

const checks = [checkValues, checkUnion, checkLimits, checkItems, checkProperties];

export const checkSchema: Check = (...schema) => checks.flatMap((check) => check(...schema));
