/** Compares the document with accepted.yaml, the page of all that it may contain. @module */

import { parseYaml } from "@redocly/openapi-core";
import { readFile } from "node:fs/promises";
import type { Json, JsonObject } from "./json.ts";
import type { Rule } from "./plugin.ts";

const file = await readFile(new URL("accepted.yaml", import.meta.url), "utf8");

/** The fields of a row, each with its only values, or `null` if it may have any. */
type Row = Record<string, Json[] | null>;

/** The page. */
export const { accepted, advice } = parseYaml(file) as {
  accepted: Record<string, Row>;
  advice: Record<string, string>;
};

/** The rows for a node of an OpenAPI type, which may be directly below a name in `properties`. */
export function rowsOf(node: JsonObject, type: string, isProperty: boolean): string[] {
  if (type === "Parameter") return [type, `Parameter in ${node.in}`];
  if (type !== "Schema") return [type];
  const rows = [node.type ?? []].flat().map((name) => `Schema with type ${name}`);
  if (rows.length === 0) rows.push("Schema without type");
  return [type, ...rows, ...isProperty ? ["Schema in properties"] : []];
}

const fieldsOf = (rows: string[]): Row => Object.assign({}, ...rows.map((row) => accepted[row]));

/** Refuses the values of a node that its rows do not have. */
export function checkValues(node: JsonObject, rows: string[]): Rule[] {
  return Object.entries(fieldsOf(rows)).flatMap(([field, values]): Rule[] => {
    const wrong = [node[field]!].flat().find((value) => values && !values.includes(value));
    const text = advice[`${field}: ${wrong}`] ?? advice[field];
    const message = text ?? `Write one of these: ${values?.join(", ")}`;
    return wrong === undefined ? [] : [[field, true, message]];
  });
}

/** Refuses the fields of a node that its rows do not have. */
export function checkFields(node: JsonObject, rows: string[]): Rule[] {
  return Object.keys(node).filter((field) => !Object.hasOwn(fieldsOf(rows), field)).map((field) => {
    const text = advice[`${field}: ${node[field]}`] ?? advice[field.replace(/^x-.*/, "x-")];
    return [field, true, text ?? placesOf(field, rows)];
  });
}

/** Says where a field is accepted, or else what is accepted in its place. */
function placesOf(field: string, rows: string[]): string {
  const others = Object.keys(accepted).filter((row) => Object.hasOwn(accepted[row]!, field));
  const types = others.filter((row) => row.startsWith("Schema with "))
    .map((row) => row.replace(/Schema with type (.*)/, "`type: $1`"));
  if (rows[0] === "Schema" && types.length > 0) {
    return `${rows.includes("Schema without type") ? "Add" : "It needs"} ${types.join(" or ")}`;
  }
  if (others.length > 0) return `It is accepted in: ${others.join(", ")}`;
  return `Write one of these, or leave it out: ${Object.keys(fieldsOf(rows)).join(", ")}`;
}
