// What the generator accepts, and what it refuses.
import { expect } from "@std/expect";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { accepted } from "../../scripts/generate/accepted.ts";
import { readSpec, SpecError } from "../../scripts/generate/spec.ts";
import { copyProject, makeFolder } from "../../scripts/support/files.ts";
import { addOverlay } from "../overlay/add.ts";
import { documentOf, responding } from "./support.ts";

type Fields = Record<string, unknown>;

const json = (schema: unknown = {}) => ({ "application/json": { schema } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = { type: "string" };
const list = { type: "array", items: text };
const key = { type: "apiKey", in: "header", name: "X-Key" };
const keyRef = { $ref: "#/components/securitySchemes/Key" };

/** The document of an operation, of its path item, and of its path. */
function operation(fields: Fields, method = "get", item: Fields = {}, path = "/value"): unknown {
  const responses = { "2XX": { description: "" } };
  const security = [{ Key: [] }];
  const value = { operationId: "value", summary: "A value.", security, responses, ...fields };
  const components = { securitySchemes: { Key: key } };
  return documentOf({ [path]: { [method]: value, ...item } }, { components });
}
function parameter(place: string, schema: unknown, rest: Fields = {}): unknown {
  const required = place === "path";
  const parameters = [{ name: "id", in: place, required, schema, ...rest }];
  return operation({ parameters }, "get", {}, `/value${required ? `/{${rest.name ?? "id"}}` : ""}`);
}
const query = (schema: unknown, rest?: Fields) => parameter("query", schema, rest);
const header = (name: string, rest?: Fields) => parameter("header", text, { name, ...rest });
const body = (content: unknown, method = "post") => operation({ requestBody: { content } }, method);
const path = (path: string) => operation({}, "get", {}, path);
function responses(contents: Fields, method = "get"): unknown {
  const entries = Object.entries(contents);
  const all = entries.map(([status, content]) => [status, { description: "", content }]);
  return operation({ responses: Object.fromEntries(all) }, method);
}
const schema = (A: unknown, others = {}) => responding(ref("A"), { schemas: { A, ...others } });
const object = (properties: Fields, rest = {}, others = {}) =>
  schema({ type: "object", properties, ...rest }, others);
const unused = (A: unknown) => root({ components: { schemas: { A } } });
const withExample = (yaml: string) =>
  JSON.stringify(unused({ example: 0 })).replace('"example":0', `example: ${yaml}`);
const range = (length: number) => Array.from({ length }, (_, index) => index);
const schemes = (...schemes: unknown[]) =>
  documentOf({}, { security: [], components: { securitySchemes: { ...schemes } } });
const root = (fields: Fields) => documentOf({}, { security: [], ...fields });

/**
 * Documents by how the advice about them begins. Before an arrow stands what the file has at the
 * place of the message, where this is not the field that the message names.
 */
const refused: Record<string, Record<string, unknown>> = {
  // What accepted.yaml does not have.
  "Leave it out: the client receives no requests": {
    "a field of a path with an escape": operation({ callbacks: {} }, "get", {}, "/a%2Fb"),
  },
  "Leave it out: the only extension that is known is `x-idempotent`": {
    "an extension": operation({ "x-retry": 3 }),
  },
  "Leave it out: a query repeats the name": { "a,b": query(list, { explode: false }) },
  "Leave it out; if it is `true`, write": { "nullable": schema({ ...text, nullable: true }) },
  "Write `type: apiKey`, `in: header` and `name`": {
    "a bearer token": schemes({ type: "http", scheme: "bearer" }),
  },
  "Write one of these, or leave it out: type, title,": {
    "a field without advice": schema({ type: "object", requird: ["a"] }),
  },
  "Write one of these: true, false": { "a value": operation({ "x-idempotent": null }) },
  "Write `in: header`": {
    "a parameter in a cookie": parameter("cookie", text),
    "a key in a cookie": schemes({ ...key, in: "cookie" }),
  },
  'Write `"null"`, with quotes': {
    "null in place of its name": schema({ type: ["string", null] }),
  },
  "Write a parameter for each property": {
    "an object in a query": query({ type: "object" }, { style: "deepObject" }),
  },
  "Write `type: number` or `type: integer` beside it": {
    "a field of another type": schema({ ...text, minimum: 1 }),
  },
  "Write `type: object` beside it": { "a field without a type": schema({ properties: {} }) },
  "List the name in `required` of the object": {
    "required in a property": object({ a: { ...text, required: true } }),
  },
  "Write one of these, or leave it out: name, description": {
    "a field of another place": root({ tags: [{ name: "a", summary: "a" }] }),
  },
  "Write it directly below a name": {
    "a field of properties in what a property refers to": object({ b: ref("C") }, {}, {
      C: { ...text, readOnly: true },
    }),
    "a field of properties": schema({ ...text, readOnly: true }),
    "a field of properties in items": object({
      properties: { ...list, items: { ...text, readOnly: true } },
    }),
  },

  // Operations.
  "Write a `type`: string, number, integer or boolean; in a query,": {
    "an object as names of a query": query({ type: "object" }),
    "a list of lists in a query": query({ type: "array", items: list }),
    "a list of anything in a query": query({ type: "array" }),
    "a parameter that may be null": query({ type: ["string", "null"] }),
    "a parameter with a branch of any type": query({ anyOf: [text, {}] }),
    "a list in a path": parameter("path", list),
    "a list in a header": parameter("header", list),
  },
  "Write letters, digits": {
    "a style in a path": parameter("path", text, { name: ".id" }),
    "a name of a query": query(text, { name: "a&b" }),
    "a header parameter with spaces": header("X Y"),
    "a key's header with spaces": schemes({ ...key, name: "X Y" }),
  },
  "Write `required: true` beside it": {
    "an optional path parameter": parameter("path", text, { required: undefined }),
  },
  "Write only `application/json`; for another type of JSON,": {
    "JSON or something else as body": body({ ...json(), "text/plain": {} }),
    "a form as body": body({ "multipart/form-data": {} }),
    "a body of no type": body({}),
  },
  "Write `post`, or leave it out": { "a body of GET": body(json(), "get") },
  "Write the path as in URLs": {
    "a path with ..": path("/a/../b"),
    "an empty segment": path("/a//"),
    "a path with a fragment": path("/a#b"),
  },
  "Write `2XX`, `4XX`": {
    "a rare status": responses({ 226: json() }),
    "a small 2xx": responses({ 200: undefined, "2xx": {} }),
    "a 302": responses({ 200: undefined, 302: undefined }),
  },
  "Leave it out: fetch or the client sets it, or callers": {
    "the key as a cookie": schemes({ ...key, name: "Cookie" }),
    "a header that fetch forbids": header("Sec-A"),
    "a header that the client sets": header("content-type"),
  },
  "Leave it out: the client sends the key": { "a header with the key": header("x-key") },
  "Add a success response, such as `2XX`": {
    "only a default response": responses({ default: json() }),
    "no success response": responses({ 304: undefined, 404: json() }),
  },
  '"get" → Add a success response': { "no responses": operation({ responses: undefined }) },
  "Write a media type without `*`": { "any type": responses({ 200: { "*/*": {} } }) },
  "Write either JSON or other types": {
    "JSON or something else": responses({ 200: { ...json(), "text/csv": {} } }),
  },
  "Leave `content` out": {
    "content of a 204": responses({ 204: json() }),
    "content of HEAD": responses({ 200: json() }, "head"),
  },
  "Leave all but one out": { "two keys": schemes(key, key) },

  // Schemas that are checked or typed otherwise than they say, or that no value matches.
  "Write a value: none matches an empty list": { "an empty enum": schema({ enum: [] }) },
  "Write strings, numbers or booleans": {
    "a list as a value": schema({ enum: [[1]] }),
    "null as a constant": schema({ anyOf: [{ const: null }, text] }),
  },
  "Leave `null` out, or add such a value to `enum`": {
    "a null that is not among the values": schema({ type: ["string", "null"], enum: ["a"] }),
  },
  "Write what the schema allows": {
    "an example of another type": schema({ type: "integer", example: "x" }),
    "one of several examples of another type": schema({ type: "integer", examples: [1, "x"] }),
    "a constant of another type": schema({ type: "boolean", const: "true" }),
    "an enum of another type": schema({ type: "integer", enum: ["x"] }),
    "a default of another type": object({ a: { type: "integer", default: "x" } }),
  },
  "Write another value, or leave it out: Invalid regular expression:": {
    "a pattern of another language": schema({ ...text, pattern: "\\A\\d+\\z" }),
    "such a pattern in a body": body(json({ ...text, pattern: "(?i)a" })),
    "such a pattern that nobody uses": unused({ ...text, pattern: "^[\\w-.]+$" }),
  },
  "Write another value, or leave it out: No valid types": {
    "an empty union": schema({ oneOf: [] }),
    "an empty list of types": schema({ type: [] }),
  },
  "Leave it or": {
    "a property that is in no message": object({ a: { readOnly: true, writeOnly: true } }),
    "two limits at one end": schema({ type: "number", minimum: 2, exclusiveMinimum: 1 }),
    "two limits at the other end": schema({ type: "number", maximum: 2, exclusiveMaximum: 1 }),
  },
  "Write what is listed without the list around it": {
    "a list of one schema as items": schema({ type: "array", items: { allOf: [list] } }),
    "a list of one type as items": schema({ type: "array", items: { ...list, type: ["array"] } }),
  },
  "Write a schema; `{}` allows": {
    "false as a property": object({ a: false }),
    "false as items": schema({ type: "array", items: false }),
  },
  "Say it in `description`: beside others": {
    "a number as a name": object({ 200: text }, { allOf: [{ type: "object" }] }),
  },
  "Write the limit itself": {
    "a limit of OpenAPI 3.0": schema({ type: "number", minimum: 2, exclusiveMinimum: true }),
  },
  "Leave it out, unless `items` is a string,": {
    "objects that differ": schema({ type: "array", items: { type: "object" }, uniqueItems: true }),
  },
  "Leave it out, or add another type: types lose": {
    "a property that can only be null": object({ a: { anyOf: [{ type: "null" }] } }),
    "names that can only be null": object({}, { additionalProperties: { type: "null" } }),
  },
  "Leave it out: it refuses all that only schemas in `allOf`": {
    "a closed object of others": schema({ allOf: [ref("B")], additionalProperties: false }, {
      B: { type: "object" },
    }),
  },
  "Leave it out: no type is an object without names": {
    "an object without names": schema({ type: "object", additionalProperties: false }),
  },
  "Write `true`": {
    "additional properties with a schema": object({ a: text }, { additionalProperties: text }),
  },
  "Add to `properties`: b": {
    "a required property that is not there": object({ a: text }, { required: ["a", "b"] }),
    "a required property of any name": object({}, { required: ["b"], additionalProperties: {} }),
  },
  "Leave `type` out, or write `type: object`": {
    "a union that may be null beside an object": schema({
      type: "object",
      oneOf: [{ type: "object" }, { type: "null" }],
    }),
    "a union beside two types": schema({ type: ["object", "null"], anyOf: [{ type: "object" }] }),
    "a union beside a string": schema({ ...text, anyOf: [text] }),
  },
  "Write `allOf`, with this in one schema, and what is beside it in another": {
    "a union beside properties": object({ a: text }, { anyOf: [{ type: "object" }] }),
    "a union with values": schema({ anyOf: [text], enum: ["a"] }),
  },
  "Write the same `type` in each": {
    "types that no value has": schema({ allOf: [text, { type: "integer" }] }),
  },
  "true → Expected type `Schema`": { "true as a branch": schema({ anyOf: [true] }) },

  // References, names and versions.
  "Refer to it from `properties`": {
    "a circle": schema(ref("A")),
    "anyOf in a circle": schema({ anyOf: [ref("B")] }, { B: { anyOf: [ref("A")] } }),
    "a list of itself": schema({ type: "array", items: ref("A") }),
  },
  "Write what it names below `components: schemas:`": {
    "no target": schema(ref("B")),
    "no components": responding(ref("B"), { schemas: null }),
  },
  "Write the name of something below `components: requestBodies:`": {
    "a body that refers to a scheme": operation({ requestBody: keyRef }, "post"),
  },
  "Write in its place what it names": {
    "a document that is a reference": root({ ...ref("A"), components: { schemas: { A: text } } }),
    "an operation elsewhere": operation(keyRef),
  },
  "Write the name of something below `components: responses:`": {
    "a response that refers to a scheme": operation({ responses: { 200: keyRef } }),
  },
  "Write the name of something below `components`": {
    "another file": responding({ $ref: "https://a.example/b.yaml#/A" }),
  },
  "Leave it out, or, in a schema, write `allOf: [{ $ref: … }]`": {
    "deprecated next to $ref": object({ a: { ...ref("A"), deprecated: true } }),
  },
  '"" → Write a name': { "an empty name": object({ "": text }) },
  "Leave it out: it is a property of all objects in JavaScript": {
    "a name that JavaScript's objects have": object({ hasOwnProperty: text }),
  },
  "a → Write it out in place of the alias": {
    "an alias of itself": withExample("&a [*a]"),
    "aliases of aliases of aliases": withExample(
      `[&a0 [1]${range(60).map((n) => `, &a${n + 1} [*a${n}, *a${n}]`).join("")}]`,
    ),
  },
  "! → Write a string: JSON has no bytes": { "bytes": withExample("!!binary aGk=") },
  "example → Write a finite number": { "infinity": withExample(".inf") },
  "Write OpenAPI 3.1: `openapi: 3.1.0`": {
    "3.2": root({ openapi: "3.2.0" }),
    "3.1 as a number": root({ openapi: 3.1 }),
    "Swagger 2": { swagger: "2.0" },
  },
  "{ → Write OpenAPI 3.1": { "no version": {} },
  " → Write valid YAML": { "YAML that is broken": "openapi: [\n" },
};

for (const [expected, documents] of Object.entries(refused)) {
  const [advice = "", place] = expected.split(" → ").reverse();
  for (const [name, document] of Object.entries(documents)) {
    Deno.test(`generate refuses ${name}`, async () => {
      await using files = await makeFolder();
      const file = await files.write("openapi.json", document);
      const error = await readSpec(file).catch((error) => error);
      expect(error).toBeInstanceOf(SpecError);
      const lines: string[] = error.message.split("\n");
      const messages = lines.map((line) =>
        /^\S+:(\d+):(\d+) (?:`(.+?)(?:: .+?)?`: )?(.*)$/.exec(line)!
      );
      // What refers to it may be refused too.
      const found = messages.find(([, , , , message]) => message!.startsWith(advice));
      expect([lines, found]).toEqual([lines, expect.any(Array)]);
      const [, line, column, field] = found!;
      const source = (await readFile(file, "utf8")).split("\n")[Number(line) - 1]!;
      const at = place ?? `"${field!.replace(/^[a-z]+\/(?=\d+$)/i, "")}"`;
      expect(source.slice(Number(column) - 1).slice(0, at.length)).toBe(at);
    });
  }
}

Deno.test("generate says all that is wrong with a document at once, in its order", async () => {
  await using files = await makeFolder();
  const document = `openapi: 3.0.3
info: { title: Test, version: "1", contact: &a { nick: a }, license: *a }
paths: { /a/../b: { get: { responses: { "200": { $ref: "#/components/schemas/A" } } } } }
components:
  schemas:
    A: { allOf: [{ $ref: "#/components/schemas/B" }, { oneOf: [] }], default: .nan }
`;
  const error = await readSpec(await files.write("openapi.yaml", document)).catch((error) => error);
  const places = error.message.split("\n").map((line: string) => /:\d+:\d+ `[^`:]+/.exec(line)![0]);
  expect(places).toEqual([
    ":1:1 `openapi",
    ":2:50 `nick",
    ":2:61 `license",
    ":3:10 `/a/../b",
    ":3:21 `get",
    ":3:21 `operationId",
    ":3:50 `$ref",
    ":6:20 `$ref",
    ":6:56 `oneOf",
    ":6:70 `default",
  ]);
});

/** Documents of which one thing is said, however much is wrong with it. */
const refusedOnce: Record<string, unknown> = {
  "a field, and nothing in it": operation({ callbacks: { done: { "/": { get: {} } } } }),
  "a bearer token": schemes({ type: "http", scheme: "bearer", bearerFormat: "JWT" }),
  "a scheme with flows": schemes({ type: "oauth2", flows: { implicit: { scopes: { a: "" } } } }),
  "a parameter of Swagger 2": operation({
    parameters: [{ name: "a", in: "formData", type: "file" }],
  }),
  "a closed object of others": unused({ allOf: [{ type: "object" }], additionalProperties: false }),
};

for (const [name, document] of Object.entries(refusedOnce)) {
  Deno.test(`generate says one thing of ${name}`, async () => {
    await using files = await makeFolder();
    const file = await files.write("openapi.json", document);
    const error = await readSpec(file).catch((error) => error);
    expect(error.message.split("\n")).toEqual([expect.any(String)]);
  });
}

Deno.test("tests/overlay/overlay.yaml has each field and value that accepted.yaml has", async () => {
  await using project = await copyProject(["openapi"]);
  await addOverlay(project);
  const isAccepted = () =>
    readSpec(join(project.path, "openapi/openapi.yaml")).then(() => true, () => false);
  expect(await isAccepted()).toBe(true);
  const unused: string[] = [];
  for (const [row, fields] of Object.entries(accepted)) {
    for (const [field, values] of Object.entries(fields)) {
      const { [field]: _, ...others } = fields;
      const rest = (values ?? []).map((one) => values!.filter((value) => value !== one));
      for (const less of [others, ...rest.map((values) => ({ ...fields, [field]: values }))]) {
        accepted[row] = less;
        if (await isAccepted()) unused.push(`${row}: ${field}`);
      }
    }
    accepted[row] = fields;
  }
  expect(unused).toEqual([]);
});
