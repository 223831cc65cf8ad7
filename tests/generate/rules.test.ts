// What is refused, where, and what is accepted.
import {
  BaseResolver,
  bundle,
  createConfig,
  lintDocument,
  makeDocumentFromString,
} from "@redocly/openapi-core";
import { expect } from "@std/expect";
import { redoclyConfig } from "../../scripts/generate/rules.ts";
import { chainOf, documentOf, type Fields, json, operationOf, ref } from "./support.ts";

/** Lists what is refused: the end of a JSON Pointer, and what to write instead. */
async function lint(value: Fields) {
  const redocly = await createConfig(redoclyConfig);
  const document = makeDocumentFromString(JSON.stringify(value), "/openapi.yaml");
  const externalRefResolver = new BaseResolver();
  const options = { externalRefResolver, config: redocly };
  const problems = await lintDocument({ ...options, document, config: redocly.styleguide });
  if (problems.length === 0) {
    problems.push(...(await bundle({ ...options, doc: document })).problems);
  }
  return problems.map(({ location, message }) => {
    const place = location[0]!.pointer!.replace(/^#\/|components\/schemas\//g, "");
    return { place: place.replace(/^paths\/~1a\/(get\/parameters\/0\/)?/, ""), message };
  });
}

const text = { type: "string" };
const list = { type: "array", items: text };
const ok = { description: "" };

const path = (name: string, item: Fields = {}) => documentOf({ [name]: item });
const operation = (fields: Fields, method = "get") =>
  path("/a", { [method]: operationOf("a", fields) });
const response = (status: string, content: unknown, method = "get") =>
  operation({ responses: { [status]: { ...ok, content } } }, method);
const body = (content: unknown, method = "post") => operation({ requestBody: { content } }, method);
const parameter = (place: string, schema: unknown, rest: Fields = {}) => {
  const { name = "id" } = rest;
  const fields = { parameters: [{ name, in: place, required: true, schema, ...rest }] };
  return path(place === "path" ? `/a/{${name}}` : "/a", { get: operationOf("a", fields) });
};
const inPath = (fields: Fields) => parameter("path", text, fields);
const header = (name: string) => parameter("header", text, { name });
const query = (schema: unknown, rest: Fields = {}) => parameter("query", schema, rest);
const tags = { name: "a[]", in: "query", style: "form", explode: true, schema: list };

const key = { type: "apiKey", in: "header", name: "X-Key" };
const http = { type: "http", scheme: "bearer" };
const schemes = (...securitySchemes: Fields[]) =>
  documentOf({}, { securitySchemes: { ...securitySchemes } }, { security: [] });

const schema = (A: unknown, B: unknown = text) => documentOf({}, { schemas: { A, B } });
const object = (a: unknown, rest: Fields = {}) =>
  schema({ type: "object", properties: { a }, ...rest });
const array = (items: unknown, rest: Fields = {}) => schema({ type: "array", items, ...rest });
const open = { type: "object", properties: { b: text } };
const closed = { ...open, additionalProperties: false };
const anyOf = [open];

/** Names of headers that the client, fetch or callers set. */
const reserved = `accept Authorization connection content-length content-type cookie expect host
  keep-alive te trailer transfer-encoding upgrade`.split(/\s+/);

/** Names that no method of the client can have. */
const unusable = `GET TRACE request use eject call checkOwnKey then constructor toString __proto__
  get-report get/report 1st`.split(/\s+/);

const done = { $ref: "#/components/responses/Done", content: {} };
const examples = { a: { externalValue: "https://a.example/a.json" } };

/** Documents by what is refused, "place: message", which may be a part of the message. */
const refused: [problem: string, ...documents: Fields[]][] = [
  // What the client does not do
  ["webhooks: receives no requests", documentOf({}, {}, { webhooks: { a: {} } })],
  ["get/callbacks: receives no requests", operation({ callbacks: {} })],
  ["servers: go to `baseUrl`", path("/a", { servers: [{ url: "/" }] })],
  ["get/servers: go to `baseUrl`", operation({ servers: [{ url: "/" }] })],
  ["trace: fetch does not send TRACE", operation({}, "trace")],
  ["get/operationId: Write another", ...unusable.map((operationId) => operation({ operationId }))],
  ["in: the client has no cookies", parameter("cookie", text)],
  ["components/securitySchemes/0: `security: []`", schemes(http, key), schemes(http)],
  ["components/securitySchemes/1: a key", schemes(key, key), schemes(key, { ...key, in: "query" })],
  ["components/securitySchemes/0: a `name`", schemes({ ...key, name: "X Y" })],
  ["components/securitySchemes/0: set it in `headers`", schemes({ ...key, name: "Cookie" })],

  // What openapi-fetch sends differently
  ["paths/~1b~1..~1c: as it is in URLs", path("/b/../c")],
  ["paths/~1b~1~1c: as it is in URLs", path("/b//c")],
  ["paths/~1b?c: as it is in URLs", path("/b?c")],
  ["get/requestBody: write `post`", body(json(text), "get")],
  ["post/requestBody/content: `call` can send", body({ "multipart/form-data": {} })],
  [
    "patch/requestBody/content: `call` can send",
    body({ "application/merge-patch+json": {} }, "patch"),
  ],
  ["post/requestBody/content: Leave all but", body({ ...json(text), "text/plain": {} })],
  ["name: the client sends it", header("x-key"), ...reserved.map(header)],
  ["name: fetch can send", header("X Y"), query(text, { name: "a&b" })],
  ["paths/~1a~1{.a}/get/parameters/0/name: can send", parameter("path", text, { name: ".a" })],
  ["content: callers write the text", query(undefined, { content: json(text) })],
  ["allowReserved: percent-encoded", query(text, { allowReserved: true })],
  ["style: callers join the values", query(list, { style: "pipeDelimited" })],
  ["style: such as `filter[name]`", query(text, { style: "deepObject" })],
  ["paths/~1a~1{id}/get/parameters/0/style: `;name={name}`", inPath({ style: "matrix" })],
  ["paths/~1a~1{id}/get/parameters/0/style: `.{name}`", inPath({ style: "label" })],
  ["paths/~1a~1{id}/get/parameters/0/required: `required: true`", inPath({ required: false })],
  ["explode: callers join the values", query(list, { explode: false })],
  ["schema: string, number", query({}), query({ type: ["string", "null"] })],
  ["schema: a list of these", query({ type: "array" }), query({ ...list, items: list })],
  ["schema: such as `filter[name]`", query({ type: "object" }), parameter("header", list)],

  // What openapi-fetch's types lack
  ["get/responses: Add a success response", operation({ responses: {} })],
  ["get/responses: Add a success response", operation({ responses: { default: ok } })],
  ["get/responses: Add a success response", operation({ responses: null })],
  ["get/responses: HEAD, 204 and 205 have no body", response("205", json(text))],
  ["head/responses: HEAD, 204 and 205 have no body", response("200", json(text), "head")],
  ["get/responses/2xx: Write `2XX`", response("2xx", json(text))],
  ["get/responses/226: Write `2XX`", response("226", json(text))],
  ["get/responses/200: with `*`", response("200", { "*/*": {} })],

  // What openapi-typescript types differently
  ["A/properties: Write `type: object`", schema({ properties: { a: text } })],
  ["A/additionalProperties: Write `type: object`", schema({ additionalProperties: text })],
  ["A/additionalProperties: Write `true`", object(text, { additionalProperties: text })],
  ["A/items: or `type: array` beside", schema({ items: text })],
  ["A/items: directly", array({ allOf: [list] }), array({ ...list, type: ["array"] })],
  ["A/prefixItems: Write `items`", schema({ type: "array", prefixItems: [text] })],
  ["A/patternProperties: `additional", schema({ type: "object", patternProperties: { a: text } })],
  ["A/$defs: below `components: schemas:`", schema({ $defs: { B: text } })],
  ["A/nullable: Write `type: [string, ", schema({ ...text, nullable: true })],
  ["A/anyOf: into a schema in `allOf`", object(text, { anyOf }), schema({ anyOf, allOf: anyOf })],
  ["A/anyOf: `allOf`", schema({ type: "object", anyOf, additionalProperties: true })],
  ["A/type: the schemas in `oneOf`", schema({ type: ["object", "null"], oneOf: anyOf })],
  ["A/type: the types that the values have", schema({ ...text, enum: [1] })],
  ["A/type: and no others", schema({ type: ["string", "null"], enum: ["a"] })],
  ["A/type: the types", schema({ ...text, enum: ["a", 1] }), schema({ ...text, const: null })],
  ["A/properties/a: only be null", object({ type: "null" }), object({ const: null })],
  ["A/properties/toString: another name", object({}, { properties: { toString: text } })],
  ["A/enum: strings, numbers", schema({ enum: [{ a: 1 }] })],
  ["A/const: strings, numbers", schema({ const: [] })],
  ["A/readOnly: properties", schema({ ...text, readOnly: true }), array({}, { readOnly: true })],
  ["A/items/writeOnly: below `properties", array({ ...text, writeOnly: true })],
  [
    "A: a property in between",
    ...["allOf", "anyOf", "oneOf"].map((of) => schema({ [of]: [ref("A")] })),
  ],
  ["A: a property in between", array(ref("A"))],
  ["A/properties/a: and a name that is there", object(ref("Typo")), object(ref("A/properties/b"))],
  ["A/properties/a: and a name that is there", object({ $ref: "b.yaml#/B" })],
  ["get/responses/200: `#/components/responses/`", operation({ responses: { 200: ref("B") } })],
  ["A/properties/a/nullable: Write `allOf: [", object({ ...ref("B"), nullable: true })],
  ["A/properties/a/maxlength: Write `allOf: [", object({ ...ref("B"), maxlength: 1 })],
  ["A/properties/a/enum: Write `allOf: [", object({ ...ref("B"), enum: ["a"] })],
  ["get/responses/200/content: hides it", {
    ...operation({ responses: { 200: done } }),
    components: { securitySchemes: { Key: key }, responses: { Done: ok } },
  }],

  // What is checked wrongly or slowly
  ["A/minimum: limit", schema({ type: "number", minimum: 0, exclusiveMinimum: 0 })],
  ["A/maximum: limit", schema({ type: "number", maximum: 2, exclusiveMaximum: 1 })],
  ["A/uniqueItems: are compared", array({ type: "object" }, { uniqueItems: true })],
  ["A: Invalid regular expression", schema({ ...text, pattern: "(?i)a" })],
  ["A: schema", schema({ type: "object", required: ["a"], additionalProperties: false })],
  ["A/allOf/1: No valid types possible", schema({ allOf: [ref("B"), list] })],

  // Mistakes
  ["A/required: only names that", object(text, { required: ["a", "typo"] })],
  ["A/allOf: out of it", schema({ allOf: [open, closed] }), object(text, { allOf: [closed] })],
  ["A/allOf: out of B", schema({ ...open, allOf: [ref("B")] }, closed)],
  ["get/x-idempotent: `true` or `false`", operation({ "x-idempotent": "yes" })],
  ["get/x-idempotant: Write `x-idempotent`", operation({ "x-idempotant": true })],
  ["get/x-idmepotent: Write `x-idempotent`", operation({ "x-idmepotent": true })],
  ["x-idempotant: beside `operationId`", path("/a", { "x-idempotant": true })],
  ["A: Write `{}`", schema(true)],
  ["get/x-Idempotency: Write `x-idempotent`", operation({ "x-Idempotency": true })],
  ["x-idempotent: beside `operationId`", path("/a", { "x-idempotent": true })],
  [
    "get/responses/200/content/application~1json/examples/a/externalValue: Write `value`",
    response("200", { "application/json": { schema: {}, examples } }),
  ],

  // Redocly's rules
  ["A/required: Expected type `array`", schema({ type: "object", required: true })],
  ["A/requird: not expected here", object(text, { requird: ["a"] })],
  ["A/properties/a: Expected type `Schema` (object)", object(null)],
  ["A/example: must be string", schema({ ...text, example: 1 })],
  ["A/examples/1: must be string", schema({ ...text, examples: ["a", 1] })],
  ["example: must be string", query(text, { example: 1 })],
  [
    "get/responses/200/content/application~1json/example: must be string",
    response("200", { "application/json": { schema: text, example: 1 } }),
  ],
  ["paths/~1b~1{y}: already exists", documentOf({ "/b/{x}": {}, "/b/{y}": {} })],
  ["paths/~1b~1{y}/get/parameters: path parameter", path("/b/{y}", { get: operationOf("a") })],
  ["a$: not match", documentOf({}, { schemas: { a$: text } })],
  ["get/parameters/1: Repeats of", operation({ parameters: [tags, tags] })],
  ["post/a: unique", path("/a", { get: operationOf("a"), post: operationOf("a") })],
  ["get/operationId: operationId", operation({ operationId: undefined })],
  ["get/security/0/Other: There is no", operation({ security: [{ Other: [] }] })],
];

for (const [problem, ...documents] of refused) {
  Deno.test(`the rules refuse ${problem}`, async () => {
    const [place, message] = problem.split(/: (.*)/);
    for (const document of documents) {
      const found = await lint(document);
      // Another at the same place is left out by the generator.
      expect([...new Set(found.map((problem) => problem.place))]).toEqual([place]);
      expect(found[0]!.message).toContain(message);
    }
  });
}

Deno.test("the rules accept what only describes, and what types are wider than", async () => {
  const rest = { description: "a", externalDocs: { url: "https://a.example" }, "x-a": 1 };
  const properties = {
    a: { ...ref("B"), ...rest, deprecated: true },
    "x-potential-scam": text,
    b: { ...text, format: "a" },
    c: { contentEncoding: "base64" },
  };
  const A = {
    ...{ title: "a", default: 1, examples: [{ b: "", more: 1 }], deprecated: true, ...rest },
    ...{ type: "object", minProperties: 0, maxProperties: 9, required: ["b"], propertyNames: text },
    ...{ not: { required: ["c"] }, if: {}, then: {}, dependentRequired: {}, example: { b: "" } },
    ...{ properties, xml: {} },
  };
  const discriminator = { propertyName: "a", mapping: { a: "B" } };
  const schemas = {
    A,
    B: { oneOf: [{ type: "number", multipleOf: 2 }, { type: "null" }], discriminator },
    Whole: { ...open, required: ["a"], allOf: [ref("A")] },
    Union: { ...open, required: ["a"], oneOf: [ref("A")] },
    Part: { allOf: [{ ...open, required: ["a"] }, ref("A")] },
    Closed: { allOf: [closed, { type: "object", required: ["b"] }] },
    List: { type: "array", items: { type: "object", properties: { a: ref("List") } } },
    Map: { type: "object", additionalProperties: ref("Map") },
    Kind: { type: ["string", "integer", "null"], enum: ["a", 1, null], title: "a" },
  };
  const headers = { A: { schema: text }, "X-Idempotency-Key": { schema: text } };
  const links = { a: { operationId: "a" } };
  const full = { ...ok, headers, content: json(ref("A")), links };
  const responses = { 200: full, 202: ok, 302: ok, 429: full, 444: ok, "4XX": full };
  const requestBody = { description: "a", content: json(A) };
  const fields = {
    ...rest,
    "x-fern-idempotent": true,
    "x-import": 1,
    tags: ["a"],
    summary: "a",
    deprecated: true,
    requestBody,
    responses,
  };
  const item = { summary: "a", parameters: [tags], post: operationOf("a", fields) };
  const info = { title: "a", version: "1", contact: {}, license: { name: "a" }, "x-a": 1 };
  const servers = [{ url: "/{a}", variables: { a: { default: "" } } }];
  const { description: _, ...more } = { ...rest, info, servers };
  expect(await lint(documentOf({ "/a": item }, { schemas }, more))).toEqual([]);
});

Deno.test("the rules accept a long chain of schemas, and refuse a longer one", async () => {
  expect(await lint(chainOf(250))).toEqual([]);
  const location = { pointer: "#/components/schemas/A250/properties/next/anyOf/0" };
  await expect(lint(chainOf(252))).rejects.toMatchObject({ location });
});
