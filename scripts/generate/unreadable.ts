/** Finds what keeps Redocly from reading the document. @module */

import { toPointer } from "../../src/json_pointer.ts";
import { follow, isObject, type Json, type JsonObject, NOWHERE } from "./json.ts";
import { type Problem, problemAt } from "./problems.ts";

/** Takes out what cannot be read, so that the rest can: what is not JSON, certain names, circles. */
export function takeOutUnreadable(document: JsonObject): Problem[] {
  const seen = new Set<Json>();
  const adviceOn = (name: string, value: Json, node: JsonObject): string | undefined => {
    if (name === "") return "Write a name";
    if (name in {}) return "Leave it out: it is a property of all objects in JavaScript";
    if (seen.has(value)) return "Write it out in place of the alias, or refer to it with `$ref`";
    if (ArrayBuffer.isView(value)) return "Write a string: JSON has no bytes";
    if (typeof value === "number" && !Number.isFinite(value)) return "Write a finite number";
    if (name !== "$ref" || isObject(value)) return undefined;
    if (node === document) return "Write in its place what it names";
    const [, section] = /^#\/components\/(\w+)\/[\w.-]+$/.exec(`${value}`) ?? [];
    if (!section) {
      return "Write the name of something below `components`, as in `#/components/schemas/Name`";
    }
    if (!follow(document, value)) return `Write what it names below \`components: ${section}:\``;
    if (!isPartOfItself(node, document)) return undefined;
    return "Refer to it from `properties`: here, it would make a schema a part of itself";
  };
  const takeOut = (node: JsonObject, pointer: string): Problem[] =>
    Object.entries(node).flatMap(([name, value]) => {
      const place = pointer + toPointer([name]);
      const advice = adviceOn(name, value, node);
      if (advice) {
        if (name === "$ref" && node !== document) node.$ref = NOWHERE;
        else delete node[name];
        return [problemAt(place, advice, name === "$ref" ? value : undefined)];
      }
      if (typeof value !== "object" || !value) return [];
      seen.add(value);
      return takeOut(value as JsonObject, place);
    });
  return takeOut(document, "");
}

/** Tells whether a reference leads back to itself other than through `properties`. */
function isPartOfItself(reference: JsonObject, document: JsonObject): boolean {
  const parts = new Set([reference]);
  for (const { $ref, allOf, anyOf, oneOf, items } of parts) { // also of those that are added meanwhile
    const next = $ref ? [follow(document, $ref)] : [allOf, anyOf, oneOf, items].flat();
    for (const part of next) if (isObject(part)) parts.add(part);
    if (next.includes(reference)) return true;
  }
  return false;
}
