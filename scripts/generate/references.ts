/** Checks what the document refers to. @module */

import { accepted } from "./accepted.ts";
import type { JsonObject } from "./json.ts";
import type { Verdict } from "./problems.ts";

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
