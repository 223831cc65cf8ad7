/** The validators of the JSON success responses. @module */

import { type Contract, jsonResponses } from "./operations.ts";
import {
  assertions,
  capital,
  isNothing,
  isObject,
  listOf,
  Names,
  objectOf,
  type Schema,
} from "./schema.ts";
import type { Json, JsonObject } from "./spec.ts";
import { compileFunction, helperNames, helpers } from "./standalone.ts";
import type { Branch, Choice } from "./vocabulary.ts";

/** The validators of a contract. */
export interface Validators {
  /** The TypeScript module, without a header. */
  readonly code: string;
  /** The name of the validator of each operation and status. */
  readonly names: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

const types = `
/** A place where a value does not fit its schema. It holds nothing of the value. */
export interface Issue {
  /** A JSON pointer; \`*\` stands for a property that the schema does not name. */
  readonly path: string;
  /** What the value breaks: a keyword of JSON Schema, or \`json\`, \`empty\` or \`maxResponseBytes\`. */
  readonly rule: string;
}

/** Returns what the schema rejects, or undefined when the value fits. */
export type Validator = (value: unknown) => Issue[] | undefined;
`;

/** Writes the validators of a contract. */
export function writeValidators(contract: Contract): Validators {
  const responses = contract.operations.map((operation) => ({
    operationId: operation.operationId,
    responses: jsonResponses(operation),
  }));
  const names = new Names([...helperNames, "Issue", "Validator"]);
  const byOperation = new Map(responses.map(({ operationId, responses }) => [
    operationId,
    Object.fromEntries(responses.map(({ status, name }) => [status, names.add(name)])),
  ]));
  const functions = new Functions(contract.definitions, names);
  const exports = responses.flatMap(({ operationId, responses }) =>
    responses.map(({ status, name, schemas }) => {
      const schema = unionOf(schemas);
      const validator = functions.isOpen(schema) ? "() => undefined" : functions.of(schema, name);
      return `export const ${byOperation.get(operationId)?.[status]}: Validator = ${validator};`;
    })
  );
  const code = functions.compile();
  return {
    code: [types, exports.join("\n"), ...code, helpers(code)].join("\n\n"),
    names: byOperation,
  };
}

/** The schema that is met where one of several is. */
function unionOf(schemas: Schema[]): Schema {
  const different = [
    ...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values(),
  ];
  return different.length === 1 ? different[0] ?? {} : { anyOf: different };
}

/** Keywords without which a schema accepts every value. */
const annotations = ["discriminator", "readOnly", "writeOnly"];

/** The functions that check values, one for each definition and each part of a union. */
class Functions {
  readonly #definitions: Readonly<Record<string, Schema>>;
  readonly #names: Names;
  readonly #byDefinition = new Map<string, string>();
  readonly #pending: { readonly name: string; readonly schema: Schema }[] = [];

  constructor(definitions: Readonly<Record<string, Schema>>, names: Names) {
    this.#definitions = definitions;
    this.#names = names;
  }

  /** The code of every function asked for so far and of those that they call. */
  compile(): string[] {
    const code: string[] = [];
    // Preparing one function may ask for more.
    for (const { name, schema } of this.#pending) {
      code.push(compileFunction(name, this.#prepare(schema, name.replace(/^validate/, ""))));
    }
    return code;
  }

  /** Whether a schema accepts every value. */
  isOpen(schema: Schema, seen: readonly string[] = []): boolean {
    return Object.keys(schema).every((keyword) => {
      if (annotations.includes(keyword)) return true;
      const ref = String(schema.$ref);
      return keyword === "$ref" && !seen.includes(ref) &&
        this.isOpen(this.#definition(ref), [...seen, ref]);
    });
  }

  /** The name of the function that checks a schema; `title` says what a new one is named after. */
  of(schema: Schema, title: string): string {
    const checked = Object.keys(schema).filter((keyword) => !annotations.includes(keyword));
    const ref = checked.length === 1 && typeof schema.$ref === "string" ? schema.$ref : undefined;
    const known = ref === undefined ? undefined : this.#byDefinition.get(ref);
    if (known !== undefined) return known;
    const name = this.#names.add(`validate ${capital(ref ?? title)}`);
    if (ref !== undefined) this.#byDefinition.set(ref, name);
    this.#pending.push({ name, schema: ref === undefined ? schema : this.#definition(ref) });
    return name;
  }

  #definition(name: string): Schema {
    return this.#definitions[name] ?? {};
  }

  /** Turns a schema into one for ajv and the keywords of our vocabulary. */
  #prepare(schema: Schema, title: string): JsonObject {
    const out: JsonObject = {};
    for (const keyword of assertions) {
      if (schema[keyword] !== undefined) out[keyword] = schema[keyword];
    }
    const { $ref, const: constant, enum: values } = schema;
    if (typeof $ref === "string" && !this.isOpen({ $ref })) out.call = this.of({ $ref }, title);

    const parts = listOf(schema.allOf).map((part) => objectOf(part));
    if (constant !== undefined) {
      if (isScalar(constant)) out.const = constant;
      else parts.push(exactly(constant));
    }
    if (Array.isArray(values)) {
      if (values.every(isScalar)) out.enum = values;
      else parts.push({ anyOf: values.map(exactly) });
    }
    const closed = parts.filter((part) => !this.isOpen(part));
    if (closed.length > 0) {
      out.allOf = closed.map((part, index) => this.#prepare(part, `${title} part${index + 1}`));
    }

    if (Array.isArray(schema.required)) {
      out.required = schema.required.filter((name) => !this.#isWriteOnly(schema, String(name)));
    }
    for (const keyword of ["properties", "patternProperties"]) {
      if (schema[keyword] !== undefined) out[keyword] = this.#map(schema[keyword], title);
    }
    const { additionalProperties } = schema;
    if (isObject(additionalProperties)) {
      if (isNothing(additionalProperties)) out.additionalProperties = false;
      else if (!this.isOpen(additionalProperties)) {
        out.additionalProperties = this.#prepare(additionalProperties, `${title} property`);
      }
    }
    if (isObject(schema.items) && !this.isOpen(schema.items)) {
      out.items = this.#prepare(schema.items, `${title} item`);
    }
    if (Array.isArray(schema.prefixItems)) {
      out.prefixItems = schema.prefixItems.map((item, index) =>
        this.#prepare(objectOf(item), `${title} item${index + 1}`)
      );
    }

    for (const keyword of ["contains", "else", "if", "not", "propertyNames", "then"]) {
      const part = schema[keyword];
      if (isObject(part)) out[keyword] = this.#branch(part, `${title} ${keyword}`);
    }
    if (isObject(schema.dependentSchemas)) {
      out.dependentSchemas = Object.fromEntries(
        Object.entries(schema.dependentSchemas).map(([name, part]) => [
          name,
          this.#branch(objectOf(part), `${title} with ${name}`),
        ]),
      );
    }
    for (const rule of ["anyOf", "oneOf"] as const) {
      if (Array.isArray(schema[rule])) Object.assign(out, this.#union(schema, rule, title));
    }
    return out;
  }

  #map(schemas: Json, title: string): JsonObject {
    return Object.fromEntries(
      Object.entries(objectOf(schemas)).map(([name, schema]) => [
        name,
        this.isOpen(objectOf(schema)) ? {} : this.#prepare(objectOf(schema), `${title} ${name}`),
      ]),
    );
  }

  /** A required field that only requests have is not required of a response. */
  #isWriteOnly(schema: Schema, name: string): boolean {
    const property = objectOf(objectOf(schema.properties)[name]);
    return property.writeOnly === true || typeof property.$ref === "string" &&
        this.#definition(property.$ref).writeOnly === true;
  }

  #branch(schema: Schema, title: string): JsonObject & Branch {
    if (this.isOpen(schema)) return { test: {} };
    const isTest = Object.entries(schema).every(([keyword, value]) =>
      keyword === "type" || keyword === "const" && isScalar(value) ||
      keyword === "enum" && listOf(value).every(isScalar) || annotations.includes(keyword)
    );
    return isTest ? { test: schema } : { call: this.of(schema, title) };
  }

  #union(schema: Schema, rule: "anyOf" | "oneOf", title: string): JsonObject {
    const branches = listOf(schema[rule]).map((branch) => objectOf(branch));
    const discriminator = isObject(schema.discriminator) ? schema.discriminator : undefined;
    const choice = this.#choice(branches, discriminator, title);
    if (choice) return { choice };

    // Scalars beside objects, such as null, do not keep the objects from being told apart.
    const objects = branches.filter((branch) => this.#facts(branch).isObject);
    const scalars = branches.filter((branch) => this.#facts(branch).isScalar);
    if (
      objects.length > 1 && scalars.length > 0 &&
      objects.length + scalars.length === branches.length
    ) {
      const part: Schema = { [rule]: objects, ...(discriminator && { discriminator }) };
      return { anyOf: [part, ...scalars].map((each) => this.#branch(each, `${title} object`)) };
    }
    return {
      [rule]: branches.map((each, index) => this.#branch(each, `${title} option${index + 1}`)),
    };
  }

  /** A choice by the value of one property, if the branches differ in it. */
  #choice(
    branches: readonly Schema[],
    discriminator: JsonObject | undefined,
    title: string,
  ): (JsonObject & Choice) | undefined {
    const facts = branches.map((branch) => this.#facts(branch));
    const tags = discriminator ? [String(discriminator.propertyName)] : facts[0]?.tags.keys() ?? [];
    for (const tag of tags) {
      const values = facts.map((fact, index) => {
        if (discriminator) {
          return fact.tags.get(tag) ?? listOf(listOf(discriminator.values)[index]);
        }
        return fact.isObject && fact.required.has(tag) ? fact.tags.get(tag) ?? [] : [];
      });
      const all = values.flat();
      if (values.some(({ length }) => length === 0) || new Set(all).size < all.length) continue;
      return {
        tag,
        rule: discriminator ? "discriminator" : values.length === all.length ? "const" : "enum",
        branches: branches.map((branch, index) => ({
          values: values[index] ?? [],
          call: this.of(branch, `${title} option${index + 1}`),
        })),
      };
    }
    return undefined;
  }

  /** What a schema says about every value that fits. */
  #facts(schema: Schema, seen: readonly string[] = []): Facts {
    const types = [schema.type ?? []].flat();
    const facts: Facts = {
      isObject: types.length === 1 && types[0] === "object",
      isScalar: types.length > 0 && !types.includes("object"),
      required: new Set(listOf(schema.required).map(String)),
      tags: new Map(),
    };
    for (const [name, property] of Object.entries(objectOf(schema.properties))) {
      const values = this.#values(objectOf(property));
      if (values) facts.tags.set(name, values);
    }
    const parts = listOf(schema.allOf).map((part) => objectOf(part));
    if (typeof schema.$ref === "string" && !seen.includes(schema.$ref)) {
      seen = [...seen, schema.$ref];
      parts.push(this.#definition(schema.$ref));
    }
    for (const part of parts.map((part) => this.#facts(part, seen))) {
      facts.isObject ||= part.isObject;
      facts.isScalar ||= part.isScalar;
      for (const name of part.required) facts.required.add(name);
      for (const [name, values] of part.tags) facts.tags.set(name, facts.tags.get(name) ?? values);
    }
    return facts;
  }

  /** The scalars that a schema lists, if it lists any. */
  #values(schema: Schema): Json[] | undefined {
    const { $ref } = schema;
    const { const: constant, enum: values } = typeof $ref === "string"
      ? this.#definition($ref)
      : schema;
    const list = constant === undefined ? values : [constant];
    return Array.isArray(list) && list.length > 0 && list.every(isScalar) ? list : undefined;
  }
}

interface Facts {
  isObject: boolean;
  isScalar: boolean;
  readonly required: Set<string>;
  readonly tags: Map<string, Json[]>;
}

function isScalar(value: Json): boolean {
  return typeof value !== "object" || value === null;
}

/** The schema of one value. */
function exactly(value: Json): Schema {
  if (Array.isArray(value)) {
    const { length } = value;
    const prefixItems = value.map(exactly);
    return { type: "array", minItems: length, maxItems: length, prefixItems };
  }
  if (!isObject(value)) return { const: value };
  return {
    type: "object",
    required: Object.keys(value),
    properties: Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, exactly(item)]),
    ),
    additionalProperties: { not: {} },
  };
}
