/** Finds what keeps Redocly from reading the document: names, and references. @module */

import { accepted } from "./accepted.ts";
import { follow, type JsonObject, objectOf, pointerTo } from "./json.ts";

/** What is wrong, and where it is, as a JSON Pointer. */
type Problem = [pointer: string, message: string];

/** Finds names that JavaScript's objects have, and references that are not followed. */
export function* findProblems(
  root: JsonObject,
  node: JsonObject = root,
  pointer = "",
): Generator<Problem> {
  const isReference = typeof node.$ref === "string";
  for (const [name, value] of Object.entries(node)) {
    const place = pointer + pointerTo(name);
    if (name in {}) {
      yield [place, `\`${name}\` is a property of all objects in JavaScript; leave it out`];
    }
    if (isReference && !Object.hasOwn(accepted.Reference!, name)) {
      const text = "is not accepted beside `$ref`. If it belongs to a schema, write " +
        "`allOf: [{ $ref: … }]` in place of `$ref`; if not, leave it out";
      yield [place, `\`${name}\` ${text}`];
    }
    if (typeof value === "object" && value) yield* findProblems(root, value as JsonObject, place);
  }
  const problem = isReference && problemOf(root, node);
  if (problem) yield [`${pointer}/$ref`, `\`${node.$ref}\` ${problem}`];
}

/** What is wrong with a reference, if anything is. */
function problemOf(root: JsonObject, node: JsonObject): string | undefined {
  if (!/^#\/components\/[^/]+\/[^/]+$/.test(`${node.$ref}`)) {
    return "is not directly below `components`. Write there what it names, in this file";
  }
  if (!follow(root, node.$ref!)) return "does not exist";
  if (isPartOfItself(root, node)) {
    return "makes a schema a part of itself. Refer to it from `properties`";
  }
}

/** Whether what the type of a schema is made of has a reference that leads back to it. */
function isPartOfItself(root: JsonObject, reference: JsonObject): boolean {
  const found = new Set<JsonObject>();
  const search = ({ $ref, allOf, anyOf, oneOf, items }: JsonObject): void => {
    const types = [allOf, anyOf, oneOf, items].flatMap((part) => part ?? []);
    const parts = $ref ? [follow(root, $ref)] : types;
    for (const part of parts.map(objectOf).filter((part) => !found.has(part))) {
      found.add(part);
      search(part);
    }
  };
  search(reference);
  return found.has(reference);
}
