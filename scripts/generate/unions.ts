/** Rewrites unions, so that a validator chooses a branch before it checks one. @module */

import { type Json, type JsonObject, listOf, objectOf, type Read } from "./json.ts";
import { kindOf, typesOf, valuesOf } from "./value_types.ts";

/** The fields of a schema that list others. */
export const unions = ["allOf", "anyOf", "oneOf"];

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
 * @param schemas The branches.
 * @param read Reads a branch, or the target of its `$ref`.
 * @param convert Converts a branch for the compiler, as any schema.
 * @returns A schema that the same values match; `undefined` if no branch can be chosen.
 */
export function chooseBranch(schemas: Json[], read: Read, convert: Convert): Json | undefined {
  const branches = schemas.map((schema) => readBranch(schema, read));
  const objects = branches.filter(({ types }) => types.join() === "object");
  const others = branches.filter((branch) => !objects.includes(branch));
  const types = others.flatMap((branch) => branch.types);
  const disjoint = new Set([...types.map(kindOf), "object"]).size === types.length + 1 &&
    others.every((branch) => branch.types.length > 0);
  const choice = disjoint ? chooseObject(objects, convert) : undefined;
  if (choice === undefined) return undefined;
  const chain = others.reduce<JsonObject>((chain, { schema, types: type }) => (
    { if: { type: [...type] }, then: convert(schema), else: chain }
  ), choice);
  return { type: objects.length > 0 ? [...types, "object"] : types, allOf: [chain] };
}

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

function readBranch(schema: Json, read: Read): Branch {
  const { allOf, properties, required } = read(schema);
  const parts = listOf(allOf).map((part) => readBranch(part, read));
  const values = Object.entries(objectOf(properties))
    .filter(([, property]) => !objectOf(property).writeOnly) // a response lacks it
    .map(([name, property]) => [name, valuesOf(read(property))] as const)
    .filter(([, values]) => values.length > 0);
  return {
    schema,
    types: typesOf(read(schema), read),
    required: [...parts.flatMap(({ required }) => required), ...listOf(required)],
    values: new Map([...parts.flatMap(({ values }) => [...values]), ...values]),
  };
}
