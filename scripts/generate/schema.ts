/** Schemas of a description as plain JSON Schema (draft 2020-12). @module */

import type { Json, JsonObject } from "./spec.ts";

/** A schema with only the keywords that decide whether a value fits; `$ref` names a definition. */
export type Schema = JsonObject;

/** Whether a value is an object of JSON. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of a field that should hold an object; an empty one where it does not. */
export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The value of a field that should hold a list; an empty one where it does not. */
export function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** Adds a name to a JSON pointer. */
export function join(pointer: string, ...names: (string | number)[]): string {
  return names.reduce<string>(
    (path, name) => `${path}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`,
    pointer,
  );
}

/** Names that are unique, valid in TypeScript, and the same on each run. */
export class Names {
  readonly #used: Set<string>;

  constructor(reserved: Iterable<string> = []) {
    this.#used = new Set(reserved);
  }

  /** A name in camel case that has not been given yet. */
  add(text: string): string {
    const words = text.match(/[A-Za-z0-9_$]+/g) ?? [];
    const camel = words.map((word, index) => index === 0 ? word : capital(word)).join("");
    const base = /^[A-Za-z_$]/.test(camel) ? camel : `_${camel}`;
    let name = base;
    for (let count = 2; this.#used.has(name); count++) name = `${base}_${count}`;
    this.#used.add(name);
    return name;
  }
}

/** A word with a capital first letter. */
export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The flags a pattern needs, "u" if it can have it; undefined if it is no regular expression. */
export function regExpFlags(source: string): string | undefined {
  return ["u", ""].find((flags) => {
    try {
      return new RegExp(source, flags);
    } catch {
      return false;
    }
  });
}

/** Follows a JSON pointer; undefined where it leads nowhere. */
export function follow(document: JsonObject, pointer: string): Json | undefined {
  let value: Json | undefined = document;
  for (const part of pointer.split("/").slice(1)) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) {
      return undefined;
    }
    value = (value as JsonObject)[name];
  }
  return value;
}

/** Follows `$ref` until there is none; the pointer that it ends at comes with it. */
export function dereference(
  document: JsonObject,
  value: Json | undefined,
  pointer: string,
): { value: JsonObject; pointer: string } {
  const seen = new Set<string>();
  while (isObject(value) && typeof value.$ref === "string" && !seen.has(value.$ref)) {
    seen.add(value.$ref);
    pointer = value.$ref.slice(1);
    value = follow(document, pointer);
  }
  return { value: objectOf(value), pointer };
}

/** Whether a schema is the one that no value fits. */
export function isNothing(schema: Schema): boolean {
  return isObject(schema.not) && Object.keys(schema).length === 1 &&
    Object.keys(schema.not).length === 0;
}

/** Keywords that say something of a value by themselves, as JSON Schema and ajv both read them. */
export const assertions: readonly string[] = [
  "dependentRequired",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "maxContains",
  "maxItems",
  "maxLength",
  "maxProperties",
  "maximum",
  "minContains",
  "minItems",
  "minLength",
  "minProperties",
  "minimum",
  "multipleOf",
  "pattern",
  "type",
  "uniqueItems",
];
/** Keywords whose value is taken as it is. */
const plain = [...assertions, "const", "enum", "readOnly", "required", "writeOnly"].sort();
/** Keywords that hold one schema, a list of schemas, or schemas by name. */
const single = [
  "additionalProperties",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
];
const lists = ["allOf", "anyOf", "oneOf", "prefixItems"];
const maps = ["dependentSchemas", "patternProperties", "properties"];
/** Keywords that decide, but that validators do not check: more is accepted than should be. */
const unchecked = ["$dynamicRef", "unevaluatedItems", "unevaluatedProperties"];

/** The schemas of one description. */
export class Schemas {
  readonly #document: JsonObject;
  readonly #is30: boolean;
  readonly #names = new Names();
  readonly #byPointer = new Map<string, string>();
  /** The schemas that others refer to, by name. */
  readonly definitions: Map<string, Schema> = new Map();
  /** Where keywords stand that are not checked. */
  readonly unchecked: string[] = [];

  constructor(document: JsonObject) {
    this.#document = document;
    this.#is30 = String(document.openapi).startsWith("3.0");
  }

  /**
   * Reads a schema.
   *
   * @param value The schema as it stands in the document.
   * @param pointer Where it stands.
   * @returns The schema without what has no meaning for values.
   */
  read(value: Json | undefined, pointer: string): Schema {
    if (value === false) return { not: {} };
    if (!isObject(value)) return {};
    if (typeof value.$ref === "string") {
      const reference = { $ref: this.#define(value.$ref.slice(1)) };
      // In 3.0 nothing beside a reference has a meaning.
      return this.#is30 ? reference : { ...this.#keywords(value, pointer), ...reference };
    }
    return this.#keywords(value, pointer);
  }

  #define(pointer: string): string {
    const known = this.#byPointer.get(pointer);
    if (known !== undefined) return known;
    const component = pointer.match(/^\/components\/schemas\/([^/]+)$/)?.[1];
    const name = this.#names.add(component ?? pointer.split("/").slice(-3).join(" "));
    this.#byPointer.set(pointer, name);
    this.definitions.set(name, {}); // holds its place in the order, and ends recursion
    this.definitions.set(name, this.read(follow(this.#document, pointer), pointer));
    return name;
  }

  #keywords(from: JsonObject, pointer: string): Schema {
    const schema: Schema = {};
    for (const keyword of plain) {
      if (from[keyword] !== undefined) schema[keyword] = from[keyword];
    }
    for (const keyword of single) {
      if (from[keyword] === undefined) continue;
      schema[keyword] = this.read(from[keyword], join(pointer, keyword));
    }
    for (const keyword of lists) {
      if (!Array.isArray(from[keyword])) continue;
      schema[keyword] = from[keyword].map((item, i) => this.read(item, join(pointer, keyword, i)));
    }
    for (const keyword of maps) {
      if (!isObject(from[keyword])) continue;
      schema[keyword] = Object.fromEntries(
        Object.entries(from[keyword]).map(([name, item]) => [
          name,
          this.read(item, join(pointer, keyword, name)),
        ]),
      );
    }
    for (const keyword of unchecked) {
      if (from[keyword] !== undefined) this.unchecked.push(join(pointer, keyword));
    }
    if (typeof schema.pattern === "string" && regExpFlags(schema.pattern) === undefined) {
      this.unchecked.push(join(pointer, "pattern"));
      delete schema.pattern;
    }
    for (const source of Object.keys(objectOf(schema.patternProperties))) {
      if (regExpFlags(source) !== undefined) continue;
      this.unchecked.push(join(pointer, "patternProperties", source));
      delete schema.patternProperties;
      delete schema.additionalProperties; // which properties are left for it is not known
    }
    const discriminator = this.#discriminator(from);
    if (discriminator) schema.discriminator = discriminator;
    limit(schema, "minimum", "exclusiveMinimum");
    limit(schema, "maximum", "exclusiveMaximum");
    return from.nullable === true ? nullable(schema) : schema;
  }

  /** The values of the tag of each branch, in the order of the branches. */
  #discriminator(from: JsonObject): JsonObject | undefined {
    const { propertyName, mapping } = objectOf(from.discriminator);
    const branches = listOf(from.oneOf ?? from.anyOf).map((branch) => objectOf(branch).$ref);
    if (typeof propertyName !== "string" || branches.length === 0) return undefined;
    const mapped = Object.entries(objectOf(mapping));
    const values: Json[] = [];
    for (const ref of branches) {
      if (typeof ref !== "string") return undefined;
      const name = ref.split("/").at(-1) ?? "";
      const named = mapped.filter(([, to]) => to === ref).map(([value]) => value);
      values.push(named.length > 0 ? named : [name]);
    }
    return { propertyName, values };
  }
}

/** Turns 3.0's `exclusiveMinimum: true` beside `minimum` into 3.1's number. */
function limit(schema: Schema, inclusive: string, exclusive: string): void {
  if (typeof schema[exclusive] !== "boolean") return;
  if (schema[exclusive] && typeof schema[inclusive] === "number") {
    schema[exclusive] = schema[inclusive];
    delete schema[inclusive];
  } else delete schema[exclusive];
}

/** The same schema, which null fits too. */
function nullable(schema: Schema): Schema {
  const { type, enum: values, ...rest } = schema;
  const applies = ["$ref", "allOf", "anyOf", "const", "else", "if", "not", "oneOf", "then"];
  if (type === undefined || applies.some((keyword) => keyword in rest)) {
    return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: "null" }] };
  }
  return {
    ...schema,
    type: [...new Set([type, "null"].flat())],
    ...(Array.isArray(values) && { enum: [...new Set([...values, null])] }),
  };
}
