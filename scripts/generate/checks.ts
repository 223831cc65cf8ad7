/** Writes the checks of responses: functions as people write them by hand. @module */

import { type Any, escape, partsOf, type Resolve, typesOf } from "./schemas.ts";
import { areDistinct, findTag } from "./unions.ts";

/** Writes a condition, given how a value is written and what its schema has for a keyword. */
type Write = (value: string, limit: Any) => string;

const literal = JSON.stringify;

/** What tells whether a value has a type. */
const typeConditions: Record<string, (value: string) => string> = {
  array: (value) => `Array.isArray(${value})`,
  boolean: (value) => `typeof ${value} === "boolean"`,
  integer: (value) => `Number.isInteger(${value})`,
  null: (value) => `${value} === null`,
  number: (value) => `typeof ${value} === "number"`,
  object: (value) => `isObject(${value})`,
  string: (value) => `typeof ${value} === "string"`,
};

const isOneOf: Write = (value, types) =>
  [types].flat().map((type: string) => typeConditions[type]!(value)).join(" || ");

/** The keywords that say nothing of the parts of a value, by the type of values that they are for. */
const conditions: Record<string, Record<string, Write>> = {
  any: {
    type: isOneOf,
    enum: (value, values) => `${literal(values)}.includes(${value})`,
    const: (value, constant) => `${value} === ${literal(constant)}`,
  },
  number: {
    minimum: (value, limit) => `${value} >= ${limit}`,
    maximum: (value, limit) => `${value} <= ${limit}`,
    exclusiveMinimum: (value, limit) => `${value} > ${limit}`,
    exclusiveMaximum: (value, limit) => `${value} < ${limit}`,
  },
  string: {
    minLength: (value, limit) => `lengthOf(${value}) >= ${limit}`,
    maxLength: (value, limit) => `lengthOf(${value}) <= ${limit}`,
    pattern: (value, pattern) => `${new RegExp(pattern, "u")}.test(${value})`,
  },
  array: {
    minItems: (value, limit) => `${value}.length >= ${limit}`,
    maxItems: (value, limit) => `${value}.length <= ${limit}`,
    uniqueItems: (value, isSet) => isSet ? `new Set(${value}).size === ${value}.length` : "true",
  },
  object: {
    minProperties: (value, limit) => `Object.keys(${value}).length >= ${limit}`,
    maxProperties: (value, limit) => `Object.keys(${value}).length <= ${limit}`,
  },
};

/** The keywords that are checked. `oneOf` is checked like `anyOf`: types do not tell them apart. */
export const keywords: readonly string[] = [
  ...Object.values(conditions).flatMap((group) => Object.keys(group)),
  ..."properties required additionalProperties items allOf anyOf oneOf".split(" "),
];

/** How a value is written, and where it is. */
interface Place {
  value: string;
  path: string;
  /** The names of properties that only requests have. */
  hidden?: string[];
  /** Whether the value is known to have the type of its schema. */
  hasType?: boolean;
}

/** Writes how a property of a value is read. */
const member: Write = (value, name) =>
  /^[a-z_$][\w$]*$/i.test(name) ? `${value}.${name}` : `${value}[${literal(name)}]`;

const has: Write = (value, name) => `has(${value}, ${literal(name)})`;

const lines = (...statements: unknown[]) => statements.filter(Boolean).join("\n");

const when = (condition: string, statements: string) =>
  statements && `if (${condition}) { ${statements} }`;

const refuse = (rule: string, path: string) =>
  `return issueAt(${literal(path)}, ${literal(rule)});`;

const must = (condition: string, rule: string, path: string) =>
  when(not(condition), refuse(rule, path));

/** Writes the opposite of a condition, without parentheses around a call. */
const not = (condition: string) =>
  /^[\w.]+\([^()]*\)$/.test(condition) ? `!${condition}` : `!(${condition})`;

/** Writes that the issue of a call is returned. */
const find = (call: string) => `{ const issue = ${call}; if (issue) return issue; }`;

/** Returns the name of the function that checks a schema. */
export const checkName = (schema: string): string => `check${schema.replace(/\W/g, "_")}`;

/**
 * Writes functions that return the first issue of a value, for schemas by their names, and for the
 * components that they refer to.
 */
export function writeChecks(schemas: Map<string, Any>, resolve: Resolve): string {
  const all = new Map(schemas);

  /** Writes the function that checks a schema: of a reference, its name. */
  const functionOf = (schema: Any): string => {
    if (!schema.$ref) return `(value) => { ${write(schema, { value: "value", path: "" })} }`;
    const name = schema.$ref.split("/").at(-1);
    all.set(name, resolve(schema));
    return checkName(name);
  };

  /** Writes statements that return the first issue of a value. */
  function write(schema: Any, place: Place): string {
    const { value, path, hidden = [], hasType } = place;
    if (typeof schema === "boolean") return schema ? "" : refuse("false", path);
    if (schema.$ref) {
      const check = functionOf(schema);
      return find(path ? `checkAt(${literal(path)}, ${value}, ${check})` : `${check}(${value})`);
    }
    const { type, properties = {}, required = [], additionalProperties: others, items } = schema;
    const { allOf = [], anyOf, oneOf } = schema;
    const writeOnly = partsOf(schema, resolve).flatMap((part) =>
      Object.keys(part.properties ?? {}).filter((name) => part.properties[name].writeOnly)
    );
    const lacking = [...hidden, ...writeOnly];
    const expected: string[] = required.filter((name: string) => !lacking.includes(name));
    const pathOf = (name: string) => `${path}/${escape(name)}`;

    const mustAll = (group: string) =>
      Object.entries(conditions[group]!)
        .filter(([rule]) => rule in schema && !(hasType && rule === "type"))
        .map(([rule, condition]) => must(condition(value, schema[rule]), rule, path));
    const only = (group: string, ...statements: unknown[]) => {
      const text = lines(...mustAll(group), ...statements);
      return `${type}` === group ? text : when(isOneOf(value, group), text);
    };
    const property = (name: string) => {
      const at = { value: member(value, name), path: pathOf(name) };
      const text = write(properties[name], at);
      return expected.includes(name) ? text : when(has(value, name), text);
    };
    const other = others === false
      ? '() => issueAt("", "additionalProperties")'
      : functionOf(others ?? true);
    const known = literal(Object.keys(properties));
    return lines(
      ...mustAll("any"),
      only("number"),
      only("string"),
      only(
        "array",
        items !== undefined && find(`checkItems(${literal(path)}, ${value}, ${functionOf(items)})`),
      ),
      only(
        "object",
        ...expected.map((name) => must(has(value, name), "required", pathOf(name))),
        ...Object.keys(properties).map(property),
        (others ?? true) !== true &&
          find(`checkOthers(${literal(path)}, ${value}, ${known}, ${other})`),
      ),
      // What is hidden may be in another part, so that parts are written anew.
      ...allOf.map((part: Any) =>
        write(lacking.length > 0 ? resolve(part) : part, { value, path, hidden: lacking })
      ),
      anyOf && writeUnion(anyOf, place),
      oneOf && writeUnion(oneOf, place),
    );
  }

  /** Writes the checks of a union: of one branch, if its type or a tag tells which one is meant. */
  function writeUnion(schemas: Any[], { value, path }: Place): string {
    const branches = schemas.map((schema) => ({ schema, types: typesOf(schema, resolve) }));
    const objects = branches.filter(({ types }) => `${types}` === "object");
    const tag = objects.length > 1 && findTag(objects.map(({ schema }) => schema), resolve);
    const others = tag ? branches.filter((branch) => !objects.includes(branch)) : branches;
    const kinds = others.map(({ types }) => types.map((type) => type.replace("integer", "number")));
    if (!areDistinct(tag ? [["object"], ...kinds] : kinds)) {
      return must(`matchesAny(${value}, [${schemas.map(functionOf).join(", ")}])`, "anyOf", path);
    }
    const textOf = (schema: Any) => write(schema, { value, path, hasType: true });
    const texts = others.map(({ schema, types }) => ({ types, text: textOf(schema) }));
    const bare = texts.filter(({ text }) => !text).flatMap(({ types }) => types);
    const conditional = texts.map(({ text, types }) => when(isOneOf(value, types), text));
    if (tag) {
      const at = `${path}/${escape(tag.name)}`;
      const cases = tag.constants.map((constants, index) => [
        ...constants.map((constant) => `case ${literal(constant)}:`),
        `${textOf(objects[index]!.schema)} break;`,
      ]);
      conditional.push(`if (isObject(${value})) {
        ${must(has(value, tag.name), "required", at)}
        switch (${member(value, tag.name)}) {
          ${lines(...cases.flat())}
          default: ${refuse("enum", at)}
        }
      }`);
    }
    const last = bare.length > 0
      ? must(isOneOf(value, bare), "type", path)
      : `{ ${refuse("type", path)} }`;
    return [...conditional, last].filter(Boolean).join(" else ");
  }

  const functions: string[] = [];
  for (const [name, schema] of all) { // also those that are added meanwhile
    functions.push(`export const ${checkName(name)}: Check = ${functionOf(schema)};`);
  }
  return functions.join("\n\n");
}
