/** Reads schemas. @module */

// deno-lint-ignore no-explicit-any -- a node of an OpenAPI document, or what Redocly gives visitors
export type Any = any;

/** Returns what a node refers to, or the node itself. */
export type Resolve = (node: Any) => Any;

/** Returns the function that resolves references where a visitor is. */
export const resolverOf = ({ resolve }: Any): Resolve => (node) => Object(resolve(node).node);

/** Escapes a name for a JSON Pointer. */
export const escape = (name: unknown): string =>
  `${name}`.replaceAll("~", "~0").replaceAll("/", "~1");

/** Lists the values that a schema names. */
export const valuesOf = (schema: Any): Any[] =>
  "const" in schema ? [schema.const] : schema.enum ?? [];

/** Returns the type of a value, as JSON Schema names it, but "number" for integers. */
export const typeOf = (value: unknown): string => value === null ? "null" : typeof value;

/** Lists the types that values of a schema may have; none if they may have any. */
export function typesOf(from: Any, resolve: Resolve, seen: Any[] = []): string[] {
  const schema = resolve(from);
  if (seen.includes(schema)) return []; // a circle, which the rules refuse
  const typesIn = (part: Any) => typesOf(part, resolve, [...seen, schema]);
  const { type, allOf = [], anyOf = [], oneOf = [] } = schema;
  if (type) return [type].flat();
  const values = valuesOf(schema);
  if (values.length > 0) return [...new Set(values.map(typeOf))];
  const branches: string[][] = [...anyOf, ...oneOf].map(typesIn);
  if (branches.length === 0) {
    return allOf.map(typesIn).find((types: string[]) => types.length > 0) ?? [];
  }
  return branches.some((types) => types.length === 0) ? [] : [...new Set(branches.flat())];
}

/** Lists a schema and those in its `allOf`, or in other such fields, and in theirs. */
export function partsOf(from: Any, resolve: Resolve, fields = ["allOf"]): Any[] {
  const parts = new Set([resolve(from)]);
  for (const part of parts) { // also of those that are added meanwhile
    for (const next of fields.flatMap((field) => part[field] ?? [])) parts.add(resolve(next));
  }
  return [...parts];
}

/** Tells whether a schema is a part of itself with no property in between. */
export function isCircular(schema: Any, resolve: Resolve): boolean {
  const fields = ["allOf", "anyOf", "oneOf", "items"];
  return fields.flatMap((field) => schema[field] ?? [])
    .some((part) => partsOf(part, resolve, fields).includes(schema));
}
