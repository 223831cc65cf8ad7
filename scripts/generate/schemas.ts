/** Reads schemas. @module */

// deno-lint-ignore no-explicit-any -- a node of an OpenAPI document, or what Redocly gives visitors
export type Any = any;

/** Returns what a node refers to, or the node itself. */
export type Resolve = (node: Any) => Any;

/** Returns the function that resolves the references of a document, all of which name components. */
export function resolverOf({ components }: Any): Resolve {
  return function resolve(node): Any {
    const [, , section, name] = node?.$ref?.split("/") ?? [];
    return section ? resolve(components[section][name]) : node;
  };
}

/** Escapes a name for a JSON Pointer. */
export const escape = (name: unknown): string =>
  `${name}`.replaceAll("~", "~0").replaceAll("/", "~1");

/** Lists the values that a schema names. */
export const valuesOf = (schema: Any): Any[] =>
  schema.const === undefined ? schema.enum ?? [] : [schema.const];

/** Lists the types that values of a schema may have; none if they may have any. */
export function typesOf(from: Any, resolve: Resolve, seen: Any[] = []): string[] {
  const schema = resolve(from);
  if (seen.includes(schema)) return []; // a circle, which the compiler refuses
  const { type, allOf = [], anyOf, oneOf, ...others } = schema;
  if (type) return [type].flat();
  const values = valuesOf(others);
  if (values.length > 0) {
    return [...new Set(values.map((value) => value === null ? "null" : typeof value))];
  }
  const typesIn = (part: Any) => typesOf(part, resolve, [...seen, schema]);
  const branches: string[][] = (oneOf ?? anyOf ?? []).map(typesIn);
  if (branches.some((types) => types.length === 0)) return [];
  return branches.length > 0
    ? [...new Set(branches.flat())]
    : allOf.map(typesIn).find((types: string[]) => types.length > 0) ?? [];
}

/** Lists a schema and those in its `allOf`, and in theirs; `groups` can name unions, too. */
export function partsOf(from: Any, resolve: Resolve, groups: string[] = ["allOf"]): Any[] {
  const parts = new Set([resolve(from)]);
  for (const part of parts) { // also for those that are added meanwhile
    for (const next of groups.flatMap((group) => part[group] ?? [])) parts.add(resolve(next));
  }
  return [...parts];
}
