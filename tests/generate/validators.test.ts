import { expect } from "@std/expect";
import { generated, responding, validatorOf } from "./support.ts";

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const kind = (schema: unknown) => ({
  type: "object",
  required: ["kind"],
  properties: { kind: schema },
});
const schemas = {
  Tree: {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string" },
      next: { anyOf: [ref("Tree"), { type: "null" }] },
      children: { type: "array", items: ref("Tree") },
    },
  },
  Cat: {
    type: "object",
    required: ["lives", "kind"],
    properties: { kind: { const: "cat" }, lives: { type: "integer" } },
  },
  Dog: {
    allOf: [
      kind({ type: "string", enum: ["dog", "puppy"] }),
      { type: "object", required: ["barks"], properties: { barks: { type: "boolean" } } },
    ],
  },
  Fish: kind(ref("FishKind")),
  FishKind: { const: "fish" },
};

/** Two objects whose property "kind" has a constant, and that require "a" or "b". */
const tagged = (constants: unknown[]) =>
  ["a", "b"].map((name, index) => ({
    type: "object",
    required: ["kind", name],
    properties: { kind: { const: constants[index] }, [name]: {} },
  }));

/**
 * Values that match a schema, and values that do not, with the place and rule of the first problem.
 */
type Case = [schema: unknown, fits: unknown[], faults: [value: unknown, fault: string][]];

const cases: Record<string, Case> = {
  "a field that is missing or wrong": [
    { type: "object", required: ["data"], properties: { data: ref("Cat") } },
    [{ data: { kind: "cat", lives: 9, more: 1 }, more: 1 }],
    [
      [[], " type"],
      [{}, "/data required"],
      [{ data: { kind: "cat" } }, "/data/lives required"],
      [{ data: { kind: "cat", lives: "9" } }, "/data/lives type"],
    ],
  ],
  "what only requests or only responses have": [
    {
      type: "object",
      required: ["a", "b"],
      properties: { a: { writeOnly: true }, b: { readOnly: true } },
    },
    [{ b: 1 }, { a: 1, b: 1 }],
    [[{ a: 1 }, "/b required"]],
  ],
  "names with slashes and tildes": [
    {
      type: "object",
      required: ["a/b~c"],
      properties: {
        "a/b~c": {
          type: "array",
          items: { type: "object", required: ["~/"], properties: { "~/": {} } },
        },
      },
    },
    [{ "a/b~c": [] }],
    [[{}, "/a~1b~0c required"], [{ "a/b~c": [{}] }, "/a~1b~0c/0/~0~1 required"]],
  ],
  "a union with a required constant in each branch": [
    { oneOf: [ref("Cat"), ref("Dog"), ref("Fish")] },
    [{ kind: "cat", lives: 9 }, { kind: "puppy", barks: true }, { kind: "fish" }],
    [
      [{ kind: "cat" }, "/lives required"],
      [{ kind: "dog" }, "/barks required"],
      [{ kind: "bird" }, "/kind const"],
      [{}, "/kind required"],
      [null, " type"],
    ],
  ],
  "a union with constants and different types": [
    { anyOf: [ref("Cat"), { type: "null" }, ref("Fish"), { type: "string", maxLength: 1 }] },
    [null, "a", { kind: "fish" }],
    [
      ["ab", " maxLength"],
      [1, " type"],
      [{ kind: "cat" }, "/lives required"],
      [{ kind: "dog" }, "/kind const"],
    ],
  ],
  "a schema that may be null and refers to itself": [
    ref("Tree"),
    [{ name: "a", next: { name: "b", next: null }, children: [{ name: "c" }] }],
    [
      [{ name: "a", next: { name: "b", next: { name: 1 } } }, "/next/next/name type"],
      [{ name: "a", next: [] }, "/next type"],
    ],
  ],
  "what is beside `type: object`": [
    {
      type: "object",
      required: ["id"],
      properties: { id: { type: "integer" } },
      oneOf: [ref("Cat"), { type: "object", allOf: [ref("Fish")] }],
    },
    [{ id: 1, kind: "fish" }, { id: 1, kind: "cat", lives: 9 }],
    [
      [{ kind: "fish" }, "/id required"],
      [{ id: 1, kind: "cat" }, "/lives required"],
      [{ id: 1, kind: "dog" }, "/kind const"],
      [1, " type"],
    ],
  ],
  "a union whose branches overlap": [
    { oneOf: [{ type: "number" }, { type: "integer" }] },
    [1.5],
    [[1, " oneOf"], ["1", " oneOf"]],
  ],
  "a union whose constant is not required": [
    {
      oneOf: ["a", "b"].map((kind) => ({ type: "object", properties: { kind: { const: kind } } })),
    },
    [{ kind: "a" }],
    [[{}, " oneOf"], [{ kind: "c" }, " oneOf"]],
  ],
  "a union with constants of different types": [
    { oneOf: tagged([true, "b"]) },
    [{ kind: true, a: 1 }, { kind: "b", b: 1 }],
    [[{ kind: true }, "/a required"], [{ kind: "b" }, "/b required"], [{ kind: 1 }, "/kind const"]],
  ],
  "a union whose constants are equal": [
    { oneOf: tagged(["x", "x"]) },
    [{ kind: "x", a: 1 }, { kind: "x", b: 1 }],
    [[{ kind: "x" }, " oneOf"], [{ kind: "x", a: 1, b: 1 }, " oneOf"]],
  ],
  "an enum that is left open": [
    { anyOf: [{ enum: ["safe", "suspicious"] }, { type: "string" }] },
    ["safe", "new"],
    [[1, " anyOf"]],
  ],
  "a union with more in common than its constant": [
    {
      oneOf: ["a", "b"].map((name) => ({
        type: "object",
        required: ["id", "kind"],
        properties: { id: { type: "integer" }, kind: { const: name } },
      })),
    },
    [{ id: 1, kind: "a" }, { id: 1, kind: "b" }],
    [[{ id: "1", kind: "b" }, "/id type"], [{ id: 1, kind: "c" }, "/kind const"]],
  ],
  "a union with a constant in one branch": [
    { oneOf: [ref("Cat"), { type: "object", required: ["wings"], properties: { wings: {} } }] },
    [{ kind: "cat", lives: 9 }, { wings: 2 }],
    [[{}, " oneOf"]],
  ],
  "a union whose constant only requests have": [
    {
      oneOf: ["a", "b"].map((name) => ({
        type: "object",
        required: ["kind", name],
        properties: { kind: { const: name, writeOnly: true }, [name]: {} },
      })),
    },
    [{ a: 1 }, { b: 1 }],
    [[{}, " oneOf"]],
  ],
  "a union next to another": [
    { allOf: [{ oneOf: [ref("Cat"), ref("Fish")] }, { anyOf: tagged(["fish", "fish"]) }] },
    [{ kind: "fish", a: 1 }],
    [[{ kind: "fish" }, " anyOf"], [{ kind: "cat", a: 1 }, "/lives required"]],
  ],
  "properties that are not inherited, and numbers that JavaScript has": [
    { type: "object", required: ["a"], properties: { a: {}, size: { type: "integer" } } },
    [{ a: 1 }],
    [
      [JSON.parse('{"__proto__":{"a":1}}'), "/a required"],
      [JSON.parse('{"a":1,"size":1e999}'), "/size type"],
    ],
  ],
  "characters of more than one unit": [
    { type: "string", maxLength: 1, pattern: "^\\p{Emoji}$" },
    ["😀"],
    [["😀😀", " maxLength"], ["a", " pattern"]],
  ],
  "annotations, which are not checked": [
    { type: "string", format: "uuid", default: "a", example: "b", title: "c", examples: ["d"] },
    ["anything"],
    [],
  ],
};

for (const [name, [schema, fits, faults]] of Object.entries(cases)) {
  Deno.test(`a validator checks ${name}`, async () => {
    const validate = await validatorOf(schema, { schemas });
    for (const value of fits) expect([value, validate(value)]).toEqual([value, undefined]);
    for (const [value, fault] of faults) {
      const text = JSON.stringify(value);
      const issues = validate(value)?.map(({ path, rule }) => `${path} ${rule}`);
      expect([value, issues]).toEqual([value, [fault]]);
      expect(JSON.stringify(value)).toBe(text);
    }
  });
}

const keywords: [schema: Record<string, unknown>, fits: unknown, fault: unknown][] = [
  [{ enum: [1, null] }, null, 2],
  [{ type: ["integer", "null"] }, null, "1"],
  [{ type: "string", minLength: 1 }, "a", ""],
  [{ type: "number", minimum: 1 }, 1, 0],
  [{ type: "number", maximum: 1 }, 1, 2],
  [{ type: "number", exclusiveMinimum: 1 }, 2, 1],
  [{ type: "integer", exclusiveMaximum: 1 }, 0, 1],
  [{ type: "array", minItems: 1 }, [1], []],
  [{ type: "array", maxItems: 1 }, [1], [1, 2]],
  [{ type: "array", items: { type: "integer" }, uniqueItems: true }, [1, 2], [1, 1]],
  [{ type: "object", properties: { a: {} }, additionalProperties: false }, { a: 1 }, { b: 1 }],
];

Deno.test("a validator checks each keyword of JSON Schema that restricts values", async () => {
  for (const [schema, fits, fault] of keywords) {
    const validate = await validatorOf(schema);
    expect([schema, validate(fits)]).toEqual([schema, undefined]);
    expect([schema, validate(fault)]).toEqual([schema, [expect.anything()]]);
  }
});

Deno.test("the issues of a validator have no names and values of the response", async () => {
  const secret = "s3cr3t";
  const open: Record<string, unknown> = {
    additionalProperties: {
      type: "object",
      additionalProperties: { type: "array", items: ref("Cat") },
    },
    closed: { type: "object", properties: { a: {} }, additionalProperties: false },
  };
  for (const [name, schema] of Object.entries(open)) {
    const validate = await validatorOf(schema, { schemas });
    const issues = validate({ [secret]: [{ kind: "cat", lives: secret }] });
    expect([name, issues?.length]).toEqual([name, 1]);
    expect(issues?.[0]?.path).toMatch(/^\/\*(\/0\/lives)?$/);
    expect(JSON.stringify(issues)).not.toContain(secret);
  }
});

Deno.test("validators build no code when they run", async () => {
  const schema = { anyOf: Object.values(cases).map(([schema]) => schema) };
  const { code } = await generated(responding(schema, { schemas }));
  expect(code).not.toMatch(/\b(eval|Function)\s*\(|\bimport\b(?! type)|\brequire\s*\(/);
});
