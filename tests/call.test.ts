// The arguments of the methods: read before the methods return, checked, and sent.
import { expect } from "@std/expect";
import { Buffer } from "node:buffer";
import { PassThrough, Readable } from "node:stream";

import { ConfigurationError, createClient, NetworkError } from "../mod.ts";
import {
  apiKey,
  baseUrl,
  sendAll,
  testWatched,
  undocumented,
  unusedFetch,
} from "./support/client.ts";
import { caught, rejection, rejections } from "./support/rejection.ts";
import { type AnyPath, json, serve, validKey } from "./support/server.ts";

const unsent = createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });

testWatched("methods send what they were given, when it changes later", async (create) => {
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
    ["", /^"endpoint" must be a name below "baseUrl", such as "report", without spaces/],
    ["x?y=1", /^"endpoint" must be a name below .*; set a query with "query"$/],
    ["x#y", /^"endpoint" must be a name below/],
    ["//evil.example/x", /^"endpoint" must be a name below/],
    ["https://evil.example/x", /^"endpoint" must be a name below/],
    ["reports/{id}", /^"endpoint" must have values .*: `reports\/\$\{encodeURIComponent\(id\)\}`$/],
    ["a/..;a=b/c", /^"endpoint" must be without a segment "\." or "\.\.", a backslash/],
    ["x%5c..%5cy", /^"endpoint" must be without a segment/],
    ["100%", /^"endpoint" must be without .* or a stray "%"$/],
  ];
  for (const [endpoint, expected] of cases) {
    const error = await rejection(ConfigurationError, unsent.call("GET", endpoint));
    expect(error.message).toMatch(expected);
    expect(error.option).toBe("endpoint");
  }
});

testWatched(
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

Deno.test("call() sends what JSON.stringify() writes", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient({ baseUrl: server.url, apiKey });
  const body = { at: new Date(0), of: Object.create(null), list: [Object(1), null], no: undefined };
  for (const each of [body, null, false, 0, "", [], new Date(0)]) {
    await client.call("POST", undocumented, { body: each });
    expect(server.requests.at(-1)!.body).toBe(JSON.stringify(each));
  }
});

Deno.test("call() refuses a body that JSON cannot represent", async () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const toJSON = () => JSON.parse("{");
  const bodies = [
    ...[
      { list: [circular] },
      { circular, list: Array(10_000).fill(circular) },
      1n,
      { list: [1n] },
      { toJSON },
    ],
    ...[() => {}, Symbol("x")],
  ];
  const calls = bodies.map((body) => unsent.call("POST", "endpoint", { body }));
  for (const { message, option } of await rejections(ConfigurationError, calls)) {
    expect(message).toMatch(/^"body" must be a value that JSON can represent/);
    expect(option).toBe("body");
  }
});

Deno.test("call() names a bigint and a cycle, and sends an object twice", async () => {
  const object: Record<string, unknown> = { a: [1n] };
  const again = { list: [{}, { back: object }] };
  const message = async (body: unknown) =>
    (await rejection(ConfigurationError, unsent.call("POST", "a", { body }))).message;
  expect(await message(1n)).toMatch(/, not a bigint$/);
  expect(await message(object)).toMatch(/, not a bigint as "\/a\/0"$/);
  expect(await message([, 1n])).toMatch(/, not a bigint as "\/1"$/);
  Object.assign(BigInt.prototype, { toJSON: String }); // says what is written
  try {
    expect(await caught(unsent.call("POST", "a", { body: [1n] }))).toBeInstanceOf(NetworkError);
  } finally {
    delete (BigInt.prototype as { toJSON?: unknown }).toJSON;
  }
  object.a = again;
  expect(await message(object)).toMatch(
    /, not a cycle as "\/a\/list\/1\/back"$/,
  );
  object.a = {};
  const shared = { list: [object, object], object, self: object.a };
  expect(await caught(unsent.call("POST", "a", { body: shared }))).toBeInstanceOf(NetworkError);
});

Deno.test("call() refuses what has a pipe and can be listened to, and sends what has only a pipe", async () => {
  const pipe = () => {};
  class Data {
    readonly a = 1;
    pipe() {}
  }
  for (const body of [{ on: pipe }, { subscribe: pipe }]) {
    const stream = Object.assign(new Data(), body);
    const error = await rejection(ConfigurationError, unsent.call("POST", "a", { body: stream }));
    expect(error.message).toMatch(/, not a stream$/);
  }
  expect(await caught(unsent.call("POST", "a", { body: new Data() }))).toBeInstanceOf(NetworkError);
});

testWatched("call() refuses to send JSON as something else", async (create) => {
  await using server = await serve((_, response) => json(response, 1));
  const client = create({ baseUrl: server.url, apiKey });
  const send = (type: string, body: unknown = {}) =>
    client.call("POST", undocumented, { body, headers: { "Content-Type": type } });
  for (
    const type of ["text/csv", "application/x-www-form-urlencoded", "multipart/form-data"]
  ) {
    const { message, option } = await rejection(ConfigurationError, send(type));
    expect(option).toBe("headers");
    expect(message).toBe(
      '"headers" must have JSON as "Content-Type" (or use a typed method, such as POST())',
    );
  }
  expect(server.requests.length).toBe(0);
  const types = ["application/json; charset=utf-8", "application/vnd.api+JSON"];
  for (const type of types) expect(await send(type)).toBe(1);
  await client.call("GET", undocumented, { headers: { "Content-Type": "text/csv" } });
  expect(server.requests.map(({ headers }) => headers["content-type"]))
    .toEqual([...types, "text/csv"]);
});

Deno.test("methods refuse a body that JSON would lose, and say what to write", async () => {
  const cannot = '"body" must be a value that JSON can represent ' +
    "(or use a typed method, such as POST())";
  const form = Object.assign(new FormData(), { toJSON: () => ({}) });
  const bodies: Record<string, unknown> = {
    ...{ Blob: new Blob(["text"]), File: new File(["text"], "name"), Map: new Map() },
    ...{
      ArrayBuffer: new ArrayBuffer(1),
      Uint8Array: Buffer.from("text"),
      DataView: new DataView(new ArrayBuffer(1)),
    },
    ...{ ReadableStream: new Blob(["text"]).stream(), URLSearchParams: new URLSearchParams("a=b") },
    ...{ Response: new Response(), Error: new Error("text"), Promise: Promise.resolve("text") },
    AsyncGenerator: (async function* () {})(),
  };
  const streams = [Readable.from("text"), new PassThrough()]; // an object each, for \`classOf\`
  class Labelled {
    readonly a = 1;
    readonly [Symbol.toStringTag] = "ObservableMap";
  }
  const withToJson = [{ a: 1 }, {}, ""].map((value) => ({ toJSON: () => value }));
  for (const body of [new Labelled(), ...withToJson.map((own) => Object.assign(new Map(), own))]) {
    const calls = [unsent.call("POST", "a", { body }), unsent.POST("/a", { body })];
    for (const error of await Promise.all(calls.map(caught))) {
      expect(error).toBeInstanceOf(NetworkError); // It was sent, by the `fetch` that refuses.
    }
  }
  expect((await rejection(ConfigurationError, unsent.call("POST", "a", { body: form }))).message)
    .toBe(`${cannot}, not a FormData`);
  for (const body of streams) {
    for (const call of [unsent.call("POST", "a", { body }), unsent.POST("/a", { body })]) {
      expect((await rejection(ConfigurationError, call)).message).toMatch(/JSON .*, not a stream$/);
    }
  }
  for (const [name, body] of Object.entries(bodies)) {
    const calls = [unsent.call("POST", "a", { body }), unsent.POST("/a", { body })];
    const [called, typed] = await rejections(ConfigurationError, calls);
    const kind = `${/^[AE]/.test(name) ? "an" : "a"} ${name}`;
    expect(called!.message).toBe(`${cannot}, not ${kind}`);
    expect(typed!.message).toMatch(/"bodySerializer".*"Content-Type"/);
    expect(typed!.message.endsWith(`, not ${kind}`)).toBe(true);
    expect([called!.option, typed!.option]).toEqual(["body", "body"]);
  }
});

Deno.test("methods refuse what JSON would lose at any depth, and name its place", async () => {
  class Point {
    constructor(readonly x = 1) {}
  }
  const lost: [unknown, string][] = [
    ...[new Map([[1, 2]]), new Set([1]), /a/, new WeakSet(), new Error("text")].map((value) =>
      [value, value.constructor.name] as [unknown, string]
    ),
    [Object.assign(new Error("text"), { code: "E" }), "Error"],
    [new Blob(["text"]), "Blob"],
    [new FormData(), "FormData"],
    [Promise.resolve(1), "Promise"],
    [Buffer.from("text"), "Uint8Array"],
    [Readable.from("text"), "a stream"],
    [NaN, "NaN"],
    [-Infinity, "-Infinity"],
    [new Date(NaN), "an invalid Date"],
  ];
  for (const [value, kind] of lost) {
    const bodies: [unknown, string][] = [
      [{ field: value }, "/field"],
      [[{}, { a: [{ field: value }] }], "/1/a/0/field"],
    ];
    for (const [body, place] of bodies) {
      const calls = [unsent.call("POST", "a", { body }), unsent.POST("/a", { body })];
      for (const { message, stack } of await rejections(ConfigurationError, calls)) {
        expect(message).toMatch(RegExp(`^"body" .*, not (an? )?${kind} as "${place}"$`));
        expect(stack).toContain("call.test");
      }
    }
  }
  const own = { toJSON: () => 1, map: new Map() }; // which says what is written
  const plain = { __proto__: null, at: new Date(0), point: new Point(), own, no: undefined };
  const boxed = [new Number(1), new String("a"), new Boolean(true), [], {}, new Point(2)];
  const sent: string[] = [];
  const fetch = async (request: Request) => {
    sent.push(await request.text());
    return new Response(null, { status: 204 });
  };
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch });
  await client.call("POST", "a", { body: { plain, boxed } });
  await client.POST("/a", { body: { plain, boxed } });
  const expected = '{"plain":{"at":"1970-01-01T00:00:00.000Z","point":{"x":1},"own":1},' +
    '"boxed":[1,"a",true,[],{},{"x":2}]}';
  expect(sent).toEqual([expected, expected]);
});

testWatched(
  "typed methods send bodies as openapi-fetch does, when something says how",
  async (create) => {
    await using server = await serve((_, response) => json(response, 1));
    const client = create({ baseUrl: server.url, apiKey });
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const bodySerializer = (body: Blob) => body;
    await client.POST("/a", { body: new URLSearchParams("a=b"), headers });
    await client.POST("/a", { body: new URLSearchParams(), headers });
    await client.POST("/a", { body: { a: "b" }, headers });
    await client.POST("/a", { body: new Blob(["a=b"]), headers, bodySerializer });
    for (const body of [new Blob(["a=b"]), Promise.resolve({ a: "b" })]) {
      await rejection(ConfigurationError, client.POST("/a", { body, headers }));
    }
    expect(server.requests.map(({ body }) => body)).toEqual(["a=b", "", "a=b", "a=b"]);
  },
);
