/** Rewrites unions, so that an issue is about one branch. @module */

import { type Any, partsOf, type Resolve, typesOf, valuesOf } from "./schemas.ts";

/** Lists the values of the properties that a branch requires and that have constants. */
function tagsOf(branch: Any, resolve: Resolve, required: string[]): Map<string, Any[]> {
  const parts = partsOf(branch, resolve);
  const names = [...required, ...parts.flatMap((part) => part.required ?? [])];
  const properties = parts.flatMap((part) => Object.entries<Any>(part.properties ?? {}));
  return new Map(
    properties.map(([name, property]) => [name, valuesOf(resolve(property))] as const)
      .filter(([name, values]) => names.includes(name) && values.length > 0),
  );
}

/** Tells whether each list has values, and none is in two of them. */
function areDistinct(lists: Any[][]): boolean {
  const all = lists.flat();
  return lists.every((list) => list.length > 0) && new Set(all).size === all.length;
}

/**
 * Rewrites `anyOf` or `oneOf` so that a value is checked against one branch, which the issue is then
 * about: that of its type or, among objects, of its tag, a property that each requires with constants
 * of its own. For example, it makes of a Cat, a Dog and null
 *
 *     type: [object, "null"]
 *     required: [kind]
 *     properties: { kind: { enum: [cat, dog] } }
 *     allOf:
 *       - { if: { type: object, properties: { kind: { enum: [cat] } } }, then: Cat }
 *       - { if: { type: object, properties: { kind: { enum: [dog] } } }, then: Dog }
 *
 * @param required The properties that the schema around the union requires.
 * @returns A schema for the same values; `undefined` if a value may match two branches.
 */
export function chooseBranch(schemas: Any[], resolve: Resolve, required: string[] = []): Any {
  const branches = schemas.map((schema) => {
    const types = typesOf(schema, resolve);
    const tags = `${types}` === "object" ? tagsOf(schema, resolve, required) : undefined;
    return { schema, types, tags };
  });
  const objectTags = branches.flatMap(({ tags }) => tags ?? []);
  const typeLists = branches.filter(({ tags }) => !tags)
    .map(({ types }) => types.map((type) => type.replace("integer", "number")));
  if (objectTags.length > 0) typeLists.push(["object"]);
  const valuesAt = (name: string) => objectTags.map((tags) => tags.get(name) ?? []);
  const tag = objectTags.length > 1
    ? [...objectTags[0]!.keys()].find((name) => areDistinct(valuesAt(name)))
    : undefined;
  if (!areDistinct(typeLists) || (objectTags.length > 1 && tag === undefined)) return undefined;

  const tagged = (values?: Any[]) =>
    tag !== undefined && values && { properties: { [tag]: { enum: values } } };
  // A branch that has nothing but a type is checked by the list of types below.
  const conditions = branches.filter(({ schema }) => `${Object.keys(schema)}` !== "type")
    .map(({ schema, tags, types }) => (
      { if: { type: types, ...tagged(tags?.get(tag!)) }, then: schema }
    ));
  return {
    type: [...new Set(branches.flatMap(({ types }) => types))],
    ...tag !== undefined && { required: [tag], ...tagged(valuesAt(tag).flat()) },
    ...conditions.length > 0 && { allOf: conditions },
  };
}
