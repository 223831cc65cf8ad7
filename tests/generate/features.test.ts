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
const schemes = (...schemes: unknown[]) =>
  documentOf({}, { security: [], components: { securitySchemes: { ...schemes } } });
const root = (fields: Fields) => documentOf({}, { security: [], ...fields });

/**
 * Documents by how the message about them begins, without "is not accepted here." Before an arrow
 * stands what the file has at the place of the message, where this is not the field.
 */
const refused: Record<string, Record<string, unknown>> = {
  // What accepted.yaml does not have.
  "`callbacks` Leave it out: the client receives": {
    "a field, and nothing in it": operation({ callbacks: { done: { "/": { get: {} } } } }),
  },
  "`externalDocs` Write the link": { "a field of a tag": root({ tags: [{ externalDocs: {} }] }) },
  '`requird: ["a"]` Leave it out. Accepted fields: type, title,': {
    "a field without advice": schema({ type: "object", requird: ["a"] }),
  },
  "`x-retry: 3` Leave it out: the only extension that is known is `x-idempotent`": {
    "an extension": operation({ "x-retry": 3 }),
  },
  "`x-a` Leave it out: the only extension": {
    "an extension as a status": responses({ 200: {}, "x-a": {} }),
    "an extension as a path": path("x-a"),
  },
  "`x-idempotent: null` Accepted values: true, false": {
    "a value": operation({ "x-idempotent": null }),
  },
  '`in: "cookie"` Write `in: header`': {
    "a parameter in a cookie": parameter("cookie", text),
    "a key in a cookie": schemes({ ...key, in: "cookie" }),
  },
  '`type: "http"` Write `type: apiKey`, `in: header` and `name`': {
    "a bearer token": schemes({ type: "http", scheme: "bearer" }),
  },
  '`type: ["string",null]` Write `"null"`, with quotes': {
    "null in place of its name": schema({ type: ["string", null] }),
  },
  '`style: "deepObject"` Write a parameter for each property': {
    "an object in a query": query({ type: "object" }, { style: "deepObject" }),
  },
  "`explode: false` Leave it out: a query repeats": { "a,b": query(list, { explode: false }) },
  "`minimum: 1` It needs `type: number` or `type: integer`": {
    "a field of another type": schema({ ...text, minimum: 1 }),
  },
  "`properties` Add `type: object`": { "a field without a type": schema({ properties: {} }) },
  "`required: true` It needs `type: object`": {
    "required in a property": object({ a: { ...text, required: true } }),
  },
  '`summary: "a"` It is accepted in: Info, Reference, PathItem,': {
    "a field of another place": root({ tags: [{ name: "a", summary: "a" }] }),
  },
  "`readOnly: true` Write it directly below a name": {
    "a field of properties": schema({ ...text, readOnly: true }),
    "a field of properties in items": object({
      properties: { ...list, items: { ...text, readOnly: true } },
    }),
  },
  '"items" → `writeOnly: true` Write it directly below a name': {
    "a field of properties by an alias": JSON.stringify(object({ b: { ...list, items: 7 } }))
      .replace('"properties":{', '"properties":{"a":&a {"type":"string","writeOnly":true},')
      .replace("7", "*a"),
  },
  "`nullable: true` Leave it out; if it is `true`": { "null": schema({ ...text, nullable: true }) },
  "`anyOf` Leave `type` out, and write it in": { "a union": schema({ ...text, anyOf: [text] }) },

  // Operations.
  "`schema` Write a `type`: string, number, integer or boolean; in a query,": {
    "an object as names of a query": query({ type: "object" }),
    "a list of lists in a query": query({ type: "array", items: list }),
    "a list of anything in a query": query({ type: "array" }),
    "a parameter that may be null": query({ type: ["string", "null"] }),
    "a parameter with a branch of any type": query({ anyOf: [text, {}] }),
    "a list in a path": parameter("path", list),
    "a list in a header": parameter("header", list),
  },
  '`name: ".id"` Write letters, digits': {
    "a style in a path": parameter("path", text, { name: ".id" }),
  },
  '`name: "a&b"` Write letters, digits': { "a name of a query": query(text, { name: "a&b" }) },
  '`name: "X Y"` Write letters, digits, `-` and `_`': {
    "a header parameter with spaces": header("X Y"),
    "a key's header with spaces": schemes({ ...key, name: "X Y" }),
  },
  '`in: "path"` Write `required: true` beside it': {
    "an optional path parameter": parameter("path", text, { required: undefined }),
  },
  '`name: "content-type"` Leave it out: fetch or the client sets it': {
    "a header that the client sets": header("content-type"),
  },
  '`name: "Sec-A"` Leave it out: fetch or the': { "a header that fetch forbids": header("Sec-A") },
  '`name: "Cookie"` Leave it out: fetch or': {
    "the key as cookie": schemes({ ...key, name: "Cookie" }),
  },
  '`name: "x-key"` Leave it out: the client sends the key': { "the key": header("x-key") },
  "`content` Write only `application/json`, which the client sends; for another": {
    "JSON or something else as body": body({ ...json(), "text/plain": {} }),
  },
  "`content` Write only `application/json` if the service accepts it; if not, leave": {
    "a form as body": body({ "multipart/form-data": {} }),
    "a body of no type": body({}),
  },
  "`requestBody` Write `post` if the service accepts it": { "a body of GET": body(json(), "get") },
  "`/a/../b` Write the path as in URLs": { "a path with ..": path("/a/../b") },
  "`/a//` Write the path as in URLs": { "an empty segment": path("/a//") },
  "`/a#b` Write the path as in URLs": { "a path with a fragment": path("/a#b") },
  "`2xx` Write `2XX`, `4XX`": { "a small 2xx": responses({ 200: undefined, "2xx": {} }) },
  "`226` Write `2XX`, `4XX`": { "a rare status": responses({ 226: json() }) },
  "`302` Leave it out": { "a redirect": responses({ 200: undefined, 302: undefined }) },
  "`responses` Add a success response, such as `2XX`": {
    "only a default response": responses({ default: json() }),
    "no success response": responses({ 304: undefined, 404: json() }),
  },
  '"get" → `responses` Add a success response': {
    "no responses": operation({ responses: undefined }),
  },
  "`200` Write a media type without `*`": { "any type": responses({ 200: { "*/*": {} } }) },
  "`200` Write either JSON or other types": {
    "JSON or something else": responses({ 200: { ...json(), "text/csv": {} } }),
  },
  "`204` Leave `content` out": { "content of a 204": responses({ 204: json() }) },
  "`200` Leave `content` out": { "content of HEAD": responses({ 200: json() }, "head") },
  "`securitySchemes` Leave all but one out": { "two keys": schemes(key, key) },
  '`Key: ["a"]` Write `[]`: a key has': { "scopes": operation({ security: [{ Key: ["a"] }] }) },

  // Schemas that are checked or typed otherwise than they say, or that no value matches.
  '`enum: ["a"]` It cannot be beside `anyOf`': {
    "a union with values": schema({ anyOf: [text], enum: ["a"] }),
  },
  "`enum: []` Add what it lists": { "an empty enum": schema({ enum: [] }) },
  "`type: []` Add what it lists": { "an empty list of types": schema({ type: [] }) },
  "`enum: [[1]]` Write strings": { "a list as a value": schema({ enum: [[1]] }) },
  "`const: null` Write `type": { "null as a constant": schema({ anyOf: [{ const: null }, text] }) },
  '`type: ["string","null"]` Leave `null` out, or add such a value to `enum`': {
    "a null that is not among the values": schema({ type: ["string", "null"], enum: ["a"] }),
  },
  '"true" → `const` value must conform to the schema: type must be boolean': {
    "a constant of another type": object({ a: { type: "boolean", const: "true" } }),
  },
  '"x" → `enum` value must conform to the schema: type must be integer': {
    "an enum of another type": object({ a: { type: "integer", enum: ["x"] } }),
  },
  '"x" → `default` value must conform to the schema: type must be integer': {
    "a default of another type": object({ a: { type: "integer", default: "x" } }),
  },
  "1 → no-invalid-schema-examples: Example value must conform": {
    "an example of another type": object({ a: { ...text, examples: [1] } }),
  },
  "`minLength: 2` No value matches it and `maxLength: 1`": {
    "a minLength above maxLength": schema({ ...text, minLength: 2, maxLength: 1 }),
  },
  "`minItems: 2` No value matches it": {
    "minItems": schema({ ...list, minItems: 2, maxItems: 1 }),
  },
  "`minimum: 2` No value matches it and `exclusiveMaximum: 2`": {
    "a minimum that is excluded": query({ type: "number", minimum: 2, exclusiveMaximum: 2 }),
  },
  "`exclusiveMinimum: 1` Leave it or `minimum` out": {
    "two limits at one end": schema({ type: "number", minimum: 2, exclusiveMinimum: 1 }),
  },
  "`exclusiveMaximum: 1` Leave it or `maximum` out": {
    "two limits at the other end": schema({ type: "number", maximum: 2, exclusiveMaximum: 1 }),
  },
  '`pattern: "("` Invalid regular expression: /(/u: Unterminated group': {
    "a pattern that is not a regular expression": query({ ...text, pattern: "(" }),
  },
  "`items` Write what is listed without the list around it": {
    "a list of one schema as items": schema({ type: "array", items: { allOf: [list] } }),
    "a list of one type as items": schema({ type: "array", items: { ...list, type: ["array"] } }),
  },
  "`items: false` Write a schema": { "false as items": schema({ type: "array", items: false }) },
  "`a: false` Write a schema": { "false as a property": object({ a: false }) },
  "`uniqueItems: true` Leave it out, unless `items` is a string": {
    "objects that differ": schema({ type: "array", items: { type: "object" }, uniqueItems: true }),
  },
  "`additionalProperties` Write `true`": {
    "additional properties with a schema": object({ a: text }, { additionalProperties: text }),
  },
  "`additionalProperties: false` Leave it out: no type is": {
    "an object without names": schema({ type: "object", additionalProperties: false }),
  },
  '`required: ["a","b"]` Add to `properties`: b': {
    "a required property that is not there": object({ a: text }, { required: ["a", "b"] }),
  },
  '`required: ["z"]` Add to `properties`: z': {
    "a required property of any name": schema({
      type: "object",
      required: ["z"],
      additionalProperties: text,
    }),
  },
  "`readOnly: true` Leave it or `writeOnly` out": {
    "what is nowhere": object({ a: { readOnly: true, writeOnly: true } }),
  },
  "`anyOf` Write `anyOf` with a schema for each type": {
    "a union beside two types": schema({ type: ["object", "null"], anyOf: [{ type: "object" }] }),
  },
  "`oneOf` Write `type: object` in each of its schemas": {
    "a union that may be null beside an object": schema({
      type: "object",
      oneOf: [{ type: "object" }, { type: "null" }],
    }),
  },
  "`anyOf` Write `allOf`, with it in one schema and the rest in another": {
    "a union beside properties": object({ a: text }, { anyOf: [{ type: "object" }] }),
  },
  "`allOf` Leave `additionalProperties: false` out": {
    "schemas that refuse each other's properties": schema({
      allOf: [{ type: "object", properties: { a: {} }, additionalProperties: false }, ref("B")],
    }, { B: { type: "object", properties: { b: {} } } }),
  },
  "`allOf` Write the same `type` in each": {
    "types that no value has": schema({ allOf: [text, { type: "integer" }] }),
  },
  "true → struct: Expected type": { "true as a branch": schema({ anyOf: [true] }) },

  // References, names and versions.
  '"$ref" → `#/components/schemas/A` makes a schema a part of itself': {
    "a circle": schema(ref("A")),
    "anyOf in a circle": schema({ anyOf: [ref("B")] }, { B: { anyOf: [ref("A")] } }),
    "a list of itself": schema({ type: "array", items: ref("A") }),
  },
  '"$ref" → `#/components/schemas/A` has no end': {
    "a property that each value has": object({ a: ref("A") }, { required: ["a"] }),
  },
  '"$ref" → `#/components/schemas/B` does not exist': { "no target": schema(ref("B")) },
  '"$ref" → `https://a.example/b.yaml#/A` is not directly below `components`': {
    "another file": responding({ $ref: "https://a.example/b.yaml#/A" }),
  },
  '"deprecated" → `deprecated` is not accepted beside `$ref`': {
    "deprecated next to $ref": object({ a: { ...ref("A"), deprecated: true } }),
  },
  '"hasOwnProperty" → `hasOwnProperty` is a property of all objects in JavaScript': {
    "a name that JavaScript's objects have": object({ hasOwnProperty: text }),
  },
  '"3.2.0" → Expected OpenAPI 3.1, found 3.2.0': { "3.2": root({ openapi: "3.2.0" }) },
  "{ → Expected OpenAPI 3.1, found 2.0": { "Swagger 2": { swagger: "2.0" } },
  " → unreadable: unexpected end of the stream": { "YAML that is broken": "openapi: [\n" },
};

for (const [expected, documents] of Object.entries(refused)) {
  const [message = "", at = `"${/[^`:]+/.exec(expected)}"`] = expected.split(" → ").reverse();
  for (const [name, document] of Object.entries(documents)) {
    Deno.test(`generate refuses ${name}`, async () => {
      await using files = await makeFolder();
      const file = await files.write("openapi.json", document);
      const error = await readSpec(file).catch((error) => error);
      expect(error).toBeInstanceOf(SpecError);
      const lines: string[] = error.message.replaceAll(" is not accepted here.", "").split("\n");
      // What refers to it may be refused too.
      const found = lines.find((line) => line.replace(/^\S+:\d+:\d+ /, "").startsWith(message));
      expect([lines, found]).toEqual([lines, expect.any(String)]);
      const [, line = 0, column = 0] = /^\S+?:(\d+):(\d+) /.exec(found!)!;
      const source = (await readFile(file, "utf8")).split("\n")[Number(line) - 1]!;
      expect(source.slice(Number(column) - 1).slice(0, at.length)).toBe(at);
    });
  }
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
