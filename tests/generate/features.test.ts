// What the generator refuses, because the client would not send, type or check it as OpenAPI says:
// an example of each rule.
import { expect } from "@std/expect";
import { readFile } from "node:fs/promises";
import { writeOperations } from "../../scripts/generate/operations.ts";
import { readSpec, SpecError } from "../../scripts/generate/spec.ts";
import { writeValidators } from "../../scripts/generate/validators.ts";
import { makeFolder } from "../../scripts/support/files.ts";
import { documentOf, responding } from "./support.ts";

type Fields = Record<string, unknown>;

const json = (schema: unknown = {}) => ({ "application/json": { schema } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = { type: "string" };
const list = { type: "array", items: text };
const servers = [{ url: "/a" }];
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
const deep = (schema: Fields) => query({ type: "object", ...schema }, { style: "deepObject" });
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

const leave = "Leave this scheme out, also where `security` names it:";

/** Documents by what the file has at the place of the message, and by how the message begins. */
const refused: Record<string, Record<string, unknown>> = {
  '"schema" parameter: Write `type`: string, number, integer or boolean': {
    "an object as names of a query": query({ type: "object" }),
    "a list of lists in a query": query({ type: "array", items: list }),
    "a parameter that may be null": query({ type: ["string", "null"] }),
    "a parameter that is null": query({ const: null }),
    "a parameter of any type": query({}),
    "a parameter with a branch of any type": query({ anyOf: [text, {}] }),
    "an object in a path": parameter("path", { type: "object" }),
    "a list in a header": parameter("header", list),
  },
  '"schema" parameter: Write `type: object`, and only properties with a scalar `type`': {
    "an object with a list in a query": deep({ properties: { a: list } }),
    "an object with any names in a query": deep({ additionalProperties: text }),
    "an object with a name that a query cannot have": deep({ properties: { "a&b": text } }),
    "an object with a field of responses": deep({ properties: { a: { ...text, readOnly: true } } }),
    "an object with a field of requests": deep({ properties: { a: { ...text, writeOnly: true } } }),
    "a string as deepObject": query(text, { style: "deepObject" }),
  },
  '"style" parameter: Leave it out if repeated names are right': {
    "a list with pipes": query(list, { style: "pipeDelimited" }),
  },
  '"style" parameter: Leave it out, and write what it adds into the path: `/.{id}` for `label`': {
    "matrix in a path": parameter("path", text, { style: "matrix" }),
  },
  '"style" parameter: Leave it out': { "a header's style": header("X-A", { style: "form" }) },
  '"explode" parameter: Leave it out if repeated names are right; if not, write a `string`': {
    "a list with commas in a query": query(list, { explode: false }),
  },
  '"explode" parameter: Leave it out: a': { "/a,b": parameter("path", list, { explode: true }) },
  '"allowReserved" parameter: Leave it out': { "/ or ?": query(text, { allowReserved: true }) },
  '"content" parameter: Write `schema` with `type: string` in its place': {
    "JSON in a query": query(undefined, { content: json() }),
    "JSON in a path": parameter("path", undefined, { content: json() }),
    "JSON in a header": header("X-A", { schema: undefined, content: json() }),
  },
  '"name" parameter: Write letters, digits, `-` and `_`': {
    "a name that openapi-fetch reads as a style": parameter("path", text, { name: ".id" }),
    "a header parameter with spaces": header("X Name"),
  },
  '"name" parameter: Leave the parameter out, or an operation': {
    "a name that a query cannot have": query(text, { name: "a&b" }),
  },
  '"in" parameter: Write `required: true` next to it': {
    "an optional path parameter": parameter("path", text, { required: false }),
  },
  '"in" parameter: Leave the parameter out': { "a cookie": parameter("cookie", text) },
  '"name" parameter: Leave this header out: fetch or the client sets it': {
    "a header parameter Content-Type": header("content-type"),
    "a header parameter that fetch forbids": header("Host"),
    "a header parameter that begins as fetch forbids": header("Sec-A"),
  },
  '"name" parameter: Leave this header out: callers give `headers: {': { Accept: header("Accept") },
  '"name" parameter: Leave it out: the client sends the one credential that a security scheme': {
    "a header parameter Authorization": header("Authorization"),
  },

  '"content" request: Write only `application/json`, which the client sends; for another JSON type':
    {
      "a merge patch": body({ "application/merge-patch+json": {} }, "patch"),
      "JSON or something else as body": body({ ...json(), "text/plain": {} }),
      "JSON with a charset as body": body({ "application/json; charset=utf-8": {} }),
    },
  '"content" request: Write only `application/json` if the service accepts it; if not, leave': {
    "a form as body": body({ "multipart/form-data": {} }),
    "XML or text as body": body({ "application/xml": {}, "text/plain": {} }),
    "a body of no type": body({}),
  },
  '"get" path: Write `post` if the service accepts it': { "a body of GET": body(json(), "get") },
  '"head" path: Write `post` if the service accepts it': { "a body of HEAD": body(json(), "head") },
  '"servers" path: Leave it out': { "a path's servers": operation({}, "get", { servers }) },
  '"trace" path: Leave it out: fetch does not send it': { "TRACE": operation({}, "trace") },
  '"/a/../b" path: Write the path as in URLs': { "a path with ..": path("/a/../b") },
  '"//value" path: Write the path as in URLs': { "a path with an empty segment": path("//value") },
  '"/a//" path: Write the path as in URLs': { "a path with an empty last segment": path("/a//") },
  '"/a#b" path: Write the path as in URLs': { "a path with a fragment": path("/a#b") },
  '"servers" operation: Leave it out': { "an operation's servers": operation({ servers }) },
  '"callbacks" operation: Leave it out': { "callbacks": operation({ callbacks: {} }) },
  '"jsonSchemaDialect" operation: Leave it out': {
    "another dialect": root({ jsonSchemaDialect: "https://a.example" }),
  },
  '"x-idempotent" idempotent: Write `true` or `false`': {
    "an x-idempotent that is a word": operation({ "x-idempotent": "true" }),
    "an x-idempotent that is null": operation({ "x-idempotent": null }),
  },
  '"x-i idempotent: Unknown extension; did you mean `x-idempotent`?': {
    "another letter": operation({ "x-idempotant": true }),
    "a letter too few": operation({ "x-idmpotent": true }),
    "a letter too many, in another case": operation({ "x-inDemPotent": true }),
    "another word": operation({ "x-idem_potency": true }),
  },
  '"get" operation-operationId: Operation object should contain `operationId` field.': {
    "an operation without an operationId": operation({ operationId: undefined }),
  },
  "{ operation-operationId-unique: Every operation must have a unique `operationId`.": {
    "two operations with one operationId": operation({}, "get", {
      put: { operationId: "value", summary: "", responses: {} },
    }),
  },

  '"2xx" response: Write `2XX`, `4XX`': { "a small 2xx": responses({ 200: undefined, "2xx": {} }) },
  '"226" response: Write `2XX`, `4XX`': { "a rare status": responses({ 226: json() }) },
  '"302" response: Leave it out': { "a redirect": responses({ 200: undefined, 302: undefined }) },
  '"1XX" response: Leave it out': { "1XX": responses({ 200: undefined, "1XX": undefined }) },
  '"responses" response: Add a success response, such as `2XX`': {
    "only a default response": responses({ default: json() }),
    "no success response": responses({ 304: undefined, 404: json() }),
  },
  '"200" response: Write a media type without `*`': {
    "a success response of any type": responses({ 200: { "*/*": {} } }),
  },
  '"200" response: Write either JSON or other types': {
    "JSON or something else": responses({ 200: { ...json(), "text/csv": {} } }),
  },
  '"204" response: Leave `content` out': { "content of a 204": responses({ 204: json() }) },
  '"304" response: Leave `content` out': { "304 content": responses({ 200: {}, 304: json() }) },
  '"200" response: Leave `content` out': { "content of HEAD": responses({ 200: json() }, "head") },

  '"deprecated" response: Leave it out, and say it in `description`': {
    "a deprecated header of a response": operation({
      responses: {
        200: { description: "", headers: { "X-A": { schema: text, deprecated: true } } },
      },
    }),
  },

  '"A" schema: The schema is a part of itself; refer to it from `properties`': {
    "allOf in a circle": schema({ allOf: [ref("A"), { type: "object" }] }),
    "anyOf in a circle": schema({ anyOf: [ref("B")] }, { B: { anyOf: [ref("A")] } }),
    "a list of itself": schema({ type: "array", items: ref("A") }),
    "a schema that depends on itself": schema({ dependentSchemas: { a: ref("A") } }),
  },
  '"readOnly" schema: Write it directly below a name in `properties`': {
    "readOnly outside of properties": schema({ ...text, readOnly: true }),
  },
  '"writeOnly" schema: Write it directly below a name in `properties`': {
    "writeOnly outside of properties": schema({ ...text, writeOnly: true }),
  },
  '"deprecated" schema: Write it directly below a name in `properties`, or beside the': {
    "deprecated outside of properties": schema({ ...text, deprecated: true }),
    "deprecated in the schema of a parameter": query({ ...text, deprecated: true }),
  },
  '"uniqueItems" schema: Leave it out, unless `items` has `type`: string, number, integer or': {
    "objects that differ": schema({
      type: "array",
      items: { type: "object" },
      uniqueItems: true,
    }),
    "items of any type that differ": schema({ type: "array", uniqueItems: true }),
  },
  "1 no-invalid-schema-examples: Example value must conform to the schema: type must be string": {
    "an example of the wrong type": object({ a: { ...text, examples: [1] } }),
  },
  "1 no-invalid-media-type-examples: Example value must conform": {
    "an example of a response of the wrong type": responses({
      200: { "application/json": { schema: text, example: 1 } },
    }),
  },
  "1 no-invalid-parameter-examples: Example value must conform": {
    "an example of a parameter of the wrong type": query(text, { example: 1 }),
  },
  '"1" default: Default value must conform to the schema: type must be integer': {
    "a default of the wrong type": object({ a: { type: "integer", default: "1" } }),
    "a default that a reference refuses": schema({ allOf: [ref("B")], default: "1" }, {
      B: { type: "integer" },
    }),
  },
  '"A" schema: Add `type: object`, without which other values match too': {
    "properties of what may not be an object": schema({ properties: { a: text } }),
    "values of what may not be an object": schema({ additionalProperties: text }),
  },
  '"additionalProperties" schema: Write `true`': {
    "additional properties with a schema": object({ a: text }, { additionalProperties: text }),
  },
  '"anyOf" schema: Write `allOf` with `anyOf` in one schema and the rest': {
    "anyOf next to properties": object({ a: text }, { anyOf: [{}] }),
    "anyOf next to a type": schema({ type: "string", anyOf: [{ enum: ["a"] }] }),
    "anyOf next to allOf": schema({ allOf: [text], anyOf: [{ enum: ["a"] }] }),
  },
  '"patternProperties" schema: Add `additionalProperties: true`': {
    "patterns of names": schema({ type: "object", patternProperties: { "^x": text } }),
    "patterns next to names": object({ a: text }, {
      patternProperties: { "^x": text },
      additionalProperties: false,
    }),
  },
  '"b" schema: `required` names `b`, which is not in `properties`; add it': {
    "a required property that is not there": object({ a: text }, { required: ["a", "b"] }),
    "a required property that is in another schema": schema({
      allOf: [ref("B"), { type: "object", required: ["b"] }],
    }, { B: { type: "object", properties: { b: { ...text, writeOnly: true } } } }),
  },
  '"prefixItems" schema: Write `items`': { "tuples": schema({ ...list, prefixItems: [text] }) },
  '"discriminator" schema: Leave it out; each branch needs a required property with a `const`': {
    "a discriminator": schema({ oneOf: [{}], discriminator: { propertyName: "a" } }),
  },
  '"nullable" schema: Leave it out; if it is': { "nullable": schema({ ...text, nullable: true }) },
  '"$id" schema: Leave it out': { "a base": schema({ $id: "https://a.example" }) },
  '"$defs" schema: Write the schemas below': { "a part": schema({ $defs: { B: text } }) },
  '"$dynamicRef" schema: Use `$ref`': { "a dynamic reference": schema({ $dynamicRef: "#a" }) },
  '"a" schema: Invalid regular expression: /(/u: Unterminated group': {
    "a pattern that is not a regular expression": object({ a: { pattern: "(" } }),
  },
  "{ schema: No valid types possible": {
    "a schema that no value matches": schema({ ...text, allOf: [{ type: "integer" }] }),
  },
  '"requird" struct: Property `requird` is not expected here.': {
    "a keyword that JSON Schema does not have": schema({ requird: ["a"] }),
  },
  "true struct: Expected type": {
    "true as a branch": schema({ anyOf: [true] }),
    "3.0's exclusiveMinimum": schema({ type: "number", exclusiveMinimum: true }),
  },
  '"hasOwnProperty" name: `hasOwnProperty` is a property of all objects in JavaScript': {
    "a name that JavaScript's objects have": object({ hasOwnProperty: text }),
  },
  '"$ref" reference: `#/components/schemas/A` leads to itself': { "a circle": schema(ref("A")) },
  '"$ref" reference: Cannot resolve `#/components/schemas/B`': { "no target": schema(ref("B")) },
  '"readOnly" reference: `$ref` hides `readOnly`; drop it or write `allOf`': {
    "readOnly next to $ref": object({ a: { ...ref("A"), description: "", readOnly: true } }),
  },
  '"deprecated" reference: `$ref` hides `deprecated`; drop it or write `allOf`': {
    "deprecated next to $ref": object({ a: { ...ref("A"), deprecated: true } }),
  },
  '"$ref" reference: Write the target of `https://a.example/b.yaml#/A` directly below': {
    "another file": responding({ $ref: "https://a.example/b.yaml#/A" }),
  },
  '"$ref" reference: Write the target of `#/components/schemas/A/items` directly below': {
    "a part of another schema": schema(list, { B: ref("A/items") }),
  },

  '"type" security: Write `type: apiKey`, `in: header` and `name`, or leave out a scheme': {
    "a bearer token": schemes({ type: "http", scheme: "bearer" }),
  },
  '"in" security: Write `in: header` if the service reads it there, too; if not, leave the scheme':
    {
      "a key in a query": schemes({ ...key, in: "query" }),
      "a key in a cookie": schemes({ ...key, in: "cookie" }),
    },
  '"name" security: Leave this header out: fetch or the client sets it': {
    "a key in a header that fetch forbids": schemes({ ...key, name: "Cookie" }),
  },
  '"name" security: Leave this header out: callers give `headers: { Accept': {
    "a key in the header Accept": schemes({ ...key, name: "accept" }),
  },
  '"name" security: Write letters, digits': { "X Key": schemes({ ...key, name: "X Key" }) },
  '"name" security: Leave the parameter out': { "a parameter for the key": header("x-key") },
  [`"name" security: ${leave} the client sends one key, in \`x-key\`, and callers`]: {
    "two headers for the key": schemes(key, { ...key, name: "X-Other" }),
    "a header before that of the key": root({
      security: [{ Key: [] }],
      components: { securitySchemes: { Other: { ...key, name: "X-Other" }, Key: key } },
    }),
  },
  "{ security: Write one of them: the client sends one": {
    "two keys together": operation({ security: [{ Key: [], Other: [] }] }),
  },

  '"3.2.0" version: Expected OpenAPI 3.1, found 3.2.0': { "3.2": root({ openapi: "3.2.0" }) },
  "{ version: Expected OpenAPI 3.1, found 2.0": { "Swagger 2": { swagger: "2.0" } },
  "{ version: Expected OpenAPI 3.1, found no version": { "something else": { open: 1 } },
  " unreadable: unexpected end of the stream": { "YAML that is broken": "openapi: [\n" },
};

for (const [expected, documents] of Object.entries(refused)) {
  const [, at = "", message = ""] = /^(\S*) (.*)$/.exec(expected)!;
  for (const [name, document] of Object.entries(documents)) {
    Deno.test(`generate refuses ${name}`, async () => {
      await using files = await makeFolder();
      const file = await files.write("openapi.json", document);
      const error = await readSpec(file)
        .then((spec) => writeValidators(spec, writeOperations(spec.document).responses))
        .catch((error) => error);
      expect(error).toBeInstanceOf(SpecError);
      // What refers to it may be refused too.
      const lines: string[] = error.message.split("\n");
      const found = lines.find((line) => line.replace(/^\S+:\d+:\d+ /, "").startsWith(message));
      expect([lines, found]).toEqual([lines, expect.any(String)]);
      const [, line = 0, column = 0] = /^\S+?:(\d+):(\d+) /.exec(found!)!;
      const source = (await readFile(file, "utf8")).split("\n")[Number(line) - 1]!;
      expect(source.slice(Number(column) - 1).slice(0, at.length)).toBe(at);
    });
  }
}
