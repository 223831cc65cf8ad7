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
import { documentOf, type Fields, json, operationOf, ref } from "./support.ts";

/** Lists what is refused: the end of a JSON Pointer, the rule, and what to write instead. */
async function lint(value: Fields) {
  const redocly = await createConfig(redoclyConfig);
  const document = makeDocumentFromString(JSON.stringify(value), "/openapi.yaml");
  const externalRefResolver = new BaseResolver();
  const options = { externalRefResolver, config: redocly };
  const problems = await lintDocument({ ...options, document, config: redocly.styleguide });
  if (problems.length === 0) {
    problems.push(...(await bundle({ ...options, doc: document })).problems);
  }
  return problems.map(({ location, message, ruleId }) => {
    const place = location[0]!.pointer!.replace(/^#\/|components\/schemas\//g, "");
    return { place: place.replace(/^paths\/~1a\/(get\/parameters\/0\/)?/, ""), ruleId, message };
  });
}

const text = { type: "string" };
const list = { type: "array", items: text };
const key = { type: "apiKey", in: "header", name: "X-Key" };

const http = { type: "http", scheme: "bearer" };

const path = (name: string, item: Fields = {}) => documentOf({ [name]: item });
const operation = (fields: Fields, method = "get", components: Fields = {}) =>
  documentOf({ "/a": { [method]: operationOf("a", fields) } }, components);
const response = (status: string, content: unknown, method = "get") =>
  operation({ responses: { [status]: { description: "", content } } }, method);
const body = (content: unknown, method = "post") => operation({ requestBody: { content } }, method);
const parameter = (place: string, schema: unknown, rest: Fields = {}) => {
  const { name = "id" } = rest;
  const fields = { parameters: [{ name, in: place, required: true, schema, ...rest }] };
  return path(place === "path" ? `/a/{${name}}` : "/a", { get: operationOf("a", fields) });
};
const header = (name: string) => parameter("header", text, { name });
const query = (schema: unknown, rest: Fields = {}) => parameter("query", schema, rest);
const schemes = (...securitySchemes: Fields[]) =>
  documentOf({}, { securitySchemes: { ...securitySchemes } }, { security: [] });
const ok = { description: "" };
const done = { $ref: "#/components/responses/Done" };
const schema = (A: unknown) => documentOf({}, { schemas: { A, B: text } });
const object = (a: unknown, rest: Fields = {}) =>
  schema({ type: "object", properties: { a }, ...rest });
const array = (items: unknown, rest: Fields = {}) => schema({ type: "array", items, ...rest });
const open = { type: "object", properties: { b: text } };
const closed = { ...open, additionalProperties: false };
const anyOf = [open];
const twice = operationOf("a");
const examples = { a: { externalValue: "https://a.example/a.json" } };
const external = response("200", { "application/json": { schema: {}, examples } });
const tags = { name: "a[]", in: "query", style: "form", explode: true, schema: list };

/** Names of headers that the client, fetch or callers set. */
const reserved = `accept Authorization connection content-length content-type cookie expect host
  keep-alive te trailer transfer-encoding upgrade`.split(/\s+/);

/** Names that no method of the client can have. */
const unusable = `GET TRACE request use eject call checkOwnKey then constructor toString __proto__
  get-report get/report 1st`.split(/\s+/);

/** Documents by the place that is refused, whose last part is the rule unless another one follows. */
const refused: [place: string, ...documents: Fields[]][] = [
  ["webhooks", documentOf({}, {}, { webhooks: { a: {} } })],
  ["servers", path("/a", { servers: [{ url: "/" }] })],
  ["get/servers", operation({ servers: [{ url: "/" }] })],
  ["trace", operation({}, "trace")],
  ["get/callbacks", operation({ callbacks: {} })],
  ["paths/~1b~1..~1c /b/../c", path("/b/../c")],
  ["paths/~1b~1~1c /b//c", path("/b//c")],
  ["paths/~1b?c /b?c", path("/b?c")],
  ["get/operationId", ...unusable.map((operationId) => operation({ operationId }))],
  ["get/requestBody", body(json(text), "get")],
  ["get/responses", operation({ responses: { default: { description: "" } } })],
  ["get/responses", operation({ responses: { 200: ok, 204: { ...ok, content: json(text) } } })],
  ["get/responses", response("205", json(text))],
  ["head/responses", response("200", json(text), "head")],
  ["get/x-idempotent", operation({ "x-idempotent": "yes" })],
  ["get/x-idempotant", operation({ "x-idempotant": true })],
  ["get/x-idmepotent", operation({ "x-idmepotent": true })],
  ["get/x-Idempotency", operation({ "x-Idempotency": true })],
  ["x-idempotent", path("/a", { "x-idempotent": true })],
  ["get/responses/2xx", response("2xx", json(text))],
  ["get/responses/226", response("226", json(text))],
  ["get/responses/200", response("200", { "*/*": {} })],
  ["post/requestBody/content", body({ "multipart/form-data": {} })],
  ["post/requestBody/content", body({ ...json(text), "text/plain": {} })],

  ["in", parameter("cookie", text)],
  ["name", header("X Y"), header("x-key"), ...reserved.map(header)],
  ["name", query(text, { name: "a&b" })],
  ["paths/~1a~1{.a}/get/parameters/0/name", parameter("path", text, { name: ".a" })],
  ["paths/~1a~1{id}/get/parameters/0/required", parameter("path", text, { required: false })],
  ["content", query(undefined, { content: json(text) })],
  ["allowReserved", query(text, { allowReserved: true })],
  ["style", query(list, { style: "pipeDelimited" }), query(text, { style: "deepObject" })],
  ["explode", query(list, { explode: false })],
  ["schema", query({}), query({ type: "object" }), query({ type: ["string", "null"] })],
  ["schema", query({ type: "array" }), query({ ...list, items: list }), parameter("header", list)],

  ["components/securitySchemes/1", schemes(key, key), schemes(key, { ...key, in: "query" })],
  ["components/securitySchemes/0", schemes(http, key), schemes(http)],
  ["components/securitySchemes/0", schemes({ ...key, name: "X Y" })],
  ["components/securitySchemes/0", schemes({ ...key, name: "Cookie" })],

  ["A/nullable", schema({ ...text, nullable: true })],
  ["A/patternProperties", schema({ type: "object", patternProperties: { a: text } })],
  ["A/prefixItems", schema({ type: "array", prefixItems: [text] })],
  ["A/$defs", schema({ $defs: { B: text } })],
  ["A/properties", schema({ properties: { a: text } })],
  ["A/additionalProperties", schema({ additionalProperties: text })],
  ["A/additionalProperties", object(text, { additionalProperties: text })],
  [
    "A/items",
    schema({ items: text }),
    array({ allOf: [list] }),
    array({ ...list, type: ["array"] }),
  ],
  ["A/uniqueItems", array({ type: "object" }, { uniqueItems: true })],
  ["A/type", schema({ type: ["object", "null"], oneOf: [{ type: "object" }, { type: "null" }] })],
  ["A/anyOf", object(text, { anyOf }), schema({ anyOf, allOf: anyOf })],
  ["A/anyOf", schema({ type: "object", anyOf, additionalProperties: true })],
  ["A/required", object(text, { required: ["a", "typo"] })],
  ["A/enum", schema({ enum: [{ a: 1 }] })],
  ["A/const", schema({ const: [] })],
  ["A/minimum", schema({ type: "number", minimum: 0, exclusiveMinimum: 0 })],
  ["A/maximum", schema({ type: "number", maximum: 2, exclusiveMaximum: 1 })],
  ["A Schema", ...["allOf", "anyOf", "oneOf"].map((name) => schema({ [name]: [ref("A")] }))],
  ["A Schema", array(ref("A")), schema(true)],
  ["get/responses/200/content/application~1json/schema Schema", response("200", json(true))],
  ["get/responses/200/content/application~1json/examples/a/externalValue", external],
  ["A/readOnly", schema({ ...text, readOnly: true }), array({}, { readOnly: true })],
  ["A/items/writeOnly", array({ ...text, writeOnly: true })],
  ["A/properties/a Schema", object({ type: "null" }), object({ const: null })],
  ["A/properties/toString SchemaProperties", object({}, { properties: { toString: text } })],
  ["A/allOf", schema({ allOf: [open, closed] }), object(text, { allOf: [closed] })],
  ["A schema", schema({ ...text, pattern: "(?i)a" })],
  ["A schema", schema({ type: "object", required: ["a"], additionalProperties: false })],
  ["A/allOf/1 schema", schema({ allOf: [ref("B"), list] })],
  ["A/properties/a $ref", object(ref("Typo"))],
  ["A/properties/a/readOnly", object({ ...ref("B"), readOnly: true })],
  ["A/properties/a/nullable", object({ ...ref("B"), nullable: true })],
  ["A/properties/a/maxlength", object({ ...ref("B"), maxlength: 1 })],
  ["A/properties/a/enum", object({ ...ref("B"), enum: ["a"] })],
  [
    "get/responses/200/content",
    operation({ responses: { 200: { ...done, content: json(text) } } }, "get", {
      responses: { Done: ok },
    }),
  ],
  ["A/properties/a $ref", object(ref("A/properties/b")), object({ $ref: "b.yaml#/B" })],
  ["get/responses/200 $ref", operation({ responses: { 200: ref("B") } })],

  ["A/required", schema({ type: "object", required: true })],
  ["A/requird struct", object(text, { requird: ["a"] })],
  ["A/properties/a struct", object(null)],
  ["A/type", schema({ ...text, enum: [1] }), schema({ ...text, enum: ["a", 1] })],
  ["A/type", schema({ type: ["string", "null"], enum: ["a"] }), schema({ ...text, const: null })],
  ["A/example no-invalid-schema-examples", schema({ ...text, example: 1 })],
  ["A/examples/1 no-invalid-schema-examples", schema({ ...text, examples: ["a", 1] })],
  [
    "get/responses/200/content/application~1json/example no-invalid-media-type-examples",
    response("200", { "application/json": { schema: text, example: 1 } }),
  ],
  ["example no-invalid-parameter-examples", query(text, { example: 1 })],
  ["paths/~1b~1{y} no-identical-paths", documentOf({ "/b/{x}": {}, "/b/{y}": {} })],
  ["paths/~1b~1{y}/get/parameters path-parameters-defined", path("/b/{y}", { get: twice })],
  ["a$ spec-components-invalid-map-name", documentOf({}, { schemas: { a$: text } })],
  ["get/parameters/1 operation-parameters-unique", operation({ parameters: [tags, tags] })],
  ["post/a operation-operationId-unique", path("/a", { post: twice, get: twice })],
  ["get/operationId operation-operationId", operation({ operationId: undefined })],
  ["get/security/0/Other security-defined", operation({ security: [{ Other: [] }] })],
];

for (const [text, ...documents] of refused) {
  Deno.test(`the rules refuse ${text}`, async () => {
    const [place = "", rule = place.replace(/.*\//, "")] = text.split(" ");
    for (const document of documents) {
      const found = await lint(document);
      // Another at the same place is left out by the generator.
      expect([...new Set(found.map((problem) => problem.place))]).toEqual([place]);
      expect(found[0]!.ruleId).toBe(rule);
    }
  });
}

/** Parts of what to write instead, which is another thing in another case. */
const advice: [message: string, ...documents: Fields[]][] = [
  ["Leave it out: the client sends it", header("Accept"), header("X-Key")],
  ["or callers set it in `headers`", header("Cookie")],
  ["or the operation: callers send it with `call`", body({ "multipart/form-data": {} })],
  ["or the operation", body({ "application/merge-patch+json": {} }, "patch")],
  ["Leave all but `application/json` out", body({ "text/plain": {}, ...json(text) })],
  ["write `security: []` or a key in a header", schemes(key, http)],
  ["write `;name={name}` in the path", parameter("path", text, { style: "matrix" })],
  ["write `.{name}` in the path", parameter("path", text, { style: "label" })],
  ["write `schema: { type: string }`", query(list, { style: "pipeDelimited", explode: true })],
  ["such as `filter[name]`", query(text, { style: "deepObject" }), query({ type: "object" })],
  ["Write a list, beside `properties`", object({ ...text, required: true })],
  ["Write `required: true`", parameter("path", text, { required: undefined })],
  ["Write `{}`", schema(true)],
  ["Add a success response", operation({ responses: {} }), operation({ responses: null })],
  ["out of it", object(text, { allOf: [closed] })],
  ["out of B", documentOf({}, { schemas: { A: { ...open, allOf: [ref("B")] }, B: closed } })],
  ["Write a property in between", array(ref("A")), array({ anyOf: [text, ref("A")] })],
  ["Write `allOf: [{ $ref: … }]`", object({ ...ref("B"), nullable: true })],
  [
    "Leave it out: the `$ref`",
    operation({ responses: { 200: { ...done, content: {} } } }, "get", { responses: { Done: ok } }),
  ],
];

Deno.test("the rules say what to write instead", async () => {
  for (const [message, ...documents] of advice) {
    for (const document of documents) {
      const [problem] = await lint(document);
      expect(problem?.message).toContain(message);
    }
  }
});

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

/** A document with a chain of schemas, the last of which refers to the first. */
const chain = (length: number) => {
  const next = (index: number) => ({ anyOf: [ref(`A${index % length}`), { type: "null" }] });
  const schemas = Array.from(
    { length },
    (_, index) => [`A${index}`, { type: "object", properties: { next: next(index + 1) } }] as const,
  );
  return documentOf({}, { schemas: Object.fromEntries(schemas) });
};

Deno.test("the rules accept a long chain of schemas, and refuse a longer one", async () => {
  expect(await lint(chain(249))).toEqual([]);
  const location = { pointer: "#/components/schemas/A250/properties/next/anyOf/0" };
  await expect(lint(chain(260))).rejects.toMatchObject({ location });
});
