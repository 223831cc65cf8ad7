/** Compares nodes and references with accepted.yaml, the page of all that may be there. @module */

import { parseYaml } from "@redocly/openapi-core";
import { readFile } from "node:fs/promises";
import type { Json, JsonObject } from "./json.ts";
import type { Verdict } from "./problems.ts";

const file = await readFile(new URL("accepted.yaml", import.meta.url), "utf8");

/** The fields of a row, each with its only values, or `null` if it may have any. */
type Row = Record<string, Json[] | null>;

const page = parseYaml(file) as { accepted: Record<string, Row>; advice: Record<string, string> };

/** The rows, by name. */
export const { accepted } = page;

/** What to write in place of a field, or of a "field: value". */
const advice = new Map(
  Object.entries(page.advice).flatMap(([names, text]) =>
    names.split(", ").map((name) => [name, text])
  ),
);

/** Refuses the fields and the values of a node that the rows for it do not have. */
export function checkFields(node: JsonObject, type: string, isProperty: boolean): Verdict[] {
  const kinds = [node.type ?? []].flat().map((name) => `with type ${name}`);
  if (kinds.length === 0) kinds.push("without type");
  if (node.in) kinds.push(`in ${node.in}`);
  if (isProperty) kinds.push("in properties");
  const rows = [type, ...kinds.map((kind) => `${type} ${kind}`)];
  const fields: Row = Object.assign({}, ...rows.map((row) => accepted[row]));
  const verdicts = Object.entries(node).map(([field, value]): Verdict => {
    if (!(field in fields)) {
      const text = advice.get(`${field}: ${value}`) ?? besideType(type, field) ??
        advice.get(field) ?? advice.get(field.replace(/^x-.*/, "x-"));
      const others = `Write one of these, or leave it out: ${Object.keys(fields).join(", ")}`;
      return [field, true, text ?? others];
    }
    const values = fields[field];
    const wrong = [value].flat().find((one) => values && !values.includes(one));
    const text = advice.get(`${field}: ${wrong}`) ?? advice.get(field);
    return [field, wrong !== undefined, text ?? `Write one of these: ${values?.join(", ")}`];
  });
  // What else a node may have depends on these two.
  const decisive = verdicts.find(([name, isRefused]) => isRefused && /^(in|type)$/.test(`${name}`));
  return decisive ? [decisive] : verdicts;
}

/** Names the types beside which a field is accepted, if there are any. */
function besideType(type: string, field: string): string | undefined {
  const start = `${type} with type `;
  const rows = Object.keys(accepted).filter((row) => Object.hasOwn(accepted[row]!, field));
  const types = rows.filter((row) => row.startsWith(start)).map((row) => row.slice(start.length));
  return types.length > 0 ? `Write \`type: ${types.join("` or `type: ")}\` beside it` : undefined;
}

/** Checks a node with a `$ref` that leads somewhere, in place of a node of an OpenAPI type. */
export function checkReference(node: JsonObject, type: string): Verdict[] {
  // Such as `requestBodies` for a `RequestBody`.
  const section = `${type[0]!.toLowerCase()}${type.slice(1).replace(/y$/, "ie")}s`;
  const isAllowed = Object.hasOwn(accepted.Components!, section);
  const isInSection = `${node.$ref}`.startsWith(`#/components/${section}/`);
  const besideAdvice =
    "Leave it out, or, in a schema, write `allOf: [{ $ref: … }]` in place of `$ref`, and " +
    '`anyOf: [{ $ref: … }, { type: "null" }]` if it may be null';
  const mayNotStand = (name: string) => !Object.hasOwn(accepted.Reference!, name);
  // Of the verdicts on one field, the first is reported: see `withoutFollowUps` in spec.ts.
  return [
    ["$ref", !isAllowed, "Write in its place what it names"],
    ["$ref", !isInSection, `Write the name of something below \`components: ${section}:\``],
    ...Object.keys(node).map((name): Verdict => [name, mayNotStand(name), besideAdvice]),
  ];
}
