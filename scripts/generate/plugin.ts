/** What the document is checked for in addition to Redocly's rules: a plugin for its lint. @module */

import type { RawUniversalConfig } from "@redocly/openapi-core";
import { checkFields } from "./accepted.ts";
import { type JsonObject, objectOf } from "./json.ts";
import { type Check, pointerOf, type Problem, problemsOf } from "./problems.ts";
import { checkReference } from "./references.ts";
import { rules } from "./rules.ts";
import { checkCompiled, checkSchema } from "./schema_rules.ts";

type Plugin = Exclude<NonNullable<RawUniversalConfig["plugins"]>[number], string>;

// deno-lint-ignore no-explicit-any -- what Redocly passes to visitors
type Visit = any;

const checks: Record<string, Check> = { ...rules, Schema: checkSchema };

/** Makes the plugin for a document, which adds what it finds to problems. */
export function pluginFor(document: JsonObject, problems: Problem[]): Plugin {
  const properties = new WeakSet<JsonObject>(); // what schemas have as `properties`

  /** Checks a reference. One that is refused leads nowhere then, so that its target is not judged. */
  function enterReference(node: JsonObject, visit: Visit): void {
    const { location, type } = visit;
    const found = problemsOf(node, pointerOf(location), checkReference(node, type.name, document));
    problems.push(...found);
    if (found.some(({ pointer }) => pointer.endsWith("/$ref"))) node.$ref = "#/refused";
  }

  /** Checks a node, or the target of a reference in its place. */
  function enterNode(node: JsonObject, visit: Visit): void {
    const { location, parent, rawNode, type } = visit;
    const pointer = pointerOf(location);
    if (objectOf(node) !== node) return; // Redocly reports it
    if (type.name === "SchemaProperties") properties.add(node);
    const isProperty = properties.has(parent) && rawNode === node; // what it refers to is none
    const hasFreeNames = type.additionalProperties; // of which rules.ts checks some
    problems.push(...problemsOf(node, pointer, [
      ...checks[type.name]?.(node, document, pointer) ?? [],
      ...hasFreeNames || type.items ? [] : checkFields(node, type.name, isProperty),
      ...type.name === "Schema" ? checkCompiled(node, document, pointer) : [],
    ]));
  }

  const preprocessors = { oas3: { references: () => ({ ref: { enter: enterReference } }) } };
  const rules = { oas3: { accepted: () => ({ any: enterNode }) } };
  return { id: "client", preprocessors, rules } as Visit;
}
