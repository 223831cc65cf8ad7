import { expect } from "@std/expect";
import { readContract } from "../../scripts/generate/operations.ts";
import { readSpec } from "../../scripts/generate/spec.ts";
import { contractOf, description, folder } from "./support.ts";

const scheme = (name: string) => ({ type: "apiKey", in: "header", name });
const ok = { responses: { 204: { description: "" } } };

function secured(paths: unknown, securitySchemes: unknown, security?: unknown): unknown {
  return description(paths, { components: { securitySchemes }, ...(security ? { security } : {}) });
}

async function apiKeys(paths: unknown, schemes: unknown, security?: unknown) {
  const { apiKeyHeader, operations } = await contractOf(secured(paths, schemes, security));
  const keys = operations.map(({ method, path, apiKey }) => [`${method} ${path}`, apiKey]);
  return { apiKeyHeader, ...Object.fromEntries(keys) };
}

Deno.test("readContract() reads security at the root, per operation, optional and empty", async () => {
  const paths = {
    "/root": { get: ok },
    "/own": { get: { ...ok, security: [{ Key: [] }] } },
    "/none": { get: { ...ok, security: [] } },
    "/optional": { get: { ...ok, security: [{}, { Key: [] }] } },
    "/nothing": { get: { ...ok, security: [{}] } },
    "/either": { get: { ...ok, security: [{ OAuth: [] }, { Key: [] }] } },
  };
  const schemes = {
    Key: { $ref: "#/components/securitySchemes/Other" },
    OAuth: { type: "http", scheme: "bearer" },
    Other: scheme("X-Key"),
  };
  const operations = {
    "GET /own": "required",
    "GET /none": "none",
    "GET /optional": "optional",
    "GET /nothing": "none",
    "GET /either": "required",
  };
  expect(await apiKeys(paths, schemes, [{ Key: [] }])).toEqual({
    apiKeyHeader: "X-Key",
    "GET /root": "required",
    ...operations,
  });
  expect(await apiKeys(paths, schemes)).toEqual({
    apiKeyHeader: "X-Key",
    "GET /root": "none",
    ...operations,
  });
});

Deno.test("readContract() knows the header of a scheme that no operation uses yet", async () => {
  const paths = { "/none": { get: ok } };
  const unused = { Basic: { type: "http", scheme: "basic" }, Key: scheme("X-Later") };
  expect((await apiKeys(paths, unused)).apiKeyHeader).toBe("X-Later");
});

async function refusal(content: unknown): Promise<string> {
  await using files = await folder();
  const spec = await readSpec(await files.write("openapi.json", JSON.stringify(content, null, 2)));
  try {
    readContract(spec);
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^\S+\//, "") : "";
  }
  return "nothing refused";
}

Deno.test("readContract() refuses a scheme that the client cannot serve, by name and place", async () => {
  const schemes: Record<string, unknown> = {
    Basic: { type: "http", scheme: "basic" },
    Cookie: { type: "apiKey", in: "cookie", name: "key" },
    Query: { type: "apiKey", in: "query", name: "key" },
    OAuth: { type: "oauth2", flows: {} },
    OpenID: { type: "openIdConnect", openIdConnectUrl: "https://id.example" },
    Key: scheme("X-Key"),
    Other: scheme("X-Other"),
  };
  const refused = (...security: Record<string, []>[]) =>
    refusal(secured({ "/value": { get: { ...ok, security } } }, schemes));
  const kinds = {
    Basic: "http basic",
    Cookie: "apiKey in cookie",
    Query: "apiKey in query",
    OAuth: "oauth2",
    OpenID: "openIdConnect",
  };
  for (const [name, kind] of Object.entries(kinds)) {
    const message = await refused({ [name]: [] });
    expect(message).toContain(`it cannot serve the scheme "${name}" (${kind})`);
    expect(message).toMatch(/^openapi\.json:\d+:\d+ security: .*openapi\.json:\d+:\d+ asks for$/);
  }
  expect(await refused({ Key: [], Basic: [] })).toContain('the scheme "Basic"');
  expect(await refused({ Key: [], Other: [] })).toContain('not "Key" and "Other" together');
  expect(await refused({ Missing: [] })).toContain('The scheme "Missing" is not defined');
  const paths = {
    "/a": { get: { ...ok, security: [{ Key: [] }] } },
    "/b": { get: { ...ok, security: [{ Other: [] }] } },
  };
  expect(await refusal(secured(paths, schemes))).toContain(
    'The scheme "Other" sends the key in "X-Other", "Key" in "X-Key"',
  );
});

Deno.test("readContract() tells what may be repeated", async () => {
  const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
  const paths = {
    "/value": Object.fromEntries(methods.map((method) => [method, ok])),
    "/marked": { get: { ...ok, "x-idempotent": false }, post: { ...ok, "x-idempotent": true } },
  };
  const { operations } = await contractOf(description(paths));
  const repeated = operations.filter(({ idempotent }) => idempotent);
  expect(repeated.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /value",
    "PUT /value",
    "DELETE /value",
    "OPTIONS /value",
    "HEAD /value",
    "POST /marked",
  ]);
});

Deno.test("readContract() names operations that have no name", async () => {
  const paths = {
    "/a/{b-c}": {
      parameters: [{ name: "b-c", in: "path", required: true, schema: {} }],
      get: ok,
      post: { ...ok, operationId: "getAB" },
    },
    "/a/b": { get: ok },
    "/a-b": { get: ok },
    "/": { get: ok },
  };
  const ids = async () =>
    (await contractOf(description(paths))).operations.map(({ operationId }) => operationId);
  expect(await ids()).toEqual(["getABC", "getAB", "getAB_2", "getAB_3", "get"]);
  expect(await ids()).toEqual(await ids());
});

Deno.test("readContract() follows references wherever they may stand, across files too", async () => {
  await using files = await folder();
  await files.write(
    "items.yaml",
    `parameters:
  - $ref: "shared.json#/Page"
get:
  operationId: getItem
  parameters:
    - { name: page, in: query, required: true, schema: { type: integer } }
    - $ref: "openapi.yaml#/components/parameters/Trace"
  responses:
    "200": { $ref: "shared.json#/Answer" }
`,
  );
  await files.write("shared.json", {
    Page: { name: "page", in: "query", schema: { type: "string" } },
    Answer: {
      description: "",
      content: { "application/json": { schema: { $ref: "#/Item" } } },
    },
    Item: { type: "object", properties: { next: { $ref: "#/Item" }, of: { $ref: "schema.yaml" } } },
    Body: { content: { "application/json": { schema: { $ref: "#/Item/properties/of" } } } },
  });
  await files.write("schema.yaml", "type: string\n");
  const main = await files.write(
    "openapi.yaml",
    `openapi: 3.1.0
info: { title: Test, version: "1" }
paths:
  /items:
    $ref: items.yaml
  /more:
    $ref: "#/components/pathItems/Items"
components:
  parameters:
    Trace: { name: X-Trace, in: header, schema: { type: string } }
  pathItems:
    Items:
      post:
        operationId: addItem
        requestBody: { $ref: "shared.json#/Body" }
        responses:
          2XX: { $ref: "#/components/responses/Added" }
  responses:
    Added:
      description: ""
      content:
        application/json:
          schema: { $ref: "#/paths/~1items/get/responses/200/content/application~1json/schema" }
`,
  );
  const { contract } = readContract(await readSpec(main));
  const [get, post] = contract.operations;
  expect(get).toMatchObject({ operationId: "getItem", method: "GET", path: "/items" });
  expect(get?.parameters.map(({ name, required, content }) => [name, required, content])).toEqual([
    ["page", true, { "": { type: "integer" } }],
    ["X-Trace", false, { "": { type: "string" } }],
  ]);
  const { $ref } = get?.responses[200]?.["application/json"] ?? {};
  const item = contract.definitions[String($ref)];
  expect(item).toMatchObject({ type: "object", properties: { next: { $ref } } });
  expect(post).toMatchObject({ operationId: "addItem", method: "POST", path: "/more" });
  const body = post?.requestBody?.content["application/json"]?.$ref;
  expect(resolve(contract.definitions, String(body))).toEqual({ type: "string" });
  const added = post?.responses["2XX"]?.["application/json"]?.$ref;
  expect(resolve(contract.definitions, String(added))).toEqual(item);
});

function resolve(definitions: Record<string, Record<string, unknown>>, name: string): unknown {
  const schema = definitions[name];
  return typeof schema?.$ref === "string" ? resolve(definitions, schema.$ref) : schema;
}
