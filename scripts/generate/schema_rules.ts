/** What accepted.yaml cannot say of schemas: what fits together, and what no value matches. @module */

import { type Json, listOf, objectOf } from "./json.ts";
import type { Check, Rule } from "./plugin.ts";
import { isScalar, kindOf, typesOf, valuesOf } from "./value_types.ts";

const unions = ["allOf", "anyOf", "oneOf"];

/** Checks what a schema lists: one thing, and not nothing. */
const checkLists: Check = (schema) => {
  const [first, ...others] = [...unions, "const", "enum"].filter((name) => name in schema);
  const apart = `It cannot be beside \`${first}\`: write it in one more schema of \`allOf\``;
  const empty = "Add what it lists: no value matches an empty list";
  const isEmpty = (name: string) => Array.isArray(schema[name]) && schema[name].length === 0;
  return [
    ...others.map((name): Rule => [name, true, apart]),
    ...["type", "enum", ...unions].map((name): Rule => [name, isEmpty(name), empty]),
  ];
};

/** Checks the values that a schema lists. */
const checkValues: Check = (schema, read) => {
  const field = "const" in schema ? "const" : "enum";
  const types = typesOf({ enum: valuesOf(schema) }, read);
  const isUnused = (type: Json) => !types.includes(kindOf(type));
  const unused = types.length > 0 && listOf(schema.type).find(isUnused);
  return [
    [field, /array|object/.test(types.join()), "Write strings, numbers, booleans or `null`"],
    ["const", schema.const === null, 'Write `type: "null"` in its place'],
    ["type", unused, `Leave \`${unused}\` out, or add such a value to \`${field}\``],
  ];
};

/** Checks what is in `allOf`, `anyOf` or `oneOf`, and what is beside it. */
const checkUnion: Check = (schema, read) => {
  const union = unions.find((name) => name in schema);
  if (!union) return [];
  const parts = listOf(schema[union]).map(read);
  const types = parts.map((part) => typesOf(part, read).sort().join());
  const areObjects = types.every((one) => one === "object");
  const areDifferent = new Set(types.filter(Boolean)).size > 1;
  const hasOwn = "properties" in schema || "additionalProperties" in schema;
  const joined = hasOwn ? [...parts, schema] : union === "allOf" && parts[1] ? parts : [];
  const isClosed = joined.some((part) => part.additionalProperties === false);
  const objects = "Write `type: object` in each of its schemas, or leave it out beside it";
  const apart = "Write `allOf`, with it in one schema and the rest in another";
  const closed = "Leave `additionalProperties: false` out: it refuses what the others name";
  return [
    [union, Array.isArray(schema.type), "Write `anyOf` with a schema for each type"],
    [union, schema.type === "object" && !areObjects, objects],
    ["allOf", union === "allOf" && areDifferent, "Write the same `type` in each of its schemas"],
    ["anyOf", union === "anyOf" && hasOwn, apart],
    [union, isClosed, closed],
  ];
};

const limits =
  "minLength maxLength, minItems maxItems, minimum maximum, minimum exclusiveMaximum, " +
  "exclusiveMinimum maximum, exclusiveMinimum exclusiveMaximum";

/** Checks what limits numbers, texts and lists. */
const checkLimits: Check = (schema) => {
  const isBoth = (name: string, other: string) => name in schema && other in schema;
  return [
    ["exclusiveMinimum", isBoth("minimum", "exclusiveMinimum"), "Leave it or `minimum` out"],
    ["exclusiveMaximum", isBoth("maximum", "exclusiveMaximum"), "Leave it or `maximum` out"],
    ["pattern", errorOf(schema.pattern), `${errorOf(schema.pattern)}`],
    ...limits.split(", ").map((pair): Rule => {
      const [low = "", high = ""] = pair.split(" ");
      const room = Number(schema[high]) - Number(schema[low]);
      const isEmpty = room < 0 || (room === 0 && pair.includes("exclusive"));
      return [low, isEmpty, `No value matches it and \`${high}: ${schema[high]}\``];
    }),
  ];
};

/** Says what is wrong with a regular expression, if anything is. */
function errorOf(pattern: Json | undefined): string | undefined {
  try {
    new RegExp(`${pattern ?? ""}`, "u");
  } catch (error) {
    return (error as Error).message;
  }
}

const checkItems: Check = ({ items, uniqueItems }, read) => {
  const item = read(items);
  const isOne = ["type", ...unions].some((name) => listOf(objectOf(items)[name]).length === 1);
  const isLost = isOne && typesOf(item, read).includes("array");
  const isSlow = uniqueItems && !isScalar(item, read);
  return [
    ["items", typeof items === "boolean", "Write a schema; `{}` allows any value"],
    ["items", isLost, "Write what is listed without the list around it"],
    ["uniqueItems", isSlow, "Leave it out, unless `items` is a string, number, integer or boolean"],
  ];
};

const checkProperties: Check = (schema) => {
  const { required, properties, additionalProperties: others, readOnly, writeOnly } = schema;
  const names = Object.keys(objectOf(properties));
  const isMixed = properties && Object.keys(objectOf(others)).length > 0;
  const isClosed = others === false && names.length === 0;
  const missing = listOf(required).filter((name) => !names.includes(`${name}`));
  return [
    ["additionalProperties", isMixed, "Write `true`: no type has both kinds of names"],
    ["additionalProperties", isClosed, "Leave it out: no type is an object without names"],
    ["readOnly", readOnly && writeOnly, "Leave it or `writeOnly` out"],
    ["required", missing[0], `Add to \`properties\`: ${missing.join(", ")}`],
  ];
};

const checks = [checkLists, checkValues, checkUnion, checkLimits, checkItems, checkProperties];

export const schemaRules: Record<string, Check> = {
  Schema: (...schema) => checks.flatMap((check) => check(...schema)),

  SchemaProperties(properties) {
    const isBoolean = (name: string) => typeof properties[name] === "boolean";
    const text = "Write a schema; `{}` allows any value";
    return Object.keys(properties).map((name) => [name, isBoolean(name), text]);
  },
};
