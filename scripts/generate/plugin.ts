/** What the document is checked for in addition to Redocly's rules: a plugin for its lint. @module */

import { createConfig, type RawUniversalConfig } from "@redocly/openapi-core";
import { checkFields, rowsOf } from "./accepted.ts";
import { type JsonObject, listOf, objectOf, type Read } from "./json.ts";
import { rules } from "./rules.ts";
import { checkSchema } from "./schema_rules.ts";

type Plugin = Exclude<NonNullable<RawUniversalConfig["plugins"]>[number], string>;

/** A field of a node, whether it is refused, and what to write instead. */
export type Rule = [field: string, isRefused: unknown, advice: string];

/** Checks a node of an OpenAPI type, at a JSON Pointer. */
export type Check = (node: JsonObject, read: Read, pointer: string) => Rule[];

// deno-lint-ignore no-explicit-any
type Context = any;

const checks: Record<string, Check> = { ...rules, Schema: checkSchema };

/** The objects that schemas have as `properties`. */
const properties = new WeakSet<JsonObject>();

/** The settings of Redocly's rules of examples. */
export const examples = { severity: "error", allowAdditionalProperties: true } as const;

// Redocly's rule of examples judges other values, too.
const [builtIn] = (await createConfig({})).styleguide.plugins;
const ofExamples: Context = builtIn!.rules!.oas3!["no-invalid-schema-examples"]!(examples);

/** Judges the default of a schema, and the values that it lists. */
function judgeValues(schema: JsonObject, context: Context): Rule[] {
  const lists = { default: [schema.default], const: [schema.const], enum: listOf(schema.enum) };
  const found: Rule[] = [];
  for (const [field, values] of Object.entries(lists).filter(([field]) => field in schema)) {
    const report = ({ message }: { message: string }) =>
      found.push([field, true, message.replace("Example value", "It")]);
    const asExamples = { ...schema, example: undefined, examples: values };
    ofExamples.Schema.leave(asExamples, { ...context, report });
  }
  return found;
}

/** Reports what is refused of a node. */
function checkNode(node: JsonObject, context: Context): void {
  const { location, parent, rawNode, resolve, type } = context;
  if (objectOf(node) !== node) return; // Redocly reports it
  if (type.name === "SchemaProperties") properties.add(node);
  const isProperty = properties.has(parent) && rawNode === node; // what it refers to is none
  const read: Read = (value) => objectOf(resolve(value).node);
  const found: Rule[] = [
    // Where names are free, rules.ts checks some.
    ...type.additionalProperties ? [] : checkFields(node, rowsOf(node, type.name, isProperty)),
    ...checks[type.name]?.(node, read, location.pointer) ?? [],
    ...type.name === "Schema" ? judgeValues(node, context) : [],
  ];
  for (const [field, isRefused, advice] of found) {
    if (!isRefused) continue;
    const value = JSON.stringify(node[field])?.match(/^[^{]{1,60}$/);
    const name = value ? `${field}: ${value}` : field;
    const message = `\`${name}\` is not accepted here. ${advice}`;
    context.report({ message, location: location.child(field).key() });
  }
}

const visitor = { any: checkNode };

export const plugin: Plugin = { id: "client", rules: { oas3: { accepted: () => visitor } } };
