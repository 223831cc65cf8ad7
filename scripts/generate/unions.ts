/** Finds what tells the branches of a union apart. @module */

import { type Any, partsOf, type Resolve, valuesOf } from "./schemas.ts";

/** Tells whether each list has values, and none is in two of them. */
export function areDistinct(lists: Any[][]): boolean {
  const all = lists.flat();
  return lists.every((list) => list.length > 0) && new Set(all).size === all.length;
}

/** Lists the constants of a property that a schema, or one in its `allOf`, requires. */
function constantsOf(name: string, schema: Any, resolve: Resolve): Any[] {
  const parts = partsOf(schema, resolve);
  if (!parts.some(({ required }) => required?.includes(name))) return [];
  return parts.flatMap(({ properties = {} }) =>
    Object.hasOwn(properties, name) ? valuesOf(resolve(properties[name])) : []
  );
}

/** A property for which each of some schemas has constants of its own. */
export interface Tag {
  name: string;
  constants: Any[][];
}

/** Finds the tag of some schemas. */
export function findTag(schemas: Any[], resolve: Resolve): Tag | undefined {
  return partsOf(schemas[0], resolve).flatMap(({ required = [] }) => required)
    .map((name) => ({ name, constants: schemas.map((it) => constantsOf(name, it, resolve)) }))
    .find(({ constants }) => areDistinct(constants));
}
