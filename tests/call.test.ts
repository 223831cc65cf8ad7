// The arguments of the methods: read before the methods return, checked, and sent.
import { expect } from "@std/expect";

import { ConfigurationError, createClient, type Method } from "../mod.ts";
import { apiKey, baseUrl, sendAll, undocumented, unusedFetch } from "./client.ts";
import { failure, failures } from "./outcome.ts";
import { type AnyPath, json, serve, validKey } from "./server.ts";

const unsent = createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });
const observers = [[], [{ onRequest() {} }]];

for (const middleware of observers) {
  const kind = middleware.length ? "with" : "without";
  Deno.test(`methods send what they were given, ${kind} middleware, when it changes later`, async () => {
    await using server = await serve((_, response) => json(response, {}));
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey: async () => await apiKey });
    client.use(...middleware);
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
    const pages = server.requests.map(({ url, headers, body }) => {
      const [page] = /\d+$/.exec(url)!;
      expect([`{"page":${page}}`, `page=${page}`]).toContain(body);
      expect(headers["x-page"]).toBe(page);
      expect(url).toMatch(new RegExp(`^/(${undocumented}|things/${page})\\?page=${page}$`));
      return page;
    });
    expect(pages.sort().join("")).toBe("000111222333");
  });
}

for (const key of [apiKey, () => Promise.resolve(apiKey)]) {
  Deno.test(`use() and eject() change no call that was made, with a ${typeof key} for the key`, async () => {
    await using server = await serve((_, response) => json(response, validKey));
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey: key });
    const mark = {
      onRequest: ({ request }: { request: Request }) => request.headers.set("x-mark", "1"),
    };
    const unmarked = [client.checkKey("some-key"), ...sendAll(client)];
    client.use(mark);
    await Promise.all(unmarked);
    expect(server.requests.splice(0).filter(({ headers }) => headers["x-mark"])).toEqual([]);
    const marked = [client.checkKey("some-key"), ...sendAll(client)];
    client.eject(mark);
    await Promise.all(marked);
    expect(server.requests.map(({ headers }) => headers["x-mark"])).toEqual(Array(4).fill("1"));
  });
}

// Methods and endpoints

Deno.test("call() refuses an endpoint that is no name below the base URL", async () => {
  const endpoints = [
    ...["", "/", 7, "HTTPS://evil.example/x", "javascript:alert(1)", "//evil.example/x"],
    ...["\\\\evil.example/x", "..", "x/../../y", "./x", ".%2E/x", "a/..;a=b/c", "x%5c..%5cy"],
    ...[".\t./x", "a\0b", "a b", "x?y=1", "x#y", "100%"],
  ];
  for (const endpoint of endpoints) {
    const error = await failure(ConfigurationError, unsent.call("GET", endpoint as string));
    expect(error.message).toMatch(/^"endpoint" must be (a string|a name|without)/);
    expect(error.option).toBe("endpoint");
  }
});

Deno.test("call() takes an endpoint with or without a slash in front, and encoded parts", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient({ baseUrl: `${server.url}api`, apiKey });
  const endpoints = ["/endpoint", "a/b/", "a%2Fb", "a..b", ".well-known", "...", "x%3Ay", "{id}"];
  for (const endpoint of endpoints) await client.call("GET", endpoint);
  const paths = ["endpoint", ...endpoints.slice(1, -1), "%7Bid%7D"];
  expect(server.requests.map(({ url }) => url)).toEqual(paths.map((path) => `/api/${path}`));
});

Deno.test("call() refuses an unknown method and takes one in small letters", async () => {
  for (const method of ["", "TRACE", "GET\n", undefined, 7]) {
    const error = await failure(ConfigurationError, unsent.call(method as Method, "endpoint"));
    expect(error.message).toMatch(/^"method" must be one of DELETE, GET/);
  }
  await using server = await serve((_, response) => json(response, 1));
  await createClient({ baseUrl: server.url, apiKey }).call("patch" as Method, "endpoint");
  expect(server.requests[0]!.method).toBe("PATCH");
});

// Bodies

const circular: Record<string, unknown> = {};
circular.self = circular;

Deno.test("methods refuse a body that JSON cannot represent", async () => {
  const toJSON = () => JSON.parse("{");
  const bodies: unknown[] = [{ list: [circular] }, 1n, { list: [1n] }, { toJSON }];
  // Typed methods may send what is more than JSON.
  const others = [() => {}, Symbol("x"), new FormData(), new Map(), new Uint8Array(1)];
  const calls = [...bodies, ...others].map((body) => unsent.call("POST", "endpoint", { body }));
  calls.push(...bodies.map((body) => unsent.POST("/endpoint", { body })));
  for (const { message, option } of await failures(ConfigurationError, calls)) {
    expect(message).toBe('"body" must be a value that JSON can represent');
    expect(option).toBe("body");
  }
});

Deno.test("call() refuses a body on a GET or HEAD request", async () => {
  for (const method of ["GET", "HEAD"] as const) {
    const call = unsent.call(method, "endpoint", { body: {} });
    expect((await failure(ConfigurationError, call)).message).toMatch(/^"body" must be left out/);
  }
});

Deno.test("call() sends what JSON.stringify() writes", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient({ baseUrl: server.url, apiKey });
  const body = { at: new Date(0), of: Object.create(null), list: [Object(1), null], no: undefined };
  for (const each of [body, null, false, 0, "", [], new Date(0)]) {
    await client.call("POST", undocumented, { body: each });
    expect(server.requests.at(-1)!.body).toBe(JSON.stringify(each));
  }
});

Deno.test("POST() leaves the content type of forms, blobs and streams to fetch", async () => {
  await using server = await serve((_, response) => json(response, {}));
  const form = new FormData();
  form.set("a", "b c");
  const bodies: (() => BodyInit)[] = [
    () => form,
    () => new Blob(["text"], { type: "text/csv" }),
    () => new Blob(["text"]),
    () => new URLSearchParams({ a: "b c" }),
    () => new Blob(["text"]).stream(),
    () => new TextEncoder().encode("text"),
  ];
  const clients = [{}, { fetch: (request: Request) => fetch(request) }].map((options) =>
    createClient<AnyPath>({ baseUrl: server.url, apiKey, ...options })
  );
  for (const create of bodies) {
    const init = { method: "POST", body: create(), duplex: "half" } as RequestInit;
    await (await fetch(server.url, init)).text();
    for (const client of clients) {
      for (const middleware of observers) {
        const bodySerializer = () => create();
        const init = { body: {}, bodySerializer, middleware, duplex: "half" };
        await client.POST("/endpoint", init);
      }
    }
    const [expected, ...sent] = server.requests.splice(0).map(({ headers, body }) => {
      const type = headers["content-type"];
      const boundary = type?.split("boundary=")[1] ?? "\n\n";
      return [type, body].map((text) => text?.replaceAll(boundary, "boundary"));
    });
    expect(sent).toEqual(Array(4).fill(expected));
  }
});

// Headers and options

Deno.test("call() and methods take headers as a list of pairs", async () => {
  await using server = await serve((_, response) => json(response, {}));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const bodySerializer = () => new Blob(["text"]);
  const named: [string, string][] = [["Content-Type", "image/png"]];
  await client.POST("/endpoint", { body: {}, bodySerializer, headers: named as never });
  expect(server.requests.shift()!.headers["content-type"]).toBe("image/png");
  const headers: [string, string][] = [["x-trace", "1"], ["x-trace", "2"], ["x-name", "a"]];
  await client.call("GET", "endpoint", { headers });
  await client.GET("/endpoint", { headers });
  for (const request of server.requests) {
    expect(request.headers).toMatchObject({ "x-trace": "1, 2", "x-name": "a" });
    expect(request.headers).not.toHaveProperty("0");
  }
  expect(server.requests.length).toBe(2);
});

Deno.test("methods take null for options, as for none", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey: () => apiKey });
  await client.GET("/a", null as never);
  await client.request("get", "/a", null as never);
  await client.call("GET", "a", null as never);
  await client.checkKey("key", null as never);
  await client.checkOwnKey(null as never);
  expect(server.requests.length).toBe(5);
});
