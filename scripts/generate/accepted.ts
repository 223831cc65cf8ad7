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

/** Refuses the fields and the values of a node that its rows do not have. */
export function checkFields(node: JsonObject, rows: string[]): Rule[] {
  const fields: Row = Object.assign({}, ...rows.map((row) => accepted[row]));
  return Object.entries(node).flatMap(([field, value]): Rule[] => {
    if (!(field in fields)) {
      const text = advice[`${field}: ${value}`] ?? advice[field.replace(/^x-.*/, "x-")];
      const others = `Write one of these, or leave it out: ${Object.keys(fields).join(", ")}`;
      return [[field, true, text ?? placesOf(field, rows) ?? others]];
    }
    const values = fields[field]!;
    const wrong = [value].flat().find((one) => values && !values.includes(one));
    const text = advice[`${field}: ${wrong}`] ?? advice[field];
    return [[field, wrong !== undefined, text ?? `Write one of these: ${values?.join(", ")}`]];
  });
}

/** Says where a field is accepted, if anywhere: in the same type, or else in others. */
function placesOf(field: string, [type]: string[]): string | undefined {
  const places = Object.keys(accepted).filter((row) => Object.hasOwn(accepted[row]!, field));
  const near = places.filter((row) => row.startsWith(`${type} `));
  const rows = near.length > 0 ? near : places;
  return rows.length > 0 ? `It is accepted in: ${rows.join(", ")}` : undefined;
}
