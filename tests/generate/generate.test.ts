// What is generated from a document: the table, validators and types, and what is sent and checked.
import { expect } from "@std/expect";
import { join } from "node:path";
import type { Folder } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";
import type { Operation } from "../../src/operation.ts";
import { chainOf, documentOf, type Fields, json, operationOf } from "./support.ts";
import { projectWith, ref, responding } from "./support.ts";

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
  Login: object({ name: text, pin: text }, "name", "pin"),
  Reset: { allOf: [ref("Login"), object({ pin: { ...text, writeOnly: true } })] },
  Rows: { type: "array", items: object({ stats: { type: "object", additionalProperties: cats } }) },
};
const numbers = [{ type: "integer" }, { type: "number" }];

/** Values that match a schema, and values that do not, with the first issue. */
type Case = [schema: unknown, fits: unknown[], faults: [value: unknown, issue: string][]];

const cases: Record<string, Case> = {
  "names like keywords, and names of maps in places": [
    object({ format: { type: "integer" }, discriminator: text, rows: ref("Rows") }, "format"),
    [{ format: 1, rows: [{ stats: { x: [{ kind: "cat", lives: 9, more: 1 }] } }] }],
    [
      [{ format: "1" }, "/format type"],
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
        { type: "object", required: ["a"] },
      ],
    },
    [{ b: "1" }, { a: "1", b: "1" }],
    [[{ a: "1" }, "/b required"], [{ a: 1, b: "1" }, "/a type"]],
  ],
  "what only requests have, in a schema that inherits it": [
    { anyOf: [ref("Reset"), { type: "array", items: ref("Login") }] },
    [{ name: "" }, [{ name: "", pin: "" }]],
    [[{}, "/name required"], [[{ name: "" }], "/0/pin required"]],
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
  "a union of types": [
    { anyOf: [text, { type: "null" }] },
    ["a", null],
    [[1, " type"]],
  ],
  "a union with a discriminator": [
    { oneOf: [ref("Cat"), ref("Fish")], discriminator: { propertyName: "kind" } },
    [{ kind: "fish" }],
    [[{ kind: "cat" }, "/lives required"]],
  ],
  "a union in a union, with a branch for any value": [
    { anyOf: [{ anyOf: [{}, text] }, { type: "null" }] },
    [1, "a", null],
    [],
  ],
  "a union beside properties": [
    { ...object({ id: text }, "id", "kind"), oneOf: [kind("a"), object({ kind: { const: "b" } })] },
    [{ id: "1", kind: "b" }],
    [[{ kind: "b" }, "/id required"], [{ id: "1", kind: "c" }, "/kind enum"]],
  ],
  "a union whose branches overlap, of which one is enough": [
    { oneOf: [object({ a: text }, "a"), object({ b: text }, "b"), ...numbers] },
    [{ a: "1", b: "1" }, { a: "1" }, 1, 1.5],
    [[{}, " anyOf"]],
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
  "what types do not say": [
    {
      type: "object",
      minProperties: 1,
      propertyNames: { maxLength: 1 },
      not: { required: ["b"] },
    },
    [{ a: 1 }],
    [[{}, " minProperties"], [{ ab: 1 }, "/* maxLength"], [{ b: 1 }, " not"]],
  ],
  "numbers": [
    { type: "number", exclusiveMinimum: 0, maximum: 9, multipleOf: 0.5 },
    [1, 1.5, 9],
    [[0, " exclusiveMinimum"], [10, " maximum"], [1.2, " multipleOf"], ["1", " type"]],
  ],
  "own properties, and characters of more than one unit": [
    object({ a: { ...text, maxLength: 1, pattern: "^\\p{Emoji}$" } }, "a"),
    [{ a: "😀" }],
    [[JSON.parse('{"__proto__":{"a":"😀"}}'), "/a required"], [{ a: "😀😀" }, "/a maxLength"]],
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
    const validate = operations[`GET /${index}`]!.responses["200"] as (value: unknown) => unknown;
    for (const value of fits) {
      expect([name, value, validate(value)]).toEqual([name, value, undefined]);
    }
    for (const [value, issue] of faults) {
      const [path, rule] = issue.split(" ");
      expect([name, value, validate(value)]).toEqual([name, value, [{ path, rule }]]);
    }
  }
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
  expect(code.match(/place: "#\/name"/g)).toHaveLength(2); // `required` and `type`
  expect(code).not.toContain("lives"); // of schemas that no response refers to
});

Deno.test("types are documented, with those that openapi-typescript adds", async () => {
  const operation = responding("a", { allOf: [ref("Cat")], required: ["lives"] });
  const document = documentOf({ "/a": { get: operation } }, { schemas: { Cat: schemas.Cat } });
  await using project = await projectWith(document);
  expect(await generate(project)).toMatchObject({ code: 0, output: "" });
  const types = await Deno.readTextFile(join(project.path, "src/generated/types.ts"));
  expect(types).toContain(" WithRequired<");
  const names = "components, operations, paths"; // as in mod.ts
  await project.write("mod.ts", `export type { ${names} } from "./src/generated/types.ts";`);
  await mustRun(deno, ["doc", "--lint", "mod.ts"], { cwd: project.path });
});

Deno.test("the table has the methods, keys, statuses and media types of operations", async () => {
  const png = { description: "", content: { "image/png": {}, "text/csv": {} } };
  const problem = {
    description: "",
    content: { "application/problem+json; a=b": { schema: text }, ...json({ type: "integer" }) },
  };
  const { apiKeyHeader, operations } = await tableOf(documentOf({
    "/a/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: text }],
      get: operationOf("get", {
        responses: { 200: png, "2XX": problem, 404: png, default: problem },
      }),
      head: operationOf("head", { security: [{}, { Key: [] }] }),
      options: operationOf("options", {
        security: [{}],
        responses: { 204: { description: "" }, "4XX": { description: "" } },
      }),
      patch: operationOf("patch", { security: [], "x-idempotent": true }),
      post: operationOf("post", { responses: { 202: { $ref: "#/components/responses/Done" } } }),
    },
    "/b": { $ref: "#/components/pathItems/B" },
  }, { responses: { Done: problem }, pathItems: { B: { delete: operationOf("delete") } } }));
  expect(apiKeyHeader).toBe("X-Key");
  const lines = Object.entries(operations).map(([name, operation]) => {
    const { access, has404 = "-", idempotent, operationId, responses } = operation;
    const kinds = Object.entries(responses).map(([status, it]) => `${status} ${it && typeof it}`);
    return [name, operationId, access, idempotent, has404, ...kinds].join(", ");
  });
  expect(lines).toEqual([
    "GET /a/{id}, get, required, true, true, 200 string, 2XX function",
    "POST /a/{id}, post, required, false, -, 202 function",
    "OPTIONS /a/{id}, options, none, true, true, 204 undefined",
    "HEAD /a/{id}, head, optional, true, -, 204 undefined",
    "PATCH /a/{id}, patch, none, true, -, 204 undefined",
    "DELETE /b, delete, required, true, -, 204 undefined",
  ]);
  const { 200: media, "2XX": validate } = operations["GET /a/{id}"]!.responses;
  expect(media).toBe("image/png");
  const either = validate as (value: unknown) => unknown;
  expect([either("a"), either(1)]).toEqual([undefined, undefined]);
  expect(either(true)).toEqual([{ path: "", rule: "anyOf" }]);
});

Deno.test("generate names the place of what it refuses, and then writes nothing; --check names stale files", async () => {
  await using project = await projectWith(documentOf({}));
  const names = ["types", "operations", "validators"].map((name) => `src/generated/${name}.ts`);
  const filesOf = () =>
    Promise.all(names.map((name) => Deno.readTextFile(join(project.path, name))));
  const before = await filesOf();
  const lines = names.map((name) => `${name} is stale; run \`deno task generate\``);
  expect(await generate(project, "--check")).toMatchObject({ code: 1, output: lines.join("\n") });
  const never = { ...text, allOf: [object({})] };
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
  const faulty: [document: unknown, message: string][] = [
    ["openapi: 3.1.0\ninfo: {}\n  a", "3:3 document: bad indentation"],
    ["openapi: 3.1.0\nopenapi: 3.1.0", "2:1 document: duplicated mapping key"],
    ["openapi: 3.1.0\n\tinfo: {}", "2:1 document: tab characters"],
    ["# a\n---\nopenapi: 3.1.0\n---\nopenapi: 3.1.0\n", "4:1 document: expected a single"],
    ["openapi: 3.1.0\ninfo: &a { x-a: *a }", "2:12 alias: Write `$ref` in place of the alias"],
    ["openapi: 3.0.3", "1:1 openapi: Write OpenAPI 3.1: `openapi: 3.1.0`; convert"],
    ['swagger: "2.0"', "1:1 openapi: Write OpenAPI 3.1: `openapi: 3.1.0`; convert"],
    ["", "1:1 openapi: Write OpenAPI 3.1"],
    [
      documentOf({ "/%2F": { get: responding("a", ref("Typo")), trace: operationOf("b") } }),
      "21:17 $ref: Write `#/components/schemas/` and a name that is there, in place of " +
      "`#/components/schemas/Typo`\nopenapi/openapi.yaml:29:7 trace: Leave it out",
    ],
    [chainOf(400), "3777:15 $ref: Write `{}`, or fewer schemas"],
    [documentOf({}, { schemas: { A: ref("A") } }), "1:1 document: Self-referencing circular"],
    [aliased, "10:5 operation-operationId-unique"],
    [
      documentOf({ "/a": { get: responding("a", never) } }),
      "24:21 schema: Write another schema: No",
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
