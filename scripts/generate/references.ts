/** Checks what the document refers to. @module */

import { accepted } from "./accepted.ts";
import { follow, type JsonObject } from "./json.ts";
import type { Rule } from "./problems.ts";

/** Checks a node with a `$ref`, which stands for a node of an OpenAPI type. */
export function checkReference(node: JsonObject, type: string, document: JsonObject): Rule[] {
  // Such as `requestBodies` for a `RequestBody`.
  const section = `${type[0]!.toLowerCase()}${type.slice(1).replace(/y$/, "ie")}s`;
  const isAllowed = Object.hasOwn(accepted.Components!, section);
  const isInSection = `${node.$ref}`.startsWith(`#/components/${section}/`);
  const isMissing = isInSection && !follow(document, node.$ref!);
  const beside =
    "Leave it out, or, in a schema, write `allOf: [{ $ref: … }]` in place of `$ref`, and " +
    '`anyOf: [{ $ref: … }, { type: "null" }]` if it may be null';
  return [
    ["$ref", !isAllowed, "Write in its place what it names"],
    ["$ref", !isInSection, `Write the name of something below \`components: ${section}:\``],
    ["$ref", isMissing, `Write what it names below \`components: ${section}:\``],
    ...Object.keys(node).map((name): Rule => [
      name,
      !Object.hasOwn(accepted.Reference!, name),
      beside,
    ]),
  ];
}
