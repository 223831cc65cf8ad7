/** Rewrites `anyOf` and `oneOf`, so that a validator chooses a branch before it checks one. @module */

import { dereference, type Json, type JsonObject, listOf, objectOf } from "./json.ts";
import { kindOf, requiredOf, typesOf, valuesOf } from "./schemas.ts";

type Convert = (schema: Json) => JsonObject;

/**
 * Rewrites `anyOf` or `oneOf` so that a validator chooses one branch, by its type or by a required
 * property whose constants differ, and says what is wrong in that branch.
 *
 * For example, it makes of `oneOf` with the branches
 *
 *     { type: object, required: [kind], properties: { kind: { const: cat } } }
 *     { type: object, required: [kind], properties: { kind: { const: dog } } }
 *     { type: "null" }
 *
 * this, where Cat and Dog stand for the first two, converted:
 *
 *     type: ["null", object]
 *     allOf:
 *       - if: { type: ["null"] }
 *         then: { type: "null" }
 *         else:
 *           required: [kind]
 *           if: { properties: { kind: { const: cat } } }
 *           then: Cat
 *           else:
 *             if: { properties: { kind: { const: dog } } }
 *             then: Dog
 *             else: { properties: { kind: { const: dog } } }
 *
 * @param schemas The branches.
 * @param document The document, for references.
 * @param convert Converts a branch for the compiler, as any schema.
 * @returns A schema that the same values match; `undefined` if no branch can be chosen.
 */
export function chooseBranch(
  schemas: Json[],
  document: JsonObject,
  convert: Convert,
): Json | undefined {
  const typesIn = (schema: Json) => typesOf(schema, document);
  const objects = schemas.filter((schema) => typesIn(schema).join() === "object");
  const others = schemas.filter((schema) => !objects.includes(schema));
  const types = others.flatMap(typesIn);
  // No type is that of two branches; all objects count as one.
  const areDisjoint = new Set([...types.map(kindOf), "object"]).size === types.length + 1 &&
    others.every((schema) => typesIn(schema).length > 0);
  const choice = areDisjoint ? chooseObject(objects, document, convert) : undefined;
  if (choice === undefined) return undefined;
  const chain = others.reduce<Json>((chain, schema) => (
    { if: { type: typesIn(schema) }, then: convert(schema), else: chain }
  ), choice);
  return { type: objects.length > 0 ? [...types, "object"] : types, allOf: [chain] };
}

/**
 * Chooses among branches that are objects, by the first property that all require and whose constants
 * differ; returns `undefined` if there is none.
 */
function chooseObject(schemas: Json[], document: JsonObject, convert: Convert): Json | undefined {
  if (schemas.length < 2) return convert(schemas[0] ?? {});
  const branches = schemas.map((schema) => ({ schema, tags: tagsOf(schema, document) }));
  const tag = [...branches[0]!.tags.keys()].find((name) => {
    const all = branches.flatMap(({ tags }) => tags.get(name) ?? []);
    return new Set(all).size === all.length && branches.every(({ tags }) => tags.has(name));
  });
  if (tag === undefined) return undefined;
  const tagged = (values: Json[]): JsonObject => {
    const value = values.length > 1 ? { enum: values } : { const: values[0]! };
    return { properties: { [tag]: value } };
  };
  const last = tagged(branches.at(-1)!.tags.get(tag)!); // which no value that gets here matches
  const chain = branches.reduceRight<JsonObject>((chain, { schema, tags }) => (
    { if: tagged(tags.get(tag)!), then: convert(schema), else: chain }
  ), last);
  return { required: [tag], ...chain };
}

/** Lists the values of the properties that a branch requires and whose values it names. */
function tagsOf(schema: Json, document: JsonObject): Map<string, Json[]> {
  const parts = partsOf(schema, document);
  const required = parts.flatMap(requiredOf);
  const tags = parts.flatMap(({ properties }) => Object.entries(objectOf(properties)))
    .map(([name, property]) => [name, valuesOf(dereference(document, property))] as const)
    .filter(([name, values]) => required.includes(name) && values.length > 0);
  return new Map(tags);
}

/** Lists the schemas that all values of a branch match: those in `allOf`, and itself. */
function partsOf(schema: Json, document: JsonObject): JsonObject[] {
  const target = dereference(document, schema);
  return [...listOf(target.allOf).flatMap((part) => partsOf(part, document)), target];
}
