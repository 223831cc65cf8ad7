// What is generated, in a client: typed, sent and checked as the document says.
import { parseYaml } from "@redocly/openapi-core";
import { expect } from "@std/expect";
import { join } from "node:path";
import { read, root } from "../../scripts/support/files.ts";
import { deno, mustRun } from "../../scripts/support/process.ts";
import { keyHeader } from "../support/client.ts";
import { json as sendJson, serve } from "../support/server.ts";
import { type Fields, json, operationOf, projectWith, ref } from "./support.ts";

const text = { type: "string" };
const parameters = [
  { name: "id", in: "path", required: true, schema: { type: "integer" } },
  { name: "names", in: "path", required: true, schema: text },
  { name: "limit", in: "query", schema: { type: "integer", enum: [1, 2] } },
  { name: "tags[]", in: "query", schema: { type: "array", items: text } },
  { name: "X-Count", in: "header", required: true, schema: { type: "number" } },
];
const Value = {
  type: "object",
  required: ["id", "name", "secret", "kind"],
  properties: {
    id: { type: "integer", readOnly: true },
    name: text,
    secret: { ...text, writeOnly: true },
    kind: { anyOf: [{ const: "a" }, { type: "number" }] },
    parent: { anyOf: [ref("Value"), { type: "null" }] },
    any: { type: "object" },
    counts: { type: "object", additionalProperties: { type: "integer" } },
    open: { allOf: [ref("Named")], deprecated: true, description: "Old." },
    size: { type: "integer", default: 1 },
  },
};
const schemas = { Value, Named: { type: "object", properties: { name: text } } };
const ok = { description: "", content: json(ref("Value")) };
const docs = { summary: "Reads a value.", description: "By its id.", deprecated: true };
const paths = {
  "/values/{id}/{names}": {
    parameters,
    get: operationOf("get", {
      ...docs,
      responses: { 200: ok, 202: { description: "" }, default: ok },
    }),
    head: operationOf("head", { responses: { 200: { description: "" } } }),
  },
  "/values": {
    post: operationOf("add", {
      requestBody: { required: true, content: json(ref("Value")) },
      responses: { "2XX": ok },
    }),
  },
  "/search": {
    post: operationOf("search", {
      requestBody: { content: json({ type: "object", properties: { text } }) },
      responses: { 200: { description: "", content: json(text) } },
    }),
  },
  "/ping": { get: operationOf("ping", { security: [] }) },
};

const consumer = `
import { ConfigurationError, createClient, InvalidResponseError } from "./mod.ts";
import { assertType, type Equal } from "./tests/support/types.ts";

const client = createClient({ baseUrl: Deno.args[0]!, apiKey: "key" });
const params = { path: { id: 1, names: "a,b/c d" }, header: { "X-Count": 7 } };
const query = { limit: 2 as const, "tags[]": ["a&b", "é="] };
const outcomes: unknown[] = [];
async function keep(call: () => Promise<unknown>) {
  try {
    outcomes.push(await call());
  } catch (error) {
    if (error instanceof ConfigurationError) outcomes.push(error.message);
    else if (error instanceof InvalidResponseError) outcomes.push(error.issues);
    else throw error;
  }
}
const get = () => client.get({ params: { ...params, query }, timeout: 20_000 });
await keep(async () => {
  const { data, response } = await get();
  assertType<Equal<undefined extends typeof data ? true : false, true>>();
  if (!data) return; // The status 202 has none.
  const status: number = response.status;
  const id: number = data.id;
  const parent: string | undefined = data.parent?.parent?.name;
  const any: unknown = data.any?.["anything"];
  // @ts-expect-error a default is not filled in
  const size: number = data.size;
  const count: number | undefined = data.counts?.["c"];
  const kind: "a" | number = data.kind;
  const open: string | undefined = data.open?.name;
  // @ts-expect-error only requests have it
  const secret = data.secret;
  return [status, id, parent, any, count, kind, open, secret];
});
await keep(get); // without what responses must have
await keep(async () => (await get()).data ?? null); // listed without content
await keep(async () => {
  const { data, response } = await client.head({ params });
  assertType<Equal<typeof data, undefined>>();
  return [data ?? null, response.status];
});
await keep(async () => {
  const body = { name: "n", secret: "s", parent: null, any: { b: 1 }, kind: 1 };
  const { data } = await client.add({ body, idempotent: true });
  const name: string = data.name;
  return name;
});
await keep(async () => {
  const { data } = await client.search();
  assertType<Equal<typeof data, string>>();
  return [data, (await client.search({ body: { text: "é" } })).data];
});
await keep(async () => {
  const { data } = await client.ping();
  assertType<Equal<typeof data, undefined>>();
  return data ?? "none";
});
await keep(() => client.get({ params: { ...params, path: { id: 1, names: ".." } } }));
await keep(() => client.ping({ timeuot: 1 } as object));
console.log(JSON.stringify(outcomes));

export async function isRefused() {
  // @ts-expect-error the header is missing
  await client.get({ params: { path: params.path } });
  // @ts-expect-error the limit is 1 or 2
  await client.get({ params: { ...params, query: { limit: 3 } } });
  // @ts-expect-error the parameters are missing
  await client.get();
  // @ts-expect-error there is no such option
  await client.get({ params, timeuot: 1 });
  // @ts-expect-error it is a number
  await client.get({ params, timeout: "5" });
  // @ts-expect-error there is no such option: the document says what is sent
  await client.get({ params, parseAs: "text" });
  // @ts-expect-error a GET has no body
  await client.get({ params, body: {} });
  // @ts-expect-error only responses have an id
  await client.add({ body: { name: "n", secret: "s", kind: 1, id: 1 } });
  // @ts-expect-error the secret is missing
  await client.add({ body: { name: "n", kind: 1 } });
  // @ts-expect-error the body is missing
  await client.add({ retries: 0 });
  // @ts-expect-error it is a string
  await client.search({ body: { text: 1 } });
  // @ts-expect-error the secret is missing
  await client.POST("/values", { body: { name: "n", kind: 1 } });
}
`;

Deno.test("what is generated is typed, sent and checked as the document says", async () => {
  // Beside `checkKey`, without which nothing compiles.
  const document = parseYaml(await read("openapi/openapi.yaml")) as Record<string, Fields>;
  Object.assign(document.paths!, paths);
  Object.assign(document.components!.schemas!, schemas);
  await using project = await projectWith(document);
  const options = { cwd: project.path };
  await mustRun(deno, ["task", "--quiet", "generate"], options);
  const types = await Deno.readTextFile(join(project.path, "src/generated/types.ts"));
  // After `@deprecated`, a text would be the reason.
  expect(types).toMatch(/\* Old\.\n +\* @deprecated\n/);
  expect(types).toMatch(
    /\* Reads a value\.\n +\* By its id\.\n +\* @deprecated\n +\*\/\n +get: \{/,
  );
  await project.write("consumer.ts", consumer.replaceAll("./tests/", `${root}/tests/`));
  const flags = ["--quiet", "--import-map=import_map.npm.json"];
  await mustRun(deno, ["check", ...flags, "consumer.ts"], options);

  const value = { id: 1, name: "n", kind: "a", any: { anything: 1 }, open: { name: "o" } };
  const responses: [unknown, number?][] = [
    [{ ...value, parent: { ...value, parent: value }, counts: { c: 1 } }],
    [{ name: "n" }],
    [{ id: "unchecked" }, 202],
    [""],
    [value, 201],
    ['"found"'],
    ['"found"'],
    ["", 204],
  ];
  await using server = await serve((_request, response, count) => {
    const [body, status = 200] = responses[count - 1]!;
    if (typeof body === "string") response.writeHead(status).end(body);
    else sendJson(response, body, status);
  });
  const args = ["run", ...flags, "--no-check", "--allow-net=127.0.0.1", "consumer.ts", server.url];
  expect(JSON.parse(await mustRun(deno, args, options))).toEqual([
    [200, 1, "n", 1, 1, "a", "o", null],
    [{ path: "/id", rule: "required" }],
    null,
    [null, 200],
    "n",
    ["found", "found"],
    "none",
    expect.stringMatching(/^"path" has "\." or "\.\." as a segment/),
    expect.stringMatching(/^"timeuot" .* ping\(\), .* signal, timeout,/),
  ]);
  const get = "GET /values/1/a%2Cb%2Fc%20d?limit=2&tags%5B%5D=a%26b&tags%5B%5D=%C3%A9%3D ";
  expect(server.requests.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
    ...Array(3).fill(get),
    "HEAD /values/1/a%2Cb%2Fc%20d ",
    'POST /values {"name":"n","secret":"s","parent":null,"any":{"b":1},"kind":1}',
    "POST /search ",
    'POST /search {"text":"é"}',
    "GET /ping ",
  ]);
  for (const { headers, url } of server.requests) {
    expect(headers[keyHeader]).toBe(url === "/ping" ? undefined : "key");
    if (url.startsWith("/values/")) expect(headers["x-count"]).toBe("7");
  }
});
