/** Rewrites `anyOf` and `oneOf`, so that a validator chooses a branch before it checks one. @module */

import { dereference, type Json, type JsonObject, listOf, objectOf } from "./json.ts";
import { kindOf, requiredOf, typesOf, valuesOf } from "./schemas.ts";

type Convert = (schema: Json) => JsonObject;

/** What all values that match a branch have in common. */
interface Branch {
  readonly schema: Json;
  readonly types: readonly Json[];
  readonly required: readonly Json[];
  /** The scalar values that a property may have. */
  readonly values: ReadonlyMap<string, Json[]>;
}

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
  const branches = schemas.map((schema) => readBranch(schema, document));
  const objects = branches.filter(({ types }) => types.join() === "object");
  const others = branches.filter((branch) => !objects.includes(branch));
  const types = others.flatMap((branch) => branch.types);
  // No type is that of two branches; all objects count as one.
  const areDisjoint = new Set([...types.map(kindOf), "object"]).size === types.length + 1 &&
    others.every((branch) => branch.types.length > 0);
  const choice = areDisjoint ? chooseObject(objects, convert) : undefined;
  if (choice === undefined) return undefined;
  const chain = others.reduce<JsonObject>((chain, branch) => (
    { if: { type: [...branch.types] }, then: convert(branch.schema), else: chain }
  ), choice);
  return { type: objects.length > 0 ? [...types, "object"] : types, allOf: [chain] };
}

/**
 * Chooses among branches that are objects, by the first property that all require and whose constants
 * differ; returns `undefined` if there is none.
 */
function chooseObject(branches: readonly Branch[], convert: Convert): JsonObject | undefined {
  if (branches.length < 2) return convert(branches[0]?.schema ?? {});
  const tag = [...branches[0]!.values.keys()].find((name) => {
    const all = branches.flatMap(({ values }) => values.get(name) ?? []);
    return new Set(all).size === all.length &&
      branches.every(({ required, values }) => required.includes(name) && values.has(name));
  });
  if (tag === undefined) return undefined;
  const tagged = ({ values }: Branch): JsonObject => {
    const [first, ...rest] = values.get(tag)!;
    const value = rest.length > 0 ? { enum: [first!, ...rest] } : { const: first! };
    return { properties: Object.fromEntries([[tag, value]]) };
  };
  const chain = branches.reduceRight<JsonObject>(
    (chain, branch) => ({ if: tagged(branch), then: convert(branch.schema), else: chain }),
    tagged(branches.at(-1)!), // which no value that gets here matches
  );
  return { required: [tag], ...chain };
}

/** Reads what a branch says of its values, with what the schemas in its `allOf` say. */
function readBranch(schema: Json, document: JsonObject): Branch {
  const target = dereference(document, schema);
  const { allOf, properties } = target;
  const parts = listOf(allOf).map((part) => readBranch(part, document));
  const values = Object.entries(objectOf(properties))
    .map(([name, property]) => [name, valuesOf(dereference(document, property))] as const)
    .filter(([, values]) => values.length > 0);
  return {
    schema,
    types: typesOf(schema, document),
    required: [...parts.flatMap(({ required }) => required), ...requiredOf(target)],
    values: new Map([...parts.flatMap(({ values }) => [...values]), ...values]),
  };
}
