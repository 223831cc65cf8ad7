/** Writes the checks of responses: functions as people write them by hand. @module */

import { type Any, escape, partsOf, type Resolve, typesOf, valuesOf } from "./schemas.ts";
import { areDistinct, findTag, type Tag } from "./unions.ts";

/** Writes a condition, given how a value is written and what its schema has for a keyword. */
type Write = (value: string, limit: Any) => string;

const literal = JSON.stringify;

/** What tells whether a value has a type, where `typeof` does not. */
const typeTests: Record<string, string> = {
  array: "Array.isArray",
  integer: "Number.isInteger",
  object: "isObject",
};

/** Writes that a value has a type, or does not have it. */
function compareType(value: string, is: "===" | "!==", type: string): string {
  if (type in typeTests) return `${is === "===" ? "" : "!"}${typeTests[type]}(${value})`;
  return type === "null" ? `${value} ${is} null` : `typeof ${value} ${is} "${type}"`;
}

/** Returns the type that a type is a part of, or itself. */
const toKind = (type: string) => type === "integer" ? "number" : type;

const isOneOf: Write = (value, types) =>
  [types].flat().map((type) => compareType(value, "===", type)).join(" || ");

const isNoneOf: Write = (value, types) =>
  [types].flat().map((type) => compareType(value, "!==", type)).join(" && ");

/** What refuses a value, by the type of values and the keyword; parts of the value come later. */
const faults: Record<string, Record<string, Write>> = {
  any: {
    type: isNoneOf,
    enum: (value, values) => `!${literal(values)}.includes(${value})`,
    const: (value, constant) => `${value} !== ${literal(constant)}`,
  },
  number: {
    minimum: (value, limit) => `${value} < ${limit}`,
    maximum: (value, limit) => `${value} > ${limit}`,
    exclusiveMinimum: (value, limit) => `${value} <= ${limit}`,
    exclusiveMaximum: (value, limit) => `${value} >= ${limit}`,
  },
  string: {
    minLength: (value, limit) => `lengthOf(${value}) < ${limit}`,
    maxLength: (value, limit) => `lengthOf(${value}) > ${limit}`,
    pattern: (value, pattern) => `!${new RegExp(pattern, "u")}.test(${value})`,
  },
  array: {
    minItems: (value, limit) => `${value}.length < ${limit}`,
    maxItems: (value, limit) => `${value}.length > ${limit}`,
    uniqueItems: (value, isSet) => `${isSet} && new Set(${value}).size < ${value}.length`,
  },
  object: {
    minProperties: (value, limit) => `Object.keys(${value}).length < ${limit}`,
    maxProperties: (value, limit) => `Object.keys(${value}).length > ${limit}`,
  },
};

/** The keywords that are checked. `oneOf` is checked like `anyOf`: types do not tell them apart. */
export const keywords: readonly string[] = [
  ...Object.values(faults).flatMap((group) => Object.keys(group)),
  ..."properties required additionalProperties items allOf anyOf oneOf".split(" "),
];

/** How a value is written, and where it is. */
interface Place {
  value: string;
  path: string;
  /** Whether the value is known to have the type of its schema. */
  hasType?: boolean;
}

/** Returns the place of a property. */
function placeOf(name: string, { value, path }: Place): Place {
  const isPlain = /^[a-z_$][\w$]*$/i.test(name);
  const member = isPlain ? `${value}.${name}` : `${value}[${literal(name)}]`;
  return { value: member, path: `${path}/${escape(name)}` };
}

const when = (condition: string, statements: string) =>
  statements && `if (${condition}) { ${statements} }`;

const refuse = (rule: string, { path }: Place) =>
  `return issueAt(${literal(path)}, ${literal(rule)});`;

const has: Write = (value, name) => `has(${value}, ${literal(name)})`;

const mustHave = (name: string, place: Place) =>
  when(`!${has(place.value, name)}`, refuse("required", placeOf(name, place)));

/** Writes that the issue of a call is returned. */
const find = (call: string) => `const issue = ${call}; if (issue) return issue;`;

const findAt = (name: string, { value, path }: Place, ...args: string[]) =>
  find(`${name}(${literal(path)}, ${value}, ${args.join(", ")})`);

/** Joins statements; where there are several, each constant gets a block of its own. */
function join(...statements: (string | false)[]): string {
  const list = statements.filter(Boolean) as string[];
  if (list.length === 1) return list[0]!;
  return list.map((text) => text.startsWith("const ") ? `{ ${text} }` : text).join("\n");
}

/** Returns the name of the check of a component or an operation: each has one of its own. */
export const checkName = (name: string): string =>
  `check${name.replace(/\W/g, (character) => `$${character.charCodeAt(0)}$`)}`;

/**
 * Writes functions that return the first issue of a value, for schemas by the names of their checks,
 * and for the components that they refer to.
 */
export function writeChecks(schemas: Map<string, Any>, resolve: Resolve): string {
  const all = new Map(schemas);

  /** Writes the function that checks a schema: of a reference, its name. */
  const functionOf = (schema: Any): string => {
    if (!schema.$ref) return `(value) => { ${write(schema, { value: "value", path: "" })} }`;
    const name = checkName(schema.$ref.split("/").at(-1));
    all.set(name, resolve(schema));
    return name;
  };

  /** Writes statements that return the first issue of a value. */
  function write(schema: Any, { hasType, ...place }: Place): string {
    const { value } = place;
    if (typeof schema === "boolean") return schema ? "" : refuse("false", place);
    if (schema.$ref) {
      const check = functionOf(schema);
      return place.path ? findAt("findInPart", place, check) : find(`${check}(${value})`);
    }
    const { type, properties = {}, required = [], additionalProperties = true, items } = schema;
    const { allOf = [], anyOf, oneOf } = schema;
    const parts = partsOf(schema, resolve);
    const expected: string[] = required.filter((name: string) =>
      !parts.some((part) => part.properties?.[name]?.writeOnly)
    );
    const isTyped = hasType || valuesOf(schema).length > 0; // `enum` and `const` tell types, too
    const refuseAll = (group: string) =>
      Object.entries(faults[group]!)
        .filter(([rule]) => rule in schema && !(rule === "type" && isTyped))
        .map(([rule, fault]) => when(fault(value, schema[rule]), refuse(rule, place)));
    const only = (group: string, ...statements: (string | false)[]) => {
      const text = join(...refuseAll(group), ...statements);
      return toKind(`${type}`) === group ? text : when(isOneOf(value, group), text);
    };
    const property = (name: string) => {
      const text = write(properties[name], placeOf(name, place));
      return expected.includes(name) ? text : when(has(value, name), text);
    };
    const known = literal(Object.keys(properties));
    const other = additionalProperties
      ? functionOf(additionalProperties)
      : '() => issueAt("", "additionalProperties")';
    return join(
      ...refuseAll("any"),
      only("number"),
      only("string"),
      only("array", items !== undefined && findAt("findInItems", place, functionOf(items))),
      only(
        "object",
        ...expected.map((name) => mustHave(name, place)),
        ...Object.keys(properties).map(property),
        additionalProperties !== true && findAt("findInOthers", place, known, other),
      ),
      ...allOf.map((part: Any) => write(part, place)),
      anyOf && writeUnion(anyOf, place),
      oneOf && writeUnion(oneOf, place),
    );
  }

  /** Writes the checks of a union: of one branch, if its type or a tag tells which one is meant. */
  function writeUnion(schemas: Any[], place: Place): string {
    const { value } = place;
    const branches = schemas.map((schema) => {
      const types = typesOf(schema, resolve);
      return { schema, types, text: write(schema, { ...place, hasType: true }) };
    });
    const objects = branches.filter(({ types }) => `${types}` === "object");
    const tag = objects.length > 1 && findTag(objects.map(({ schema }) => schema), resolve);
    const kinds = !tag ? branches : [
      { types: ["object"], text: writeSwitch(tag, objects.map(({ text }) => text), place) },
      ...branches.filter((branch) => !objects.includes(branch)),
    ];
    const types = kinds.map(({ types }) => types);
    if (!areDistinct(types.map((list) => list.map(toKind)))) {
      const checks = schemas.map(functionOf).join(", ");
      return when(`!matchesAny(${value}, [${checks}])`, refuse("anyOf", place));
    }
    return join(
      when(isNoneOf(value, types.flat()), refuse("type", place)),
      ...kinds.map(({ types, text }) =>
        kinds.length > 1 ? when(isOneOf(value, types), text) : text
      ),
    );
  }

  const functions: string[] = [];
  for (const [name, schema] of all) { // also those that are added meanwhile
    functions.push(`export const ${name}: Check = ${functionOf(schema)};`);
  }
  return functions.join("\n\n");
}

/** Writes the checks of objects, given how each is checked that has constants of its own in a tag. */
function writeSwitch({ name, constants }: Tag, texts: string[], place: Place): string {
  const tag = placeOf(name, place);
  const cases = texts.map((text, index) => {
    const labels = constants[index]!.map((constant) => `case ${literal(constant)}:`);
    return `${labels.join(" ")} { ${text} break; }`;
  });
  cases.push(`default: ${refuse("enum", tag)}`);
  return join(mustHave(name, place), `switch (${tag.value}) { ${cases.join(" ")} }`);
}
