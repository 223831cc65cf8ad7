/** What the document is checked for in addition to Redocly's rules: a plugin for its lint. @module */

import { createConfig, type RawUniversalConfig } from "@redocly/openapi-core";
import { checkFields, checkValues, rowsOf } from "./accepted.ts";
import { type Json, type JsonObject, listOf, objectOf } from "./json.ts";
import { rules } from "./rules.ts";
import { schemaRules } from "./schema_rules.ts";
import type { Read } from "./value_types.ts";

type Plugin = Exclude<NonNullable<RawUniversalConfig["plugins"]>[number], string>;

/** A field of a node, whether it is refused, and what to write instead. */
export type Rule = [field: string, isRefused: unknown, advice: string];

/** Checks a node of an OpenAPI type, at a JSON Pointer. */
export type Check = (node: JsonObject, read: Read, pointer: string) => Rule[];

// deno-lint-ignore no-explicit-any
type Context = any;

/** What is checked no further: what has a field that is refused, and what is in the field. */
const skipped = new WeakSet<Json & object>();

/** Skips all that is in a value. */
function skip(value: Json): void {
  if (typeof value !== "object" || value === null) return;
  skipped.add(value);
  Object.values(value).forEach(skip);
}

/** Makes a visitor of Redocly's, which reports what is refused. */
function visitorOf(check: (node: JsonObject, context: Context) => Rule[]) {
  return (node: JsonObject, context: Context): void => {
    // Redocly reports what is no object where one belongs.
    if (objectOf(node) !== node || skipped.has(node)) return;
    for (const [field, isRefused, advice] of check(node, context)) {
      if (!isRefused) continue;
      const value = JSON.stringify(node[field])?.match(/^[^{]{1,60}$/);
      const name = value ? `${field}: ${value}` : field;
      const message = `\`${name}\` is not accepted here. ${advice}`;
      context.report({ message, location: context.location.child(field).key() });
    }
  };
}

/** The values of `properties`. */
const properties = new WeakSet<JsonObject>();

const fields = visitorOf((node, { type, parent, rawNode }) => {
  if (type.name === "SchemaProperties") properties.add(node);
  if (type.additionalProperties) return []; // names are free; rules.ts checks some
  const isProperty = properties.has(parent) && rawNode === node; // what it refers to is none
  const rows = rowsOf(node, type.name, isProperty);
  const values = checkValues(node, rows);
  const unknown = checkFields(node, rows);
  for (const [field] of unknown) skip(node[field]!);
  const refused = values.length > 0 ? values : unknown; // which may be there because of a value
  if (refused.length > 0) skipped.add(node);
  return refused;
});

const typed = Object.entries({ ...rules, ...schemaRules }).map(([type, check]) => [
  type,
  visitorOf((node, { resolve, location }) =>
    check(node, (value) => objectOf(resolve(value).node), location.pointer)
  ),
]);

/** The settings of Redocly's rules of examples. */
export const examples = { severity: "error", allowAdditionalProperties: true } as const;

// Redocly's rule of examples judges other values, too.
const [builtIn] = (await createConfig({})).styleguide.plugins;
const ofExamples: Context = builtIn!.rules!.oas3!["no-invalid-schema-examples"]!(examples);

/** Judges the default of a schema, and the values that it lists. */
function judgeValues(node: JsonObject, context: Context): void {
  const schema = skipped.has(node) ? {} : objectOf(node);
  for (const field of ["default", "const", "enum"].filter((name) => name in schema)) {
    const isList = field === "enum";
    const values = isList ? listOf(schema.enum) : [schema[field]!];
    for (const [index, example] of values.entries()) {
      const location = context.location.child(isList ? [field, `${index}`] : field);
      const report = ({ message }: { message: string }) =>
        context.report({ message: message.replace("Example", `\`${field}\``), location });
      ofExamples.Schema.leave({ ...schema, example, examples: [] }, { ...context, report });
    }
  }
}

const visitors = [{ any: fields }, Object.fromEntries(typed), { Schema: { leave: judgeValues } }];

export const plugin: Plugin = { id: "client", rules: { oas3: { accepted: () => visitors } } };
