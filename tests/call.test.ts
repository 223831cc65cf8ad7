// The arguments of the methods: read before the methods return, checked, and sent.
import { expect } from "@std/expect";
import { Buffer } from "node:buffer";
import { PassThrough, Readable } from "node:stream";

import { ConfigurationError, createClient, NetworkError } from "../mod.ts";
import { apiKey, baseUrl, sendAll, testBothWays, undocumented, unsent } from "./support/client.ts";
import { caught, rejection, rejections, shown } from "./support/rejection.ts";
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

testBothWays(
  "checkOwnKey() sends the headers it was given, when they change later",
  async (create) => {
    await using server = await serve((_, response) => json(response, validKey, checkKeyStatus));
    const given = { "x-page": "first" };
    const headers = new Headers(given);
    for (const own of [apiKey, () => Promise.resolve(apiKey)]) {
      const client = create({ baseUrl: server.url, apiKey: own });
      const calls = [client.checkOwnKey({ headers: given }), client.checkOwnKey({ headers })];
      given["x-page"] = "changed";
      headers.set("x-page", "changed");
      await Promise.all(calls);
      given["x-page"] = "first";
      headers.set("x-page", "first");
    }
    expect(server.requests.map(({ headers }) => headers["x-page"])).toEqual(Array(4).fill("first"));
  },
);

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

/** What has a `pipe`, as streams have it, and a field. */
class Piped {
  readonly a = 1;
  pipe() {}
}

/** What JSON would lose, and how messages name it. */
const lost: [unknown, string][] = [
  [1n, "a bigint"],
  [NaN, "NaN"],
  [-Infinity, "-Infinity"],
  [new Date(NaN), "an invalid Date"],
  [new Map([[1, 2]]), "a Map"],
  [new Set([1]), "a Set"],
  [/a/, "a RegExp"],
  [new Error("text"), "an Error"],
  [Object.assign(new Error("text"), { code: "E" }), "an Error"],
  [Promise.resolve(1), "a Promise"],
  [new Response(), "a Response"],
  [new Blob(["text"]), "a Blob"],
  [new File(["text"], "name"), "a File"],
  [new ArrayBuffer(1), "an ArrayBuffer"],
  [new DataView(new ArrayBuffer(1)), "a DataView"],
  [Buffer.from("text"), "a Uint8Array"],
  [new URLSearchParams("a=b"), "a URLSearchParams"],
  [Object.assign(new FormData(), { toJSON: () => ({}) }), "a FormData"],
  [new Blob(["text"]).stream(), "a ReadableStream"],
  [new TransformStream(), "a TransformStream"],
  [new Map([[1, 2]]).values(), "a Map Iterator"],
  [new SharedArrayBuffer(1), "a SharedArrayBuffer"],
  [(async function* () {})(), "an AsyncGenerator"],
  [Readable.from("text"), "a stream"],
  [new PassThrough(), "a stream"],
  [Object.assign(new Piped(), { on() {} }), "a stream"],
];

Deno.test("methods refuse a body that JSON would lose, and say what and where it is", async () => {
  const problem = '"body" must be a value that JSON can represent';
  const advice = [
    "(or use a typed method, such as POST())",
    '(or set "bodySerializer" and the header "Content-Type")',
  ];
  for (const [value, kind] of lost) {
    const bodies: [unknown, string][] = [
      [value, ""],
      [{ field: value }, ' as "/field"'],
      [[, { a: [{ field: value }] }], ' as "/1/a/0/field"'],
    ];
    for (const [body, place] of bodies) {
      const calls: Promise<unknown>[] = [unsent.call("POST", "a", { body })];
      if (!(body instanceof FormData)) calls.push(unsent.POST("/a", { body }));
      for (const [index, error] of (await rejections(ConfigurationError, calls)).entries()) {
        expect(error.message).toBe(`${problem} ${advice[index]}, not ${kind}${place}`);
        expect(error.option).toBe("body");
        expect(error.stack).toContain("call.test");
      }
    }
  }
});

Deno.test("call() names the place of a cycle, and sends an object twice", async () => {
  const object: Record<string, unknown> = { a: {} };
  const body = { list: [object, object], self: object.a };
  expect(await caught(unsent.call("POST", "a", { body }))).toBeInstanceOf(NetworkError);
  object.a = { list: [{}, { back: object }] };
  const { message } = await rejection(ConfigurationError, unsent.call("POST", "a", { body }));
  expect(message).toMatch(/, not a cycle as "\/list\/0\/a\/list\/1\/back"$/);
});

Deno.test("methods refuse a body that JSON cannot represent, or that cannot be read", async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const read = () => JSON.parse("{S3CRET");
  const throwing = Object.defineProperty({}, "apiKey", { get: read });
  for (const body of [() => {}, Symbol("x"), { toJSON: read }, throwing, proxy]) {
    const calls: Promise<unknown>[] = [unsent.call("POST", "a", { body })];
    calls.push(unsent.POST("/a", { body }));
    for (const { message, option } of await rejections(ConfigurationError, calls)) {
      expect(message).toMatch(/^"body" must be a value that JSON can represent/);
      expect([option, shown(message)]).toEqual(["body", expect.not.stringContaining("S3CRET")]);
    }
  }
});

Deno.test("methods send all other bodies as JSON.stringify() writes them", async () => {
  class Labelled {
    readonly a = 1;
    readonly [Symbol.toStringTag] = "ObservableMap";
  }
  const own = [{ a: 1 }, {}, ""].map((value) =>
    Object.assign(new Map(), { toJSON: () => value, map: new Map() })
  );
  const bodies = [
    ...[null, false, 0, "", [], new Date(0), new Piped(), new Labelled(), ...own],
    [{ __proto__: null, at: new Date(0), no: undefined, own }, [], {}, null],
    [new Number(1), new String("a"), new Boolean(true), Object(1n)],
  ];
  const sent: string[] = [];
  const fetch = async (request: Request) => {
    sent.push(await request.text());
    return new Response(null, { status: 204 });
  };
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch });
  Object.assign(BigInt.prototype, { toJSON: String });
  try {
    for (const body of [...bodies, 1n]) {
      await client.call("POST", "a", { body });
      await client.POST("/a", { body });
      expect(sent.splice(0)).toEqual(Array(2).fill(JSON.stringify(body)));
    }
  } finally {
    delete (BigInt.prototype as { toJSON?: unknown }).toJSON;
  }
});

testBothWays("methods of ours refuse to send JSON as something else", async (create) => {
  await using server = await serve((_, response) => json(response, validKey, checkKeyStatus));
  const client = create({ baseUrl: server.url, apiKey });
  const send = (type: string) => {
    const headers = { "Content-Type": type };
    return [
      client.checkOwnKey({ headers }),
      client.call("POST", undocumented, { body: {}, headers }),
    ];
  };
  for (
    const type of ["text/csv; a=json", "application/x-www-form-urlencoded", "multipart/form-data"]
  ) {
    for (const { message, option } of await rejections(ConfigurationError, send(type))) {
      expect(option).toBe("headers");
      expect(message).toBe(
        '"headers" must have JSON as "Content-Type" (or use a typed method, such as POST())',
      );
    }
  }
  expect(server.requests.length).toBe(0);
  const types = ["application/json; charset=utf-8", "application/vnd.api+JSON"];
  for (const type of types) await Promise.all(send(type));
  await client.call("GET", undocumented, { headers: { "Content-Type": "text/csv" } });
  expect(server.requests.map(({ headers }) => headers["content-type"]))
    .toEqual([...types.flatMap((type) => [type, type]), "text/csv"]);
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

testBothWays(
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
