/** What accepted.yaml cannot say of schemas: what fits together, and what no value matches. @module */

import { issuesOf } from "../../src/operation.ts";
import { isObject, type Json, listOf, objectOf } from "./json.ts";
import type { Check, Verdict } from "./problems.ts";
import { combiners, isScalar, kindOf, typesOf, valuesOf } from "./schemas.ts";
import { checkOf } from "./validators.ts";

/** Has schemasafe compile each field on its own, without the schemas in it, which have their turn. */
export const checkCompiled: Check = (schema, document) => {
  const shallow = (value: Json) => isObject(value) ? {} : value;
  const fields = Object.entries(schema).filter(([, value]) => !isObject(value))
    .map(([field, value]) => ({ [field]: Array.isArray(value) ? value.map(shallow) : value }));
  if (typeof checkOf(document, Object.assign({}, ...fields)) === "function") return [];
  return fields.map((field): Verdict => {
    const check = checkOf(document, field);
    const text = `Write another value, or leave it out: ${check}`;
    return [Object.keys(field), typeof check === "string", text];
  });
};

/** Checks the values that a schema lists, its default and its examples. */
const checkValues: Check = (schema, document) => {
  const field = "const" in schema ? "const" : "enum";
  const values = valuesOf(schema);
  const isOdd = schema.const === null || values.some((value) => value && typeof value === "object");
  const types = typesOf({ enum: values }, document);
  const unused = listOf(schema.type).find((type) => !types.includes(kindOf(type)));
  const hasValues = [field, "default", "example", "examples"].some((name) => name in schema);
  const check = hasValues ? checkOf(document, schema) : undefined;
  const isWrong = (value: Json | undefined) =>
    value !== undefined && typeof check === "function" && issuesOf(check, value);
  const plain =
    'Write strings, numbers or booleans; others are described by `type: "null"`, object or array';
  const unusedType = `Leave \`${unused}\` out, or add such a value to \`${field}\``;
  const allowed = "Write what the schema allows";
  return [
    [field, field in schema && values.length === 0, "Write a value: none matches an empty list"],
    [field, isOdd, plain],
    [field, values.some(isWrong), allowed],
    ["default", isWrong(schema.default), allowed],
    ["example", isWrong(schema.example), allowed],
    ["examples", listOf(schema.examples).some(isWrong), allowed],
    ["type", values.length > 0 && unused, unusedType],
  ];
};

/** Checks what is in `allOf`, `anyOf` or `oneOf`, and what is beside it. */
const checkCombined: Check = (schema, document) => {
  // Of these fields, a schema has one or none: others beside the first are refused.
  const [first = "", ...others] = [...combiners, "const", "enum"].filter((name) => name in schema);
  const types = listOf(schema[first]).map((part) => typesOf(part, document).sort().join());
  const isCombined = combiners.includes(first);
  const areObjects = [`${schema.type}`, ...types].every((type) => type === "object");
  const areDifferent = first === "allOf" && new Set(types.filter(Boolean)).size > 1;
  const hasOwn = "properties" in schema || "additionalProperties" in schema;
  const apart = "Write `allOf`, with this in one schema, and what is beside it in another";
  const objects = "Leave `type` out, or write `type: object` here and in each of these schemas";
  const closed = `Leave it out: it refuses all that only schemas in \`${first}\` have`;
  return [
    ...others.map((name): Verdict => [name, true, apart]),
    [first, isCombined && "type" in schema && !areObjects, objects],
    ["allOf", areDifferent, "Write the same `type` in each of its schemas"],
    ["anyOf", first === "anyOf" && hasOwn, apart],
    ["additionalProperties", isCombined && schema.additionalProperties === false, closed],
  ];
};

/** Checks limits: of two at one end, schemasafe checks one. */
const checkLimits: Check = (schema) =>
  ["minimum", "maximum"].flatMap((name): Verdict[] => {
    const other = name.replace("m", "exclusiveM");
    const isBoolean = typeof schema[other] === "boolean";
    return [
      [other, isBoolean, `Write the limit itself, as a number, in place of \`${name}\``],
      [name, name in schema && other in schema && !isBoolean, `Leave it or \`${other}\` out`],
    ];
  });

/** The advice in place of `true` or `false` as a schema. */
const anything = "Write a schema; `{}` allows any value";

/** Checks what a list may contain. */
const checkItems: Check = ({ items, uniqueItems }, document) => {
  // openapi-typescript loses the outer list where it takes the one type of `items` for that of a list.
  const hasOne = ["type", ...combiners].some((name) => listOf(objectOf(items)[name]).length === 1);
  const isLost = hasOne && typesOf(items, document).includes("array");
  const isSlow = uniqueItems && !isScalar(items, document);
  return [
    ["items", typeof items === "boolean", anything],
    ["items", isLost, "Write what is listed without the list around it"],
    ["uniqueItems", isSlow, "Leave it out, unless `items` is a string, number, integer or boolean"],
  ];
};

/** Checks the properties of objects. */
const checkProperties: Check = (schema, document) => {
  const { required, properties, additionalProperties, readOnly, writeOnly } = schema;
  const entries = Object.entries(objectOf(properties));
  const isMixed = entries.length > 0 && Object.keys(objectOf(additionalProperties)).length > 0;
  const isClosed = additionalProperties === false && entries.length === 0;
  const missing = listOf(required)
    .filter((name) => typeof name === "string" && !entries.some(([one]) => one === name));
  const isCombined = combiners.some((name) => name in schema);
  const number = "Say it in `description`: beside others, types have no number as a name";
  const isLost = (value: Json | undefined) => typesOf(value, document).join() === "null";
  const lost = "Leave it out, or add another type: types lose what can only be null";
  return [
    ["additionalProperties", isMixed, "Write `true`: no type has both kinds of names"],
    ["additionalProperties", isClosed, "Leave it out: no type is an object without names"],
    ["additionalProperties", isLost(additionalProperties), lost],
    ["required", "type" in schema && missing[0], `Add to \`properties\`: ${missing.join(", ")}`],
    ["writeOnly", readOnly && writeOnly, "Leave it or `readOnly` out: nobody would have it"],
    ...entries.flatMap(([name, property]): Verdict[] => [
      [["properties", name], typeof property === "boolean", anything],
      [["properties", name], isCombined && /^\d+$/.test(name), number],
      [["properties", name], isLost(property), lost],
    ]),
  ];
};

const checks = [checkValues, checkCombined, checkLimits, checkItems, checkProperties];

/** Checks a schema, except its fields alone. */
export const checkSchema: Check = (...schema) => checks.flatMap((check) => check(...schema));
