// What the generator refuses, because the client would not send, type or check it as OpenAPI says.
import { expect } from "@std/expect";
import { readFile } from "node:fs/promises";
import { readSpec, SpecError } from "../../scripts/generate/spec.ts";
import { documentOf, folder, responding } from "./support.ts";

type Fields = Record<string, unknown>;

const json = (schema: unknown = {}) => ({ "application/json": { schema } });
const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = { type: "string" };
const list = { type: "array", items: text };
const keys = { Key: { type: "apiKey", in: "header", name: "X-Key" } };

/** The document of an operation, of its path item, and of its path. */
function operation(fields: Fields, method = "get", item: Fields = {}, path = "/value"): unknown {
  const responses = { "2XX": { description: "" } };
  const value = {
    operationId: "value",
    summary: "A value.",
    security: [{ Key: [] }],
    responses,
    ...fields,
  };
  return documentOf({ [path]: { [method]: value, ...item } }, {
    components: { securitySchemes: keys },
  });
}

function parameter(place: string, schema: unknown, rest: Fields = {}): unknown {
  const required = place === "path";
  const parameters = [{ name: "id", in: place, required, schema, ...rest }];
  return operation({ parameters }, "get", {}, required ? "/value/{id}" : "/value");
}
const header = (name: string) => parameter("header", text, { name });
const body = (content: unknown, method = "post") => operation({ requestBody: { content } }, method);
const responses = (responses: Fields, method = "get") =>
  operation({
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, content]) => [status, { description: "", content }]),
    ),
  }, method);
const schemas = (schemas: Fields) => responding(schemaRef(Object.keys(schemas)[0]!), { schemas });
const scheme = (Key: unknown) =>
  documentOf({}, { security: [], components: { securitySchemes: { Key } } });

const style = "parameter: Leave it out, or write `deepObject` for an object in a query";
const type = "parameter: Write `type`: string, number, integer or boolean; an `array` of these " +
  "is not for headers, an `object` is only for queries with `style: deepObject`";
const name = "parameter: Write letters, digits, `-` and `_`";
const reserved = "Use another name: fetch or the client sets this header";
const onlyJson = "request: Write only `application/json`, which the client sends";
const noBody = "path: Write `post`, or parameters: fetch sends no body with this method";
const unseen = "response: Leave it out: the client never returns this status";
const status = "response: Write `2XX`, `4XX` or `5XX`: types do not have this status";
const success = "response: Add a success response, such as `2XX`: `default` describes errors";
const path = "path: Write the path as URLs have it, without `.`, `..` and empty segments";
const baseUrl = "Leave it out: all requests go to `baseUrl`";
const receives = "operation: Leave it out: the client receives no requests";
const object = "schema: Add `type: object`, without which other values match too";
const circle = "schema: The schema is a part of itself; refer to it from `properties`";
const marker = "schema: Write it directly below a name in `properties`";
const union = "schema: Write `allOf` with `anyOf` and the rest in it, as types read it";
const mixed = "schema: Write `true`: no type has both kinds of names";
const oneKey =
  "security: Delete it, or write `type: apiKey`, `in: header` and `name`: the client sends one key";

/** Documents, each with what the file has at the place of the message, and the message. */
const refused: Record<string, [document: unknown, at: string, message: string]> = {
  // Parameters
  "a list with commas in a query": [
    parameter("query", list, { explode: false }),
    '"explode"',
    "parameter: Leave it out if repeated names are right; if not, write a `string` that callers join",
  ],
  "a list with pipes": [parameter("query", list, { style: "pipeDelimited" }), '"style"', style],
  "a list with spaces": [parameter("query", list, { style: "spaceDelimited" }), '"style"', style],
  "an object as names of a query": [parameter("query", { type: "object" }), '"schema"', type],
  "an object with a list in a query": [
    parameter("query", { type: "object", properties: { a: list } }, { style: "deepObject" }),
    '"schema"',
    type,
  ],
  "an object with any names in a query": [
    parameter("query", { type: "object", additionalProperties: text }, { style: "deepObject" }),
    '"schema"',
    type,
  ],
  "an object with a name that a query cannot have": [
    parameter("query", { type: "object", properties: { "a&b": text } }, { style: "deepObject" }),
    '"schema"',
    type,
  ],
  "a list as deepObject": [parameter("query", list, { style: "deepObject" }), '"schema"', type],
  "a list of lists in a query": [
    parameter("query", { type: "array", items: list }),
    '"schema"',
    type,
  ],
  "a parameter that may be null": [
    parameter("query", { type: ["string", "null"] }),
    '"schema"',
    type,
  ],
  "a parameter of any type": [parameter("query", {}), '"schema"', type],
  "reserved characters in a query": [
    parameter("query", text, { allowReserved: true }),
    '"allowReserved"',
    "parameter: Leave it out: all values are percent-encoded",
  ],
  "JSON in a query": [
    parameter("query", undefined, { content: json() }),
    '"content"',
    "parameter: Write `schema` in its place",
  ],
  "a name that a query cannot have": [parameter("query", text, { name: "a&b" }), '"name"', name],
  "matrix in a path": [parameter("path", text, { style: "matrix" }), '"style"', style],
  "label in a path": [parameter("path", text, { style: "label" }), '"style"', style],
  "explode in a path": [
    parameter("path", list, { explode: true }),
    '"explode"',
    "parameter: Leave it out: a list is sent with commas",
  ],
  "an object in a path": [parameter("path", { type: "object" }), '"schema"', type],
  "a path parameter that is not required": [
    parameter("path", text, { required: false }),
    '"in"',
    "parameter: Write `required: true` next to it",
  ],
  "a name that openapi-fetch reads as a style": [
    operation(
      { parameters: [{ name: ".id", in: "path", required: true, schema: text }] },
      "get",
      {},
      "/value/{.id}",
    ),
    '"name"',
    name,
  ],
  "a cookie": [
    parameter("cookie", text),
    '"in"',
    "parameter: Write `header`: the client sends no cookies",
  ],
  "a list in a header": [parameter("header", list), '"schema"', type],
  "a header parameter for the key": [
    header("x-key"),
    '"name"',
    "security: Leave the parameter out: the client sends the key",
  ],
  "a header parameter Accept": [header("Accept"), '"name"', `parameter: ${reserved}`],
  "a header parameter Content-Type": [header("content-type"), '"name"', `parameter: ${reserved}`],
  "a header parameter that fetch forbids": [header("Host"), '"name"', `parameter: ${reserved}`],
  "a header parameter Authorization": [
    header("Authorization"),
    '"name"',
    "parameter: Leave the parameter out: the client sends a key instead",
  ],
  "a header parameter with spaces": [header("X Name"), '"name"', name],

  // Requests
  "a merge patch": [body({ "application/merge-patch+json": {} }, "patch"), '"content"', onlyJson],
  "a form": [body({ "application/x-www-form-urlencoded": {} }), '"content"', onlyJson],
  "a multipart form": [body({ "multipart/form-data": {} }), '"content"', onlyJson],
  "a text as body": [body({ "text/plain": {} }), '"content"', onlyJson],
  "JSON or something else as body": [body({ ...json(), "text/plain": {} }), '"content"', onlyJson],
  "JSON with a charset as body": [
    body({ "application/json; charset=utf-8": {} }),
    '"content"',
    onlyJson,
  ],
  "a body of no type": [body({}), '"content"', onlyJson],
  "a body of GET": [body(json(), "get"), '"get"', noBody],
  "a body of HEAD": [body(json(), "head"), '"head"', noBody],
  "additional properties with a schema next to others": [
    body(json({ type: "object", properties: { a: text }, additionalProperties: text })),
    '"additionalProperties"',
    mixed,
  ],

  // Paths and operations
  "the servers of an operation": [
    operation({ servers: [{ url: "https://other.example" }] }),
    '"servers"',
    `operation: ${baseUrl}`,
  ],
  "the servers of a path": [
    operation({}, "get", { servers: [{ url: "https://other.example" }] }),
    '"servers"',
    `path: ${baseUrl}`,
  ],
  "TRACE": [
    operation({}, "trace"),
    '"trace"',
    "path: Leave it out: fetch does not send it",
  ],
  "callbacks": [
    operation({ callbacks: {} }),
    '"callbacks"',
    receives,
  ],
  "webhooks": [
    documentOf({}, { webhooks: {}, security: [] }),
    '"webhooks"',
    receives,
  ],
  "a path with ..": [operation({}, "get", {}, "/a/../b"), '"/a/../b"', path],
  "a path with an empty segment": [operation({}, "get", {}, "//value"), '"//value"', path],
  "a path with a fragment": [operation({}, "get", {}, "/a#b"), '"/a#b"', path],
  "a path with a space": [operation({}, "get", {}, "/a b"), '"/a b"', path],

  // Responses
  "a status in lower case": [
    responses({ 200: undefined, "2xx": json() }),
    '"2xx"',
    status,
  ],
  "a status that the types do not have": [
    responses({ 226: json() }),
    '"226"',
    status,
  ],
  "a redirect": [responses({ 200: undefined, 302: undefined }), '"302"', unseen],
  "a status below 200": [responses({ 200: undefined, "1XX": undefined }), '"1XX"', unseen],
  "only a default response": [responses({ default: json() }), '"responses"', success],
  "no success response": [responses({ 404: json() }), '"responses"', success],
  "a success response of any type": [
    responses({ 200: { "*/*": {} } }),
    '"200"',
    "response: Write a media type without `*`, such as `application/json`",
  ],
  "a success response of JSON or something else": [
    responses({ 200: { ...json(), "text/csv": {} } }),
    '"200"',
    "response: Write JSON or other types: the client does not ask for one",
  ],
  "content of a 204": [
    responses({ 204: json() }),
    '"204"',
    "response: Leave `content` out: this response has no body",
  ],
  "content of HEAD": [
    responses({ 200: json() }, "head"),
    '"200"',
    "response: Leave `content` out: this response has no body",
  ],

  // Schemas
  "a schema that refers only to itself": [
    schemas({ A: schemaRef("A") }),
    '"$ref"',
    "reference: `#/components/schemas/A` leads to itself",
  ],
  "allOf in a circle": [
    schemas({ A: { allOf: [schemaRef("A"), { type: "object" }] } }),
    '"A"',
    circle,
  ],
  "a list of itself": [
    schemas({ A: { type: "array", items: schemaRef("A") } }),
    '"A"',
    circle,
  ],
  "anyOf in a circle": [
    schemas({ A: { anyOf: [schemaRef("A"), { type: "null" }] } }),
    '"A"',
    circle,
  ],
  "properties of what may be no object": [
    schemas({ A: { properties: { a: text } } }),
    '"A"',
    object,
  ],
  "values of what may be no object": [
    schemas({ A: { additionalProperties: text } }),
    '"A"',
    object,
  ],
  "anyOf next to properties": [
    schemas({ A: { type: "object", properties: { a: text }, anyOf: [{}] } }),
    '"anyOf"',
    union,
  ],
  "anyOf next to a type": [
    schemas({ A: { type: "string", anyOf: [{ enum: ["a"] }] } }),
    '"anyOf"',
    union,
  ],
  "writeOnly outside of properties": [
    schemas({ A: { type: "string", writeOnly: true } }),
    '"writeOnly"',
    marker,
  ],
  "readOnly next to $ref": [
    schemas({
      A: { type: "object", properties: { a: { ...schemaRef("B"), readOnly: true } } },
      B: text,
    }),
    '"readOnly"',
    "reference: `$ref` hides `readOnly`; write `allOf` with both",
  ],
  "required of a property that is writeOnly in another schema": [
    schemas({
      A: {
        allOf: [
          { type: "object", properties: { a: { type: "string", writeOnly: true } } },
          { type: "object", required: ["a"] },
        ],
      },
    }),
    '"a"',
    "schema: `required` names `a`, which is not in `properties`; add it",
  ],
  "tuples": [
    schemas({ A: { type: "array", prefixItems: [text] } }),
    '"prefixItems"',
    "schema: Add `items: false` and `minItems: 1`",
  ],
  "patterns of names": [
    schemas({ A: { type: "object", patternProperties: { "^x": text } } }),
    '"patternProperties"',
    "schema: Add `additionalProperties: true`: types need it",
  ],
  "a discriminator": [
    schemas({ A: { oneOf: [{}], discriminator: { propertyName: "a" } } }),
    '"discriminator"',
    "schema: Leave it out; each branch needs a required property with a `const` of its own",
  ],
  "nullable": [
    schemas({ A: { type: "string", nullable: true } }),
    '"nullable"',
    'schema: Write `type: [string, "null"]`',
  ],
  "a base for references": [
    schemas({ A: { $id: "https://a.example" } }),
    '"$id"',
    "schema: Leave it out",
  ],
  "another dialect of JSON Schema": [
    documentOf({}, { jsonSchemaDialect: "https://other.example", security: [] }),
    '"jsonSchemaDialect"',
    "operation: Leave it out",
  ],
  "schemas in a schema": [
    schemas({ A: { $defs: { B: text } } }),
    '"$defs"',
    "schema: Write the schemas below `components`",
  ],
  "true as a branch": [
    schemas({ A: { anyOf: [true] } }),
    "true",
    "struct: Expected type `Schema` (object) but got `boolean`",
  ],
  "OpenAPI 3.0's exclusiveMinimum": [
    schemas({ A: { type: "number", minimum: 1, exclusiveMinimum: true } }),
    "true",
    "struct: Expected type `number` but got `boolean`.",
  ],
  "a type that JSON does not have": [
    schemas({ A: { type: "file" } }),
    '"file"',
    'struct: `type` can be one of the following only: "object", "array", "string", "number", "integer", "boolean", "null".',
  ],
  "a name that JavaScript's objects have": [
    schemas({ A: { type: "object", properties: { hasOwnProperty: text } } }),
    '"hasOwnProperty"',
    "name: `hasOwnProperty` is a name of JavaScript's and cannot be read; leave it out",
  ],
  "another file": [
    responding({ $ref: "https://other.example/api.yaml#/A" }),
    '"$ref"',
    "reference: Write the target of `https://other.example/api.yaml#/A` directly below " +
    "`components`",
  ],
  "a part of another schema": [
    schemas({ A: { type: "object", properties: { a: schemaRef("A/properties/b"), b: text } } }),
    '"$ref"',
    "reference: Write the target of `#/components/schemas/A/properties/b` directly below " +
    "`components`",
  ],

  // Security
  "a bearer token": [scheme({ type: "http", scheme: "bearer" }), '"type"', oneKey],
  "a key in a query": [
    scheme({ type: "apiKey", in: "query", name: "key" }),
    '"in"',
    oneKey,
  ],
  "a key in a header that fetch forbids": [
    scheme({ type: "apiKey", in: "header", name: "Cookie" }),
    '"name"',
    `security: ${reserved}`,
  ],
  "a key in a header with a space": [
    scheme({ type: "apiKey", in: "header", name: "X Key" }),
    '"name"',
    "security: Write letters, digits, `-` and `_`",
  ],
  "OpenAPI 3.2": [
    documentOf({}, { openapi: "3.2.0" }),
    '"3.2.0"',
    "version: Expected OpenAPI 3.1, found 3.2.0; write `openapi: 3.1.0`, and nothing that 3.1 " +
    "does not have",
  ],
};

for (const [name, [document, at, message]] of Object.entries(refused)) {
  Deno.test(`generate refuses ${name}`, async () => {
    await using files = await folder();
    const file = await files.write("openapi.json", document);
    const error = await readSpec(file).then((spec) => spec.warnings.join("\n"), (error) => error);
    expect(error).toBeInstanceOf(SpecError);
    const [last] = error.message.split("\n").slice(-1); // what refers to it may be refused too
    const [, line, column, found] = /^\S+:(\d+):(\d+) (.*)$/.exec(last)!;
    expect(found!.replace(/ \(from \S+\)$/, "")).toBe(message);
    const source = (await readFile(file, "utf8")).split("\n")[Number(line) - 1]!;
    expect(source.slice(Number(column) - 1, Number(column) - 1 + at.length)).toBe(at);
  });
}
