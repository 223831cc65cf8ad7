/** Rewrites unions, so that a validator chooses a branch before it checks one. @module */

import { type Json, type JsonObject, listOf, objectOf } from "./json.ts";

type Resolve = (ref: Json) => Json;
type Read = (schema: Json) => JsonObject;

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
 * @param resolve Finds what a `$ref` in a branch leads to.
 * @param read Reads a branch as any schema.
 * @returns A schema that the same values match; `undefined` if no branch can be chosen.
 */
export function chooseBranch(schemas: Json[], resolve: Resolve, read: Read): Json | undefined {
  const branches = schemas.map((schema) => readBranch(schema, resolve));
  const objects = branches.filter(({ types }) => types.join() === "object");
  const others = branches.filter((branch) => !objects.includes(branch));
  const types = others.flatMap((branch) => branch.types);
  const kinds = [...types.map((type) => type === "integer" ? "number" : type), "object"];
  const disjoint = new Set(kinds).size === kinds.length &&
    others.every((branch) => branch.types.length > 0);
  const choice = disjoint ? chooseObject(objects, read) : undefined;
  if (choice === undefined) return undefined;
  const chain = others.reduce<JsonObject>((chain, { schema, types: type }) => (
    { if: { type: [...type] }, then: read(schema), else: chain }
  ), choice);
  return { type: objects.length > 0 ? [...types, "object"] : types, allOf: [chain] };
}

function chooseObject(branches: readonly Branch[], read: Read): JsonObject | undefined {
  if (branches.length < 2) return read(branches[0]?.schema ?? true);
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
    (chain, branch) => ({ if: tagged(branch), then: read(branch.schema), else: chain }),
    tagged(branches.at(-1)!), // which no value that gets here matches
  );
  return { required: [tag], ...chain };
}

function readBranch(schema: Json, resolve: Resolve): Branch {
  const { $ref, allOf, properties, required, type } = objectOf(schema);
  const parts = [...listOf(allOf), ...($ref ? [resolve($ref)] : [])]
    .map((part) => readBranch(part, resolve));
  const values = Object.entries(objectOf(properties))
    .map(([name, property]) => [name, valuesOf(property, resolve)] as const)
    .filter(([, values]) => values.length > 0);
  return {
    schema,
    types: type ? [type].flat() : parts.find(({ types }) => types.length > 0)?.types ?? [],
    required: [...parts.flatMap(({ required }) => required), ...listOf(required)],
    values: new Map([...parts.flatMap(({ values }) => [...values]), ...values]),
  };
}

/** The scalars that a schema lists, if it lists any and nothing else. */
function valuesOf(schema: Json, resolve: Resolve): Json[] {
  const { $ref } = objectOf(schema);
  const { const: constant, enum: list } = objectOf($ref === undefined ? schema : resolve($ref));
  const values = constant === undefined ? listOf(list) : [constant];
  return values.every((value) => typeof value !== "object" || value === null) ? values : [];
}
