// What is generated from a document: the table, validators and types, and what is sent and checked.
import { expect } from "@std/expect";
import { join } from "node:path";
import type { Folder } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";
import { has, type Operation } from "../support/internals.ts";
import {
  documentOf,
  type Fields,
  json,
  operationOf,
  projectWith,
  ref,
  responding,
} from "./support.ts";

const generate = ({ path }: Folder, ...args: string[]) =>
  run(deno, ["task", "--quiet", "generate", ...args], { cwd: path });

/** Generates, and imports the table. */
async function tableOf(document: unknown) {
  await using project = await projectWith(document);
  expect(await generate(project)).toMatchObject({ code: 0, output: "" });
  const check = ["check", "--quiet", "--import-map=import_map.npm.json", "src/generated/"];
  await mustRun(deno, check, { cwd: project.path });
  return await import(`file://${join(project.path, "src/generated/operations.ts")}`) as {
    apiKeyHeader: string;
    operations: Record<string, Operation>;
  };
}

const text = { type: "string" };
const object = (properties: Fields, ...required: string[]) => (
  { type: "object", required, properties }
);
const kind = (...values: string[]) => object({ kind: { enum: values } }, "kind");
const cats = { type: "array", items: ref("Cat") };
const schemas = {
  Tree: object({ name: text, next: { anyOf: [ref("Tree"), { type: "null" }] } }, "name"),
  Cat: object({ kind: { const: "cat" }, lives: { type: "integer" } }, "lives", "kind"),
  Dog: { allOf: [kind("dog", "puppy"), object({ barks: { type: "boolean" } }, "barks")] },
  Fish: kind("fish"),
  Alias: ref("Text"),
  Text: text,
  Rows: { type: "array", items: object({ stats: { type: "object", additionalProperties: cats } }) },
};
const numbers = [{ type: "integer" }, { type: "number" }];

/** Values that match a schema, and values that do not, with the first issue. */
type Case = [schema: unknown, fits: unknown[], faults: [value: unknown, issue: string][]];

const cases: Record<string, Case> = {
  "names like keywords, and names of maps in places": [
    object(
      { format: { type: "integer" }, const: { ...text, const: "a" }, rows: ref("Rows") },
      "format",
    ),
    [{ format: 1, rows: [{ stats: { x: [{ kind: "cat", lives: 9, more: 1 }] } }] }],
    [
      [{ format: "1" }, "/format type"],
      [{ format: 1, const: 1 }, "/const const"],
      [
        { format: 1, rows: [{}, { stats: { x: [{ kind: "cat" }] } }] },
        "/rows/1/stats/*/0/lives required",
      ],
    ],
  ],
  "names that a JSON Pointer escapes": [
    object({ "a/b": text, "~": { type: "array", items: object({ "c/~": text }) } }, "a/b"),
    [{ "a/b": "" }],
    [[{}, "/a~1b required"], [{ "a/b": "", "~": [{ "c/~": 1 }] }, "/~0/0/c~1~0 type"]],
  ],
  "what only requests or only responses have": [
    {
      allOf: [
        object({ a: { ...text, writeOnly: true }, b: { ...text, readOnly: true } }, "a", "b"),
      ],
      required: ["a"],
    },
    [{ b: "1" }, { a: "1", b: "1" }],
    [[{ a: "1" }, "/b required"], [{ a: 1, b: "1" }, "/a type"]],
  ],
  "two schemas at once": [
    { allOf: [ref("Tree"), ref("Fish")] },
    [{ name: "a", kind: "fish" }],
    [[{ kind: "fish" }, "/name required"], [{ name: "a" }, "/kind required"]],
  ],
  "a union with constants, null and a string": [
    { oneOf: [ref("Cat"), ref("Dog"), { type: "null" }, ref("Fish"), { ...text, maxLength: 1 }] },
    [{ kind: "cat", lives: 9 }, { kind: "puppy", barks: true }, { kind: "fish" }, null, "a"],
    [
      [{ kind: "cat" }, "/lives required"],
      [{ kind: "dog" }, "/barks required"],
      [{ kind: "bird" }, "/kind enum"],
      [{}, "/kind required"],
      [[], " type"],
      ["ab", " maxLength"],
    ],
  ],
  "a union with a type of two kinds": [
    { anyOf: [{ ...object({ a: text }, "a"), type: ["object", "null"] }, { type: "integer" }] },
    [null, { a: "" }, 1],
    [[{}, "/a required"], ["", " type"]],
  ],
  "a union in a union, with a branch for any value": [
    { anyOf: [{ anyOf: [{}, text] }, { type: "null" }] },
    [1, "a", null],
    [],
  ],
  "a union beside properties": [
    { ...object({ id: text }, "id"), oneOf: [kind("a"), object({ kind: { const: "b" } }, "kind")] },
    [{ id: "1", kind: "b" }],
    [[{ kind: "b" }, "/id required"], [{ id: "1", kind: "c" }, "/kind enum"]],
  ],
  "a union whose branches overlap, of which one is enough": [
    { oneOf: [object({ a: true }, "a"), object({ b: text }, "b"), ...numbers] },
    [{ a: "1", b: "1" }, { a: "1" }, 1, 1.5],
    [[{}, " anyOf"]],
  ],
  "a union whose tag is not always there": [
    { oneOf: [kind("a"), object({ kind: { const: "b" } })] },
    [{ kind: "a" }, { kind: "b" }, {}],
    [[{ kind: "c" }, " anyOf"]],
  ],
  "a union with null as a constant": [
    { anyOf: [{ const: null }, ref("Tree")] },
    [null, { name: "a" }],
    [[{}, "/name required"]],
  ],
  "a long enum": [
    { enum: [...Array(5_000).keys(), "a", null] },
    [0, 4_999, "a", null],
    [["0", " enum"], [5_000, " enum"]],
  ],
  "an enum that is left open": [
    { anyOf: [{ enum: ["a", "b"] }, text] },
    ["a", "c"],
    [[1, " anyOf"]],
  ],
  "a schema that refers to itself, and may be null": [
    ref("Tree"),
    [{ name: "a", next: { name: "b", next: null } }],
    [[{ name: "a", next: { name: "b", next: { name: 1 } } }, "/next/next/name type"]],
  ],
  "numbers": [
    { type: "number", minimum: 0, exclusiveMinimum: 0, maximum: 9, exclusiveMaximum: 9 },
    [1, 1.5, 8.9],
    [[0, " exclusiveMinimum"], [-1, " minimum"], [9, " exclusiveMaximum"], ["1", " type"]],
  ],
  "a union of numbers of two kinds": [
    { anyOf: [{ type: "integer", minimum: 5 }, { type: "number", maximum: 3 }] },
    [1, 1.5, 7],
    [[4, " anyOf"], ["1", " anyOf"]],
  ],
  "texts, and a type that may be null": [
    { type: ["string", "null"], minLength: 1, maxLength: 2, pattern: "^\\p{Emoji}+$" },
    [null, "😀", "😀😀"],
    [["", " minLength"], ["😀😀😀", " maxLength"], ["ab", " pattern"], [1, " type"]],
  ],
  "lists": [
    { type: "array", minItems: 1, maxItems: 3, uniqueItems: true, items: text },
    [["a"], ["a", "b", "c"]],
    [
      [[], " minItems"],
      [["a", "b", "c", "d"], " maxItems"],
      [["a", "a"], " uniqueItems"],
      [["a", 1], "/1 type"],
    ],
  ],
  "a list that may repeat": [
    { type: "array", uniqueItems: false, items: ref("Alias") },
    [["a", "a"]],
    [[[1], "/0 type"]],
  ],
  "a union of what allOf nests": [
    { oneOf: [{ allOf: [{ allOf: [kind("a"), object({ x: text }, "x")] }] }, kind("b")] },
    [{ kind: "a", x: "" }, { kind: "b" }],
    [[{ kind: "a" }, "/x required"]],
  ],
  "other names, which an issue does not tell": [
    {
      ...object({ a: text, n: { ...object({ x: text }), additionalProperties: false } }),
      minProperties: 1,
      maxProperties: 3,
      additionalProperties: true,
    },
    [{ a: "", more: 1, n: { x: "" } }],
    [[{}, " minProperties"], [{ b: 1, c: 1, d: 1, e: 1 }, " maxProperties"], [
      { n: { y: 1 } },
      "/n/* additionalProperties",
    ]],
  ],
  "boolean schemas": [
    object({ a: false, b: true, none: { type: "array", items: false } }),
    [{ b: 1, c: 1, none: [] }],
    [[{ a: 1 }, "/a false"], [{ none: [1] }, "/none/0 false"]],
  ],
  "annotations, which are not checked": [
    { ...text, format: "uuid", default: "a", title: "b", deprecated: true, "x-a": 1 },
    ["anything"],
    [],
  ],
};

Deno.test("validators check what schemas say, and name the place", async () => {
  const paths = Object.values(cases).map(([schema], index) =>
    [`/${index}`, { get: responding(`get${index}`, schema) }] as const
  );
  const { operations } = await tableOf(documentOf(Object.fromEntries(paths), { schemas }));
  for (const [index, [name, [, fits, faults]]] of Object.entries(cases).entries()) {
    const check = operations[`GET /${index}`]!.responses["200"]!;
    for (const value of fits) {
      expect([name, value, check(value)]).toEqual([name, value, undefined]);
    }
    for (const [value, issue] of faults) {
      const [path, rule] = issue.split(" ");
      expect([name, value, check(value)]).toEqual([name, value, { path, rule }]);
    }
  }
});

Deno.test("checks look at own properties alone", () => {
  const object = JSON.parse('{"__proto__":{"a":1}}');
  expect(["__proto__", "a", "toString"].map((name) => has(object, name)))
    .toEqual([true, false, false]);
});

Deno.test("a schema has one check, however many responses and schemas refer to it", async () => {
  const Trees = object({ first: ref("Tree"), list: { type: "array", items: ref("Tree") } });
  const paths = {
    "/a": { get: responding("a", ref("Trees")) },
    "/b": { get: responding("b", ref("Tree")) },
    "/c": { get: responding("c", { type: "array", items: ref("Trees") }) },
  };
  await using project = await projectWith(documentOf(paths, { schemas: { ...schemas, Trees } }));
  expect(await generate(project)).toMatchObject({ code: 0, output: "" });
  const code = await Deno.readTextFile(join(project.path, "src/generated/validators.ts"));
  expect(code.match(/"\/name"/g)).toHaveLength(2); // `required` and `type`
  expect(code).not.toContain("lives"); // of schemas that no response refers to
});

Deno.test("each schema and each response has a check of its own, however they are named", async () => {
  const names = ["At", "Items", "Others", "InPart", "A.B", "A-B", "A_B", "a_200"];
  const schemas = Object.fromEntries(names.map((name) => [name, { const: name }]));
  const ids = ["a", "a.b", "a_b", "a b", "a$", "a$46$b", "é", "à"];
  const paths = Object.fromEntries(
    ids.map((id, index) => [`/${index}`, { get: responding(id, { const: id }) }] as const),
  );
  const all = { type: "array", items: { anyOf: names.map(ref) } };
  const document = documentOf({ ...paths, "/all": { get: responding("all", all) } }, { schemas });
  const { operations } = await tableOf(document);
  const check = (path: string, value: unknown) =>
    operations[`GET ${path}`]!.responses["200"]!(value);
  for (const [index, id] of ids.entries()) {
    expect([id, check(`/${index}`, id)]).toEqual([id, undefined]);
  }
  expect(check("/all", names)).toBe(undefined);
  expect(check("/all", ["A.b"])).toEqual({ path: "/0", rule: "anyOf" });
});

Deno.test("types are documented, with those that openapi-typescript adds, and without webhooks", async () => {
  const operation = responding("a", { allOf: [ref("Cat")], required: ["lives"] });
  const Cat = object({ ...schemas.Cat.properties, chip: { ...text, writeOnly: true } }, "lives");
  const components = { schemas: { Cat } };
  const root = { webhooks: { moved: { post: operationOf("moved") } } };
  const document = documentOf({ "/a*/": { get: operation } }, components, root);
  await using project = await projectWith(document);
  expect(await generate(project)).toMatchObject({ code: 0, output: "" });
  const types = await Deno.readTextFile(join(project.path, "src/generated/types.ts"));
  expect(types).toContain(" WithRequired<");
  expect(types).toContain("$Write<"); // of a schema with `writeOnly` alone
  expect(types).not.toContain("moved");
  const names = "components, operations, paths"; // as in mod.ts
  await project.write("mod.ts", `export type { ${names} } from "./src/generated/types.ts";`);
  await mustRun(deno, ["doc", "--lint", "mod.ts"], { cwd: project.path });
});

Deno.test("the table has the methods, keys and statuses of operations", async () => {
  const problem = {
    description: "",
    content: { "application/problem+json; a=b": { schema: { type: "integer" } } },
  };
  const inline = { description: "", content: json({ const: "" }) };
  const { apiKeyHeader, operations } = await tableOf(documentOf({
    "/a/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: text }],
      get: operationOf("get", {
        responses: { 200: problem, 206: inline, 404: problem, default: problem },
      }),
      head: operationOf("head", { security: [{}, { Key: [] }] }),
      options: operationOf("options", {
        security: [{}],
        responses: { "2XX": problem, "4XX": problem },
      }),
      patch: operationOf("patch", { security: [], "x-idempotent": true }),
      post: operationOf("post", {
        requestBody: { content: json({ ...text, pattern: "(?i)a" }) }, // is not checked
        responses: { 202: { $ref: "#/components/responses/Done" } },
      }),
    },
    "/b": { $ref: "#/components/pathItems/B" },
  }, { responses: { Done: problem }, pathItems: { B: { delete: operationOf("get-b") } } }));
  expect(apiKeyHeader).toBe("X-Key");
  const lines = Object.entries(operations).map(([name, operation]) => {
    const { responses, ...others } = operation;
    const issues = Object.entries(responses).map(([status, it]) => `${status} ${it?.("")?.rule}`);
    return [name, ...Object.values(others), ...issues].join(", ");
  });
  expect(lines).toEqual([
    "GET /a/{id}, get, required, true, 200 type, 206 undefined",
    "POST /a/{id}, post, required, false, 202 type",
    "OPTIONS /a/{id}, options, none, true, 2XX type",
    "HEAD /a/{id}, head, optional, true, 204 undefined",
    "PATCH /a/{id}, patch, none, true, 204 undefined",
    "DELETE /b, get-b, required, true, 204 undefined",
  ]);
});

Deno.test("generate names the place of what it refuses, and then writes nothing; --check names stale files", async () => {
  await using project = await projectWith(documentOf({}));
  const names = ["types", "operations", "validators"].map((name) => `src/generated/${name}.ts`);
  const filesOf = () =>
    Promise.all(names.map((name) => Deno.readTextFile(join(project.path, name))));
  const before = await filesOf();
  const stale = names.map((name) => `${name} is stale; run \`deno task generate\``);
  expect(await generate(project, "--check")).toMatchObject({ code: 1, output: stale.join("\n") });
  const aliased = `openapi: 3.1.0
info: { title: Aliased, version: "1" }
security: []
paths:
  /a:
    get: &operation
      operationId: a
      responses:
        "204": { description: "" }
    head: *operation
`;
  const lines = `openapi: 3.1.0
info: { title: Lines, version: "1" }
security: []
paths: {}
components:
  schemas:
    A: { type: string }
    B: { type: string }
    C: { $ref: "#/components/schemas/Typo" }
    D: { $ref: "#/components/schemas/Typo" }
`;
  const faulty: [document: unknown, message: string][] = [
    ["openapi: 3.1.0\ninfo: {}\n  a", "3:3 document: bad indentation"],
    ["openapi: 3.1.0\nopenapi: 3.1.0", "2:1 document: duplicated mapping key"],
    ["openapi: 3.1.0\n---\nopenapi: 3.1.0", "1:1 document: expected a single document"],
    ["openapi: 3.0.3", "1:1 openapi: Write OpenAPI 3.1: `openapi: 3.1.0`; convert"],
    ['swagger: "2.0"', "1:1 openapi: Write OpenAPI 3.1"],
    ["", "1:1 openapi: Write OpenAPI 3.1"],
    [
      documentOf({
        "/%2F": { get: responding("a", ref("Typo")), put: responding("b", ref("Typo")) },
      }),
      "21:17 no-unresolved-refs: Can't resolve $ref\nopenapi/openapi.yaml:36:17 no-unresolved-refs: Can",
    ],
    [aliased, "10:5 operation-operationId-unique"],
    [
      lines,
      "9:5 no-unresolved-refs: Can't resolve $ref\nopenapi/openapi.yaml:10:5 no-unresolved",
    ],
    [documentOf({}, { schemas: { A: ref("B"), B: ref("A") } }), "13:3 document: Self-referencing"],
    [
      documentOf({
        "/a": { get: responding("a", ref("A")) },
        "/b": { get: responding("b", { type: "array", items: { pattern: "(?i)a" } }) },
      }, { schemas: { A: text } }),
      "30:5 document: Invalid regular expression: /(?i)a/u: Invalid group",
    ],
  ];
  for (const [document, message] of faulty) {
    await project.write("openapi/openapi.yaml", document);
    const { code, output } = await generate(project);
    expect([code, output]).toEqual([1, expect.stringContaining(`openapi/openapi.yaml:${message}`)]);
    expect(output).not.toMatch(/\n +at /);
  }
  await Deno.remove(join(project.path, "openapi/openapi.yaml"));
  expect((await generate(project)).output).toMatch(/^openapi\/openapi.yaml:1:1 document: ENOENT/);
  expect(await generate(project, "--chek")).toMatchObject({
    code: 1,
    output: expect.stringContaining("--chek"),
  });
  expect(await filesOf()).toEqual(before);
  await project.write("openapi/openapi.yaml", documentOf({}));
  expect(await generate(project)).toMatchObject({ code: 0, output: "" });
  expect(await generate(project, "--check")).toMatchObject({ code: 0, output: "" });
});
