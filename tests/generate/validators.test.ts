import { expect } from "@std/expect";
import { Ajv2020 } from "ajv/dist/2020.js";
import { answering, description, type Issues, validatorOf, validatorsOf } from "./support.ts";

const tree = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string" },
    next: { anyOf: [{ $ref: "#/components/schemas/Tree" }, { type: "null" }] },
    children: { type: "array", items: { $ref: "#/components/schemas/Tree" } },
  },
};
const components = {
  schemas: {
    Tree: tree,
    Cat: {
      type: "object",
      required: ["kind", "lives"],
      properties: { kind: { const: "cat" }, lives: { type: "integer" } },
    },
    Dog: {
      allOf: [
        {
          type: "object",
          required: ["kind"],
          properties: { kind: { type: "string", enum: ["dog", "puppy"] } },
        },
        { type: "object", required: ["barks"], properties: { barks: { type: "boolean" } } },
      ],
    },
  },
};
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Schemas that the validators and ajv itself have to agree on, value by value. */
const schemas: Record<string, unknown> = {
  "every value": {},
  "true": true,
  "no value": false,
  "boolean schemas": { properties: { a: true, b: false }, allOf: [{}] },
  "types": { type: ["string", "null", "integer"] },
  "objects or arrays": { type: ["object", "array"], minProperties: 1, minItems: 1 },
  "const": { const: "a" },
  "const null": { const: null },
  "const object": { const: { a: [1, { b: null }] } },
  "enum": { enum: ["a", 1, null, true] },
  "enum with objects": { enum: ["a", { a: 1 }, [1, 2], []] },
  "string limits": { type: "string", minLength: 2, maxLength: 3 },
  "limits without a type": { minLength: 2, minimum: 2, minItems: 2, minProperties: 2 },
  "pattern": { type: "string", pattern: "^[a-z/]+$" },
  "pattern with unicode": { type: "string", pattern: "^\\p{L}$" },
  "number limits": { type: "number", minimum: 1, exclusiveMaximum: 3 },
  "integer limits": { type: "integer", exclusiveMinimum: 1, maximum: 3 },
  "multipleOf": { type: "integer", multipleOf: 3 },
  "items": { type: "array", items: { type: "integer", minimum: 2 }, maxItems: 2 },
  "items of items": { type: "array", items: { type: "array", items: { type: "string" } } },
  "tuple": { type: "array", prefixItems: [{ type: "string" }, true], items: { type: "number" } },
  "closed tuple": { type: "array", prefixItems: [{ type: "string" }], items: false },
  "unique items": { type: "array", uniqueItems: true },
  "contains": { type: "array", contains: { type: "string" }, minContains: 1, maxContains: 2 },
  "contains objects": { contains: { type: "object", required: ["a"] } },
  "contains none": { contains: { type: "string" }, minContains: 0, maxContains: 1 },
  "fields": {
    type: "object",
    required: ["a", "z"],
    properties: { a: { type: "string" }, b: { type: "integer" }, c: true },
  },
  "fields without a type": { required: ["a"], properties: { a: { type: "string" } } },
  "fields with odd names": {
    type: "object",
    required: ["a/b", "a~b", 'a"b', ""],
    properties: { "a/b": { type: "string" }, "a~b": { type: "string" }, "\u2028": false },
  },
  "no other fields": { type: "object", properties: { a: {}, b: {} }, additionalProperties: false },
  "no fields at all": { type: "object", additionalProperties: false },
  "map": { type: "object", additionalProperties: { type: "integer" } },
  "map of maps": {
    type: "object",
    additionalProperties: { type: "object", additionalProperties: { type: "string" } },
  },
  "named and other fields": {
    type: "object",
    properties: { a: { type: "string" } },
    patternProperties: { "^x-": { type: "integer" } },
    additionalProperties: { type: "boolean" },
  },
  "propertyNames": { type: "object", propertyNames: { maxLength: 1 } },
  "propertyNames by enum": { propertyNames: { enum: ["a", "b"] } },
  "dependentRequired": { dependentRequired: { a: ["b", "c"] } },
  "dependentSchemas": { dependentSchemas: { a: { required: ["b"] }, b: { type: "object" } } },
  "not": { not: { type: "string" } },
  "not an object with": { not: { type: "object", required: ["a"] } },
  "if": { if: { type: "string" }, then: { minLength: 2 }, else: { type: "integer" } },
  "if without else": { if: { required: ["a"] }, then: { required: ["b"] } },
  "then without if": { then: { type: "string" } },
  "allOf": { allOf: [{ type: "string" }, { minLength: 2 }, {}] },
  "anyOf types": { anyOf: [{ type: "string" }, { type: "integer" }] },
  "anyOf objects": {
    anyOf: [{ type: "object", required: ["a"] }, { type: "object", required: ["b"] }],
  },
  "anyOf everything": { anyOf: [{ type: "string" }, {}] },
  "oneOf": {
    oneOf: [{ type: "number" }, { type: "integer", minimum: 3 }, {
      type: "object",
      required: ["a"],
    }],
  },
  "oneOf types that overlap": { oneOf: [{ type: "number" }, { type: "integer" }] },
  "union by tag": { oneOf: [ref("Cat"), ref("Dog")] },
  "union by tag or null": { oneOf: [ref("Cat"), ref("Dog"), { type: "null" }] },
  "anyOf by tag": { anyOf: [ref("Cat"), ref("Dog")], required: ["name"] },
  "union by boolean tag": {
    oneOf: [
      { type: "object", required: ["ok", "a"], properties: { ok: { const: true } } },
      { type: "object", required: ["ok"], properties: { ok: { const: false } } },
    ],
  },
  "union whose tag is optional": {
    oneOf: [
      { type: "object", properties: { kind: { const: "a" } } },
      { type: "object", properties: { kind: { const: "b" } } },
    ],
  },
  "union of schemas without a type": {
    anyOf: [
      { required: ["kind"], properties: { kind: { const: "a" } } },
      { required: ["kind"], properties: { kind: { const: "b" } } },
    ],
  },
  "reference": ref("Cat"),
  "reference and more": { ...ref("Cat"), required: ["a"] },
  "recursion": ref("Tree"),
  "names that ajv uses": {
    type: "object",
    required: ["instancePath"],
    properties: {
      instancePath: { type: "string", minLength: 2 },
      func1: { type: "integer", minimum: 1 },
      errors: { type: "object", required: ["path"], properties: { path: { type: "string" } } },
      valid0: { const: true },
    },
  },
  "names of every object": {
    type: "object",
    required: ["toString", "constructor", "__proto__"],
  },
};

const values: unknown[] = [
  ...[null, true, false, 0, 1, 1.5, 2, 3, 4, -1, "", "a", "ab", "abc", "abcd", "é", "😀", "😀😀"],
  ...[[], ["a"], [1], [1, 1], [1, 2], [3, "x"], ["a", "b", "c"], [[]], [["a"]], [[1]], ["a", 1, 2]],
  ...["a/b", [{ a: 1 }, { a: 1 }], [{ a: 1, b: 2 }, { b: 2, a: 1 }], [[1], { 0: 1 }]],
  ...[{}, { a: 1 }, { a: "a" }, { b: 1 }, { a: "a", z: 1 }, { a: 1, z: 1 }, {
    a: "a",
    b: "b",
    z: 0,
  }],
  ...[{ a: [1, { b: null }] }, { a: [1, { b: 0 }] }, { c: true }, { "x-a": 1 }, { "x-a": "b" }],
  ...[{ a: "a", "x-b": 1, c: true }, { a: { b: "c" } }, { a: { b: 1 } }, { a: 1, b: 2, c: 3 }],
  ...[{ kind: "cat", lives: 9 }, { kind: "cat", lives: "9" }, { kind: "cat" }, { kind: "fish" }],
  ...[{ kind: "dog", barks: true }, { kind: "puppy" }, { kind: 1 }, { kind: "a" }, { kind: "b" }],
  ...[{ ok: true }, { ok: true, a: 1 }, { ok: false }, { ok: 1 }, { kind: "cat", lives: 9, a: 1 }],
  ...[{ kind: "cat", lives: 9, name: "x" }, { name: "x" }, { name: 1 }, { name: "x", next: null }],
  ...[{ name: "x", next: { name: "y", next: { name: 1 } } }, { name: "x", children: [{}] }],
  ...[{ name: "x", children: [{ name: "y", children: [{ name: "z" }] }] }],
  ...[{ "a/b": "", "a~b": "", 'a"b': 0, "": 0 }, { "a/b": 1, "a~b": "", 'a"b': 0, "": 0 }],
  ...[{ instancePath: "ab" }, { instancePath: "a" }, { instancePath: "ab", func1: 0 }, { path: 1 }],
  ...[{ instancePath: "ab", errors: { path: 1 } }, { instancePath: "ab", valid0: false }],
  ...['{"__proto__": {"a": "a"}}', '{"__proto__": 1, "toString": "x", "constructor": 1}'].map(
    (text) => JSON.parse(text),
  ),
];

Deno.test("a validator accepts what ajv accepts and nothing else", async () => {
  const rejecting = new Set<string>();
  const names = Object.keys(schemas);
  const responses = (schema: unknown) => ({
    200: { description: "", content: { "application/json": { schema } } },
  });
  const paths = Object.fromEntries(
    names.map((name, i) => [
      `/${i}`,
      { get: { operationId: `value${i}`, responses: responses(schemas[name]) } },
    ]),
  );
  const { validators } = await validatorsOf(description(paths, { components }));
  // ajv's way with names that every object inherits is an option.
  const ajv = new Ajv2020({ strict: false, ownProperties: true, logger: false });
  for (const [index, name] of names.entries()) {
    const judge = ajv.compile({ allOf: [schemas[name]], components });
    for (const value of values) {
      const before = JSON.stringify(value);
      const issues = validators[`value${index}200`]!(value);
      expect([name, before, issues === undefined]).toEqual([name, before, judge(value)]);
      expect(JSON.stringify(value)).toBe(before);
      if (issues) {
        rejecting.add(name);
        expect(issues.length).toBeGreaterThan(0);
        for (const issue of issues) expect(Object.keys(issue)).toEqual(["path", "rule"]);
      }
    }
  }
  const open = names.filter((name) => !rejecting.has(name));
  expect(open).toEqual(["every value", "true", "then without if", "anyOf everything"]);
});

async function issuesOf(schema: unknown, value: unknown): Promise<Issues> {
  return (await validatorOf(schema, { components }))(value);
}

Deno.test("a validator names the field that is missing or wrong", async () => {
  const schema = { type: "object", required: ["data"], properties: { data: ref("Cat") } };
  expect(await issuesOf(schema, [])).toEqual([{ path: "", rule: "type" }]);
  expect(await issuesOf(schema, {})).toEqual([{ path: "/data", rule: "required" }]);
  expect(await issuesOf(schema, { data: { kind: "cat" } })).toEqual([
    { path: "/data/lives", rule: "required" },
  ]);
  expect(await issuesOf(schema, { data: { kind: "cat", lives: "9" } })).toEqual([
    { path: "/data/lives", rule: "type" },
  ]);
  expect(await issuesOf({ type: "array", items: schema }, [{ data: { kind: "cat" } }])).toEqual([
    { path: "/0/data/lives", rule: "required" },
  ]);
  expect(await issuesOf({ required: ["a/b~c"] }, {})).toEqual([
    { path: "/a~1b~0c", rule: "required" },
  ]);
});

Deno.test("a validator reports one branch of a union that is told apart by a tag", async () => {
  const schema = { oneOf: [ref("Cat"), ref("Dog")] };
  expect(await issuesOf(schema, { kind: "cat" })).toEqual([{ path: "/lives", rule: "required" }]);
  expect(await issuesOf(schema, { kind: "puppy" })).toEqual([{ path: "/barks", rule: "required" }]);
  expect(await issuesOf(schema, { kind: "fish" })).toEqual([{ path: "/kind", rule: "enum" }]);
  expect(await issuesOf(schema, {})).toEqual([{ path: "/kind", rule: "required" }]);
  expect(await issuesOf(schema, null)).toEqual([{ path: "", rule: "type" }]);
});

Deno.test("a validator reports what is closest in other unions", async () => {
  const nullable = { anyOf: [ref("Tree"), { type: "null" }] };
  expect(await issuesOf(nullable, { name: 1 })).toEqual([{ path: "/name", rule: "type" }]);
  expect(await issuesOf(nullable, 1)).toEqual([{ path: "", rule: "anyOf" }]);
  const overlapping = { oneOf: [{ type: "number" }, { type: "integer" }] };
  expect(await issuesOf(overlapping, 1)).toEqual([{ path: "", rule: "oneOf" }]);
  expect(await issuesOf(overlapping, "1")).toEqual([{ path: "", rule: "oneOf" }]);
});

Deno.test("a validator keeps the names and values of the answer to itself", async () => {
  const secret = "s3cr3t";
  const map = { type: "object", additionalProperties: { type: "array", items: ref("Cat") } };
  const issues = await issuesOf(map, { [secret]: [{ kind: "cat", lives: secret }] });
  expect(issues).toEqual([{ path: "/*/0/lives", rule: "type" }]);
  const closed = { type: "object", additionalProperties: false };
  expect(await issuesOf(closed, { [secret]: 1 })).toEqual([
    { path: "", rule: "additionalProperties" },
  ]);
});

Deno.test("a validator is not fooled by what objects inherit", async () => {
  const schema = { type: "object", required: ["toString"], properties: { credits: ref("Cat") } };
  expect(await issuesOf(schema, {})).toEqual([{ path: "/toString", rule: "required" }]);
  const proto = JSON.parse('{"__proto__": {"kind": "cat", "lives": 9}}');
  expect(await issuesOf(ref("Cat"), proto)).toEqual([{ path: "/kind", rule: "required" }]);
  const closed = { type: "object", properties: { a: {} }, additionalProperties: false };
  expect(await issuesOf(closed, proto)).toEqual([{ path: "", rule: "additionalProperties" }]);
});

Deno.test("a validator measures numbers and texts as JSON Schema does", async () => {
  const fits = async (schema: unknown, value: unknown) =>
    await issuesOf(schema, value) === undefined;
  expect(await fits({ multipleOf: 0.01 }, 0.07)).toBe(true);
  expect(await fits({ multipleOf: 0.01 }, 0.075)).toBe(false);
  expect(await fits({ type: "integer" }, JSON.parse("1e999"))).toBe(false);
  expect(await fits({ type: "integer" }, 1.0)).toBe(true);
  expect(await fits({ maxLength: 1 }, "😀")).toBe(true);
  expect(await fits({ pattern: "^.$" }, "😀")).toBe(true);
  expect(await fits({ pattern: "^\\-\\_$" }, "-_")).toBe(true); // not allowed with "u"
});

Deno.test("a validator skips what has no meaning at run time and never misreads it", async () => {
  const fits = await validatorOf({
    type: "string",
    format: "uuid",
    contentEncoding: "base64",
    default: 1,
    deprecated: true,
    examples: [1],
    title: "A title",
    "x-note": { type: "integer" },
    pattern: "(?<broken", // no regular expression
  });
  expect(fits("anything")).toBeUndefined();
  expect(fits(1)).toEqual([{ path: "", rule: "type" }]);
});

Deno.test("a validator does not require of a response what only requests have", async () => {
  const fits = await validatorOf({
    type: "object",
    required: ["name", "password", "secret"],
    properties: {
      name: { type: "string" },
      password: { type: "string", writeOnly: true },
      secret: { $ref: "#/components/schemas/Secret" },
    },
  }, { components: { schemas: { Secret: { type: "string", writeOnly: true } } } });
  expect(fits({ name: "a" })).toBeUndefined();
  expect(fits({ name: "a", password: 1 })).toEqual([{ path: "/password", rule: "type" }]);
  expect(fits({})).toEqual([{ path: "/name", rule: "required" }]);
});

const openapi30 = { openapi: "3.0.3" };

Deno.test("a validator reads the keywords of OpenAPI 3.0", async () => {
  const all = { type: "object", properties: { a: { type: "string" } } };
  const cases: [schema: unknown, fits: unknown[], fails: unknown[]][] = [
    [{ type: "string", nullable: true }, [null, "a"], [1]],
    [{ type: "string", nullable: true, enum: ["a"] }, [null, "a"], ["b"]],
    [{ type: "integer", minimum: 1, exclusiveMinimum: true }, [2], [1, 0]],
    [{ type: "integer", minimum: 1, exclusiveMinimum: false }, [1, 2], [0]],
    [{ type: "number", maximum: 3, exclusiveMaximum: true }, [2.9], [3]],
    [{ nullable: true, allOf: [ref("All")] }, [null, { a: "a" }], [{ a: 1 }, 1]],
    [{ type: "object", nullable: true, oneOf: [ref("All")] }, [null, {}], [1]],
    [{ ...ref("All"), required: ["b"], nullable: true }, [{}], [null, { a: 1 }]],
    [{ ...all, additionalProperties: false }, [{}, { a: "a" }], [{ b: 1 }]],
  ];
  for (const [schema, fits, fails] of cases) {
    const components = { schemas: { All: all } };
    const validate = await validatorOf(schema, { ...openapi30, components });
    for (const value of fits) {
      expect([schema, value, validate(value)]).toEqual([schema, value, undefined]);
    }
    for (const value of fails) {
      expect([schema, value, validate(value) === undefined]).toEqual([schema, value, false]);
    }
  }
});

Deno.test("a validator follows the discriminator where schemas do not tell themselves apart", async () => {
  const animal = (field: string) => ({
    type: "object",
    required: ["kind"],
    properties: { kind: { type: "string" }, [field]: { type: "integer" } },
  });
  const schemas = { Cat: animal("lives"), Dog: animal("age"), Fish: animal("depth") };
  const branches = { oneOf: [ref("Cat"), ref("Dog"), ref("Fish")] };
  const mapping = {
    cat: "#/components/schemas/Cat",
    tiger: "#/components/schemas/Cat",
    dog: "Dog",
  };
  const discriminator = { propertyName: "kind", mapping };
  const validate = await validatorOf({ ...branches, discriminator }, {
    ...openapi30,
    components: { schemas },
  });
  for (const kind of ["cat", "tiger", "dog", "Fish"]) expect(validate({ kind })).toBeUndefined();
  expect(validate({ kind: "tiger", lives: "9" })).toEqual([{ path: "/lives", rule: "type" }]);
  expect(validate({ kind: "Dog" })).toEqual([{ path: "/kind", rule: "discriminator" }]);
  expect(validate({})).toEqual([{ path: "/kind", rule: "required" }]);
});

Deno.test("a validator accepts any of the JSON-like media types of a status", async () => {
  const content = {
    "application/json": { schema: { type: "string" } },
    "application/problem+json; charset=utf-8": { schema: { type: "integer" } },
    "text/csv": { schema: { type: "boolean" } },
  };
  const responses = {
    200: { description: "", content },
    201: { description: "", content: { "text/plain": {}, "*/*": {} } },
    204: { description: "" },
    "2XX": { description: "", content: { "application/json": {} } },
    400: { description: "", content },
    default: { description: "", content },
  };
  const get = { operationId: "value", responses };
  const { validators } = await validatorsOf(description({ "/value": { get } }));
  expect(Object.keys(validators).sort()).toEqual(["value200", "value2XX"]);
  expect(validators.value200!("a")).toBeUndefined();
  expect(validators.value200!(1)).toBeUndefined();
  expect(validators.value200!(true)).toEqual([{ path: "", rule: "anyOf" }]);
  expect(validators.value2XX!(true)).toBeUndefined();
});

Deno.test("validators are TypeScript without imports, directives or effects of their own", async () => {
  const { code } = await validatorsOf(answering(ref("Tree"), { components }));
  expect(code).not.toMatch(/\b(import|require|any|new Function|eval)\b|@ts-/);
  const statements = code.replaceAll(/\/\*[^]*?\*\//g, "").split("\n").filter((line) =>
    /^\S/.test(line)
  );
  for (const statement of statements) {
    expect(statement).toMatch(/^(export (interface|type|const)|function|\/\/|[})])/);
  }
});
