/** What the document is checked for in addition to Redocly's rules: a plugin for its lint. @module */

import type { RawUniversalConfig } from "@redocly/openapi-core";
import { checkFields, checkReference } from "./accepted.ts";
import { isObject, type JsonObject, NOWHERE } from "./json.ts";
import { type Check, pointerOf, type Problem, problemsOf } from "./problems.ts";
import { checks as operationChecks } from "./operation_rules.ts";
import { checkCompiled, checkSchema } from "./schema_rules.ts";

type Plugin = Exclude<NonNullable<RawUniversalConfig["plugins"]>[number], string>;

// deno-lint-ignore no-explicit-any -- what Redocly passes to visitors
type Visit = any;

const checks: Record<string, Check> = { ...operationChecks, Schema: checkSchema };

/** Makes the plugin for a document, which adds what it finds to problems. */
export function pluginFor(document: JsonObject, problems: Problem[]): Plugin {
  const properties = new WeakSet<JsonObject>(); // what schemas have as `properties`

  /** Checks a reference, before what it names is visited. */
  function enterReference(node: JsonObject, visit: Visit): void {
    const { location, type } = visit;
    const found = problemsOf(node, pointerOf(location), checkReference(node, type.name));
    problems.push(...found);
    if (found.some(({ pointer }) => pointer.endsWith("/$ref"))) node.$ref = NOWHERE;
  }

  /** Checks a node, or the target of a reference in its place. */
  function enterNode(node: JsonObject, visit: Visit): void {
    const { location, parent, rawNode, type } = visit;
    const pointer = pointerOf(location);
    if (!isObject(node)) return; // Redocly reports it
    if (type.name === "SchemaProperties") properties.add(node);
    const isProperty = properties.has(parent) && rawNode === node; // but not the target of its `$ref`
    const hasFreeNames = type.additionalProperties; // of which operation_rules.ts checks some
    problems.push(...problemsOf(node, pointer, [
      ...checks[type.name]?.(node, document, pointer) ?? [],
      ...hasFreeNames || type.items ? [] : checkFields(node, type.name, isProperty),
      ...type.name === "Schema" ? checkCompiled(node, document, pointer) : [],
    ]));
  }

  const preprocessors = { oas3: { references: () => ({ ref: { enter: enterReference } }) } };
  const rules = { oas3: { accepted: () => ({ any: enterNode }) } };
  return { id: "client", preprocessors, rules } as unknown as Plugin;
}
