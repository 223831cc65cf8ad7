// What the generator accepts: sent, typed and checked as OpenAPI says.
import { expect } from "@std/expect";
import { parseYaml } from "@redocly/openapi-core";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { keyHeader } from "../client.ts";
import { json, serve } from "../server.ts";
import { copyProject } from "../../scripts/support/files.ts";
import { deno } from "./support.ts";

// Names begin with "Wire", so that the project's own document may have any others.
const additions = `
paths:
  /wire/{id}/{names}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: string } }
      - $ref: "#/components/parameters/WireNames"
    get:
      operationId: wire/read~1.all#
      summary: Parameters of all kinds.
      security: [{}, { Wire: [] }]
      parameters:
        - { name: id, in: path, required: true, schema: { type: integer } }
        - { name: limit, in: query, schema: { $ref: "#/components/schemas/WireLimit" } }
        - { name: "tags[]", in: query, schema: { type: array, items: { type: string } } }
        - { name: sort, in: query, schema: { anyOf: [{ enum: [up, down] }, { type: string }] } }
        - name: filter
          in: query
          style: deepObject
          schema: { type: object, properties: { from: { type: string }, n: { type: number } } }
        - { name: X-Count, in: header, required: true, schema: { type: integer } }
        - { name: X-Flag, in: header, schema: { type: boolean } }
      responses:
        "200": { $ref: "#/components/responses/Wire" }
        "304": { description: The same as before. }
        "4XX":
          description: An error.
          content: { application/problem+json: { schema: { $ref: "#/components/schemas/WireProblem" } } }
    head:
      operationId: wireTest
      summary: Whether there is one.
      parameters:
        - { name: id, in: path, required: true, schema: { type: string, enum: ["1"] } }
      responses:
        "204": { description: There is one. }
    delete:
      operationId: wireDelete
      summary: A body that is optional.
      requestBody:
        content: { application/json: { schema: { type: object } } }
      responses:
        "2XX": { description: Done. }
  /wire:
    post:
      operationId: wireAdd
      summary: A body with properties that only requests or only responses have.
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: "#/components/schemas/Wire" } } }
      responses:
        "201": { $ref: "#/components/responses/Wire" }
        "207":
          description: Two kinds of JSON.
          content:
            application/json: { schema: { type: integer } }
            application/vnd.more+json; v=1: { schema: { type: boolean } }
  /wire/a~b:%20$&/:
    get:
      operationId: wireText
      summary: What is not JSON.
      responses:
        "200": { description: Text., content: { text/csv: { schema: { type: string } } } }
webhooks:
  wireChanged:
    post:
      operationId: wireChanged
      summary: The service sends it.
      requestBody:
        content: { application/json: { schema: { $ref: "#/components/schemas/WireEvent" } } }
      responses:
        "204": { description: Received. }
components:
  parameters:
    WireNames:
      { name: names, in: path, required: true, schema: { type: array, items: { type: string } } }
  responses:
    Wire:
      description: A response.
      headers: { X-Left: { schema: { type: integer } } }
      links: { Next: { operationId: wireTest } }
      content: { application/json: { schema: { $ref: "#/components/schemas/Wire" } } }
  schemas:
    WireLimit: { type: integer, enum: [1, 2], format: int64 }
    WireProblem: { type: object, properties: { title: { type: string } } }
    WireEvent: { type: object, properties: { id: { type: integer } } }
    WireNamed: { type: object, required: [name], properties: { name: { type: string } } }
    Wire:
      allOf:
        - $ref: "#/components/schemas/WireNamed"
        - type: object
          required: [id, secret]
          properties:
            id: { type: integer, readOnly: true }
            secret: { type: string, writeOnly: true }
            parent: { anyOf: [{ $ref: "#/components/schemas/Wire" }, { type: "null" }] }
            first: { allOf: [{ $ref: "#/components/schemas/WireNamed" }], readOnly: true }
            any: { type: object }
            size: { type: integer, default: 1 }
            counts: { type: object, additionalProperties: { type: integer } }
            map: { $ref: "#/components/schemas/WireMap" }
            kind: { oneOf: [{ const: a }, { type: integer }] }
    WireMap: { type: object, additionalProperties: { $ref: "#/components/schemas/WireMap" } }
`;

const consumer = `
import { type components, createClient, InvalidResponseError } from "./mod.ts";

const client = createClient({ baseUrl: Deno.args[0]!, apiKey: "key" });
const path = { id: 1, names: ["a,b", "c d"] };
const outcomes: unknown[] = [];
const keep = async (call: () => Promise<unknown>) => {
  try {
    outcomes.push(await call());
  } catch (error) {
    if (!(error instanceof InvalidResponseError)) throw error;
    outcomes.push(error.issues);
  }
};
const get = () => client.GET("/wire/{id}/{names}", {
  params: {
    path,
    query: { limit: 2, "tags[]": ["a&b", "c"], sort: "new", filter: { from: "é=", n: 1.5 } },
    header: { "X-Count": 7, "X-Flag": false },
  },
});
await keep(async () => {
  const { data } = await get();
  if (!data) return;
  const id: number = data.id;
  const name: string = data.name;
  const parent: string | undefined = data.parent?.parent?.name;
  const first: string | undefined = data.first?.name;
  const any: unknown = data.any?.["anything"];
  const count: number | undefined = data.counts?.["c"];
  const kind: "a" | number | undefined = data.kind;
  // @ts-expect-error only requests have it
  const secret = data.secret;
  return [id, name, parent, first, any, count, kind, secret];
});
await keep(get); // without what responses must have
await keep(get); // with a wrong value below
await keep(get); // nested too deep
await keep(async () => (await get()).error?.title);
await keep(async () => {
  const params = { path: { id: "1", names: ["x"] } } satisfies { path: { id: "1"; names: string[] } };
  const { data, response } = await client.HEAD("/wire/{id}/{names}", { params });
  const none: undefined = data;
  return [none ?? null, response.status];
});
const params = { path: { id: "7", names: ["x"] } };
for (const init of [{ params }, { params, body: { a: [1] } }]) {
  await keep(async () => (await client.DELETE("/wire/{id}/{names}", init)).response.status);
}
await keep(async () => {
  const body = { name: "n", secret: "s", parent: null, any: { b: 1 }, counts: { c: 1 } };
  const { data } = await client.POST("/wire", { body });
  return typeof data === "object" ? data.name : data;
});
const add = async (): Promise<boolean | number | { name: string } | undefined> =>
  (await client.POST("/wire", { body: { name: "n", secret: "s" } })).data;
await keep(add);
await keep(add);
await keep(async () => {
  const text: string | undefined =
    (await client.GET("/wire/a~b:%20$&/", { parseAs: "text" })).data;
  return text;
});
console.log(JSON.stringify(outcomes));

export async function isRefused() {
  // @ts-expect-error the field of the webhook is a number
  const event: components["schemas"]["WireEvent"] = { id: "1" };
  console.log(event);
  // @ts-expect-error the header is missing
  await client.GET("/wire/{id}/{names}", { params: { path } });
  // @ts-expect-error the operation has a number in place of the path's string
  await client.GET("/wire/{id}/{names}", { params: { ...params, header: { "X-Count": 1 } } });
  const header = { "X-Count": 1 };
  // @ts-expect-error the object has no such field
  await client.GET("/wire/{id}/{names}", { params: { path, header, query: { filter: { x: 1 } } } });
  // @ts-expect-error only responses have an id
  await client.POST("/wire", { body: { name: "n", secret: "s", id: 1 } });
  // @ts-expect-error the secret is missing
  await client.POST("/wire", { body: { name: "n" } });
  // @ts-expect-error the body is missing
  await client.POST("/wire");
}
`;

type Parts = Record<string, Record<string, unknown>>;

Deno.test("what is generated is sent, typed and checked as the document says", async () => {
  const files = ["deno.json", "deno.lock", "import_map.npm.json", "mod.ts"];
  await using project = await copyProject([...files, "openapi", "scripts", "src"]);
  const file = join(project.path, "openapi/openapi.yaml");
  const document = parseYaml(await readFile(file, "utf8")) as Parts;
  const [scheme] = Object.values(document.components!.securitySchemes as Parts);
  const added = parseYaml(additions) as Parts;
  added.components!.securitySchemes = { Wire: scheme };
  const components = { ...document.components };
  for (const [name, part] of Object.entries(added.components!)) {
    components[name] = { ...components[name] as object, ...part as object };
  }
  const paths = { ...document.paths, ...added.paths };
  const security = [{ Wire: [] }];
  await project.write(file, { ...document, ...added, paths, components, security });
  expect(await deno(["task", "--quiet", "generate"], project.path)).toMatchObject({ code: 0 });
  await project.write("consumer.ts", consumer);
  const run = ["--quiet", "--import-map=import_map.npm.json"];
  const checked = await deno(["check", ...run, "consumer.ts"], project.path);
  expect(checked).toMatchObject({ code: 0, stderr: "" });

  const feature = { id: 1, name: "n", first: { name: "f" }, any: { anything: 1 }, kind: "a" };
  const deep = '{"id":1,"name":"n","parent":'.repeat(10_000) + "null" + "}".repeat(10_000);
  const responses: [unknown, number?][] = [
    [{ ...feature, parent: { ...feature, parent: { ...feature } }, counts: { c: 1 } }],
    [{ name: "n" }],
    [{ ...feature, parent: { ...feature, counts: { c: "1" } } }],
    [deep],
    [{ title: "t" }, 404],
    ...Array(3).fill([undefined, 204]),
    [feature, 201],
    [true, 207],
    ["no", 207],
    ["a,b"],
  ];
  await using server = await serve((_request, response, count) => {
    const [body, status = 200] = responses[count - 1]!;
    if (body === deep || status === 204) response.writeHead(status).end(body);
    else json(response, body, status);
  });
  const args = ["run", ...run, "--no-check", "--allow-net=127.0.0.1", "consumer.ts", server.url];
  const { stdout, stderr } = await deno(args, project.path);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual([
    [1, "n", "n", "f", 1, 1, "a", null],
    [{ path: "/id", rule: "required" }],
    [{ path: "/parent/counts/*", rule: "type" }],
    [{ path: "", rule: "depth" }],
    "t",
    [null, 204],
    204,
    204,
    "n",
    true,
    [{ path: "", rule: "type" }],
    '"a,b"',
  ]);
  const get =
    "GET /wire/1/a%2Cb,c%20d?limit=2&tags[]=a%26b&tags[]=c&sort=new&filter[from]=%C3%A9%3D" +
    "&filter[n]=1.5 ";
  const add = 'POST /wire {"name":"n","secret":"s"}';
  expect(server.requests.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
    ...Array(5).fill(get),
    "HEAD /wire/1/x ",
    "DELETE /wire/7/x ",
    'DELETE /wire/7/x {"a":[1]}',
    'POST /wire {"name":"n","secret":"s","parent":null,"any":{"b":1},"counts":{"c":1}}',
    add,
    add,
    "GET /wire/a~b:%20$&/ ",
  ]);
  for (const { headers } of server.requests) expect(headers[keyHeader]).toBe("key");
  expect(server.requests[0]!.headers).toMatchObject({ "x-count": "7", "x-flag": "false" });
  expect(server.requests[7]!.headers["content-type"]).toBe("application/json");
});
