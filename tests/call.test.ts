// The arguments of the methods: read before the methods return, checked, and sent.
import { expect } from "@std/expect";
import { Buffer } from "node:buffer";

import { ConfigurationError, createClient } from "../mod.ts";
import { apiKey, baseUrl, sendAll, testBothWays, undocumented, unsent } from "./support/client.ts";
import { rejection, rejections } from "./support/rejection.ts";
import { type AnyPath, checkKeyStatus, json, serve, validKey } from "./support/server.ts";

testBothWays("methods send what they were given, when it changes later", async (create) => {
  await using server = await serve((_, response) => json(response, {}));
  const client = create({ baseUrl: server.url, apiKey: async () => await apiKey });
  const body: Record<string, unknown> = {};
  const headers = new Headers();
  const form = new URLSearchParams();
  const options: Record<string, unknown> = { body, query: body, headers };
  const bodySerializer = () => form;
  const calls: Promise<unknown>[] = [];
  for (let page = 0; page < 4; page++) {
    body.page = page;
    headers.set("x-page", `${page}`);
    form.set("page", `${page}`);
    options.retries = page;
    calls.push(client.call("POST", undocumented, options));
    const init = { body, headers, params: { path: body, query: body } };
    calls.push(client.POST("/things/{page}", init));
    calls.push(client.POST("/things/{page}", { ...init, bodySerializer }));
    options.retries = "changed";
  }
  body.page = "changed";
  headers.set("x-page", "changed");
  form.set("page", "changed");
  await Promise.all(calls);
  const pages = server.requests.splice(0).map(({ url, headers, body }) => {
    const [page] = /\d+$/.exec(url)!;
    expect([`{"page":${page}}`, `page=${page}`]).toContain(body);
    expect(headers["x-page"]).toBe(page);
    expect(url).toMatch(new RegExp(`^/(${undocumented}|things/${page})\\?page=${page}$`));
    return page;
  });
  expect(pages.sort().join("")).toBe("000111222333");
});

// What is sent

Deno.test("call() takes an endpoint with or without a slash in front, and encoded parts", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient({ baseUrl: `${server.url}api`, apiKey });
  const endpoints = [
    "/endpoint",
    "reports:batch",
    "a/b:c",
    "a%2Fb",
    "a..b",
    "...",
    "x%3Ay",
    "%7Bid%7D",
  ];
  for (const endpoint of endpoints) await client.call("patch" as "PATCH", endpoint);
  const paths = ["endpoint", ...endpoints.slice(1)];
  expect(server.requests.map(({ url }) => url)).toEqual(paths.map((path) => `/api/${path}`));
  expect(server.requests[0]!.method).toBe("PATCH");
});

Deno.test("call() refuses an endpoint that is not a name below the base URL", async () => {
  const cases: [string, RegExp][] = [
    ["", /^"endpoint" must be a name below "baseUrl", such as "report"; set a query with "query"$/],
    ["x?y=1", /^"endpoint" must be a name below .*; set a query with "query"$/],
    ["x#y", /^"endpoint" must be a name below/],
    ["//evil.example/x", /^"endpoint" must be a name below/],
    ["https://evil.example/x", /^"endpoint" must be a name below/],
    [
      "reports/{id}",
      /^"endpoint" must not have placeholders: write the value, as in `reports\/\$\{encodeURIComponent\(id\)\}`$/,
    ],
    ...[".", "..", "a/..", "%2e", ".%2E/x", "a/..;a=b/c", "a\\b", "x%5c..%5cy", "..%2Fx", "x y"]
      .map((endpoint): [string, RegExp] => [endpoint, /^"endpoint" must be a name below/]),
  ];
  for (const [endpoint, expected] of cases) {
    const error = await rejection(ConfigurationError, unsent.call("GET", endpoint));
    expect(error.message).toMatch(expected);
    expect(error.option).toBe("endpoint");
  }
});

testBothWays(
  "methods ask for JSON where they read it, and for what the caller names",
  async (create) => {
    await using server = await serve((_, response) => json(response, validKey));
    const client = create({ baseUrl: server.url, apiKey });
    const init = { headers: { Accept: "text/csv" } };
    await Promise.all([...sendAll(client), client.checkKey("some-key")]);
    await client.call("GET", undocumented, init);
    await client.GET(`/${undocumented}`, init);
    await client.GET(`/${undocumented}`, { parseAs: "text" });
    await create({ baseUrl: server.url, apiKey, ...init }).checkOwnKey();
    const asked = Array(4).fill("application/json");
    expect(server.requests.map(({ headers }) => headers.accept))
      .toEqual([...asked, "text/csv", "text/csv", "*/*", "text/csv"]);
  },
);

// Bodies

Deno.test("methods refuse a body of which JSON keeps nothing", async () => {
  const bodies = [
    ...[() => {}, Symbol("x"), new Map([[1, 2]]), new Set([1]), Promise.resolve(1)],
    ...[new Blob(["text"]), new File(["text"], "name"), new Blob(["text"]).stream()],
    ...[new ArrayBuffer(1), new DataView(new ArrayBuffer(1)), Buffer.from("text")],
    new URLSearchParams("a=b"), // without its Content-Type
  ];
  for (const body of bodies) {
    const calls = [unsent.call("POST", "a", { body }), unsent.POST("/a", { body })];
    for (const { message, option } of await rejections(ConfigurationError, calls)) {
      expect(message).toMatch(/^"body" cannot be written as JSON: use a typed method/);
      expect(option).toBe("body");
    }
  }
});

Deno.test("methods send bodies as JSON.stringify() writes them", async () => {
  class WithoutFields {}
  const bodies = [
    ...[null, false, 0, "", [], new Date(0), Object.create(null), new WithoutFields()],
    ...[[{ at: new Date(0), no: undefined }, [], {}, null], { toJSON: () => 1 }],
  ];
  const sent: string[] = [];
  const fetch = async (request: Request) => {
    sent.push(await request.text());
    return new Response(null, { status: 204 });
  };
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch });
  for (const body of bodies) {
    await client.call("POST", "a", { body });
    await client.POST("/a", { body });
    expect(sent.splice(0)).toEqual(Array(2).fill(JSON.stringify(body)));
  }
});

testBothWays("methods send a form or a text when the type says so", async (create) => {
  await using server = await serve((_, response) => json(response, 1));
  const client = create({ baseUrl: server.url, apiKey });
  const form = new FormData();
  form.set("a", "b");
  const cases: [body: unknown, type: string | undefined, sent: string][] = [
    [form, undefined, 'name="a"'],
    [{ a: "b" }, "application/x-www-form-urlencoded", "a=b"],
    [{ a: "b" }, "application/x-www-form-urlencoded; charset=utf-8", "a=b"],
    [new URLSearchParams(), "application/x-www-form-urlencoded", ""],
    ["a,b", "text/csv; header=json", "a,b"],
    ["a", "application/vnd.api+JSON", '"a"'],
  ];
  for (const [body, type, sent] of cases) {
    const headers = type ? { "Content-Type": type } : {};
    await client.call("POST", undocumented, { body, headers });
    await client.POST("/a", { body, headers });
    for (const { body, headers } of server.requests.splice(0)) {
      expect(body).toContain(sent);
      expect(headers["content-type"]).toContain(type ?? "multipart/form-data; boundary=");
    }
  }
});

testBothWays("methods refuse a body that its type does not fit", async (create) => {
  await using server = await serve((_, response) => json(response, 1));
  const client = create({ baseUrl: server.url, apiKey });
  const cases: [body: unknown, type: string, message: string][] = [
    [new FormData(), "multipart/form-data", '"headers" must have no Content-Type with a FormData'],
    [{ a: 1 }, "text/csv", '"body" must be a string for the type "text/csv"'],
  ];
  for (const [body, type, expected] of cases) {
    const headers = { "Content-Type": type };
    const calls = [
      client.call("POST", undocumented, { body, headers }),
      client.POST("/a", { body, headers }),
    ];
    for (const { message } of await rejections(ConfigurationError, calls)) {
      expect(message).toContain(expected);
    }
  }
  expect(server.requests).toEqual([]);
  const bodySerializer = (body: Blob) => body;
  const headers = { "Content-Type": "text/csv" };
  await client.POST("/a", { body: new Blob(["a,b"]), headers, bodySerializer });
  expect(server.requests[0]!.body).toBe("a,b");
});

Deno.test("every call sends its headers, in addition to the client's", async () => {
  await using server = await serve((_, response) => json(response, validKey, checkKeyStatus));
  const headers = { "x-client": "a", "x-both": "a", "x-removed": "a" };
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, headers });
  const own = { "x-call": "b", "x-both": "b", "x-removed": null };
  const calls = [...sendAll(client, { headers: own }), client.checkKey("k", { headers: own })];
  await Promise.all(calls);
  for (const { headers } of server.requests) {
    expect(headers).toMatchObject({ "x-client": "a", "x-both": "b", "x-call": "b" });
    expect(headers).not.toHaveProperty("x-removed");
  }
  expect(server.requests.length).toBe(4);
});

Deno.test("call() resolves to the response, with its headers and status, and no error", async () => {
  await using server = await serve((_, response) => {
    response.writeHead(201, { "x-cost": "2" }).end("[1]");
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  for (const middleware of [[], [{ onRequest() {} }]]) {
    client.use(...middleware);
    const { data, response, ...others } = await client.call("POST", undocumented);
    expect([data, response.status, response.headers.get("x-cost")]).toEqual([[1], 201, "2"]);
    expect([response.url, others]).toEqual([`${server.url}${undocumented}`, {}]);
  }
});
