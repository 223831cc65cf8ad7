// The arguments of call(): its method, endpoint, body and headers.
import { expect } from "@std/expect";

import { ConfigurationError, createClient, type Method } from "../mod.ts";
import { apiKey, baseUrl, unusedFetch } from "./client.ts";
import { failure } from "./outcome.ts";
import { type AnyPath, json, serve, validKey } from "./server.ts";

const unsent = createClient({ baseUrl, apiKey, fetch: unusedFetch });

const badEndpoints: Record<string, unknown> = {
  "empty": "",
  "a slash": "/",
  "not a string": 7,
  "an absolute URL": "https://evil.example/x",
  "an absolute URL in capitals": "HTTPS://evil.example/x",
  "an absolute URL without slashes": "https:evil.example",
  "a javascript URL": "javascript:alert(1)",
  "a host": "//evil.example/x",
  "a host behind a backslash": "\\\\evil.example/x",
  "a host behind both slashes": "/\\evil.example/x",
  "parent": "..",
  "parent first": "../x",
  "parent inside": "x/../../y",
  "parent last": "x/..",
  "itself": "./x",
  "parent, encoded": "%2e%2e/x",
  "parent, half encoded": ".%2E/x",
  "parent, with an encoded slash": "x%2f..%2fy",
  "parent, with an encoded backslash": "x%5c..%5cy",
  "parent, behind a tab": ".\t./x",
  "a backslash": "a\\b",
  "a line break": "a\nb",
  "a null character": "a\0b",
  "a space": "a b",
  "a query": "x?y=1",
  "a fragment": "x#y",
  "a stray percent sign": "100%",
};

for (const [kind, value] of Object.entries(badEndpoints)) {
  Deno.test(`call() refuses an endpoint that is or contains ${kind}`, async () => {
    const error = await failure(ConfigurationError, unsent.call("GET", value as string));
    expect(error.message).toMatch(/^"endpoint" must/);
  });
}

Deno.test("call() takes an endpoint with or without a slash in front, and encoded parts", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient({ baseUrl: `${server.url}api`, apiKey });
  const endpoints = ["endpoint", "/endpoint", "a/b/", "a%2Fb", "a..b", "...", "x%3Ay", "{id}"];
  for (const endpoint of endpoints) await client.call("GET", endpoint);
  expect(server.requests.map(({ url }) => url)).toEqual([
    "/api/endpoint",
    "/api/endpoint",
    "/api/a/b/",
    "/api/a%2Fb",
    "/api/a..b",
    "/api/...",
    "/api/x%3Ay",
    "/api/%7Bid%7D",
  ]);
});

Deno.test("call() refuses an unknown method and takes one in small letters", async () => {
  for (const method of ["", "FETCH", "TRACE", "CONNECT", "GET\n", undefined, null, 7]) {
    const error = await failure(ConfigurationError, unsent.call(method as Method, "endpoint"));
    expect(error.message).toMatch(/^"method" must/);
  }
  await using server = await serve((_, response) => json(response, 1));
  await createClient({ baseUrl: server.url, apiKey }).call("patch" as Method, "endpoint");
  expect(server.requests[0]!.method).toBe("PATCH");
});

// Bodies

const circular: Record<string, unknown> = {};
circular.self = circular;
const badBodies: Record<string, unknown> = {
  "a circle": circular,
  "a bigint": 1n,
  "a bigint inside": { list: [1n] },
  "a function": () => {},
  "a symbol": Symbol("x"),
  "NaN": NaN,
  "infinity inside": { list: [Infinity] },
  "a form": new FormData(),
  "a map inside": { list: [new Map()] },
  "a function inside": { list: [() => {}] },
  "bytes inside": { list: [new Uint8Array(1)] },
};

for (const [kind, body] of Object.entries(badBodies)) {
  Deno.test(`call() refuses a body that is or contains ${kind}`, async () => {
    const error = await failure(ConfigurationError, unsent.call("POST", "endpoint", { body }));
    expect(error.message).toMatch(/^"body" must/);
  });
}

Deno.test("call() refuses a body on a GET or HEAD request", async () => {
  for (const method of ["GET", "HEAD"] as const) {
    const call = unsent.call(method, "endpoint", { body: {} });
    expect((await failure(ConfigurationError, call)).message).toMatch(/^"body" must/);
  }
});

Deno.test("call() sends values with toJSON(), and leaves out undefined", async () => {
  await using server = await serve((_, response) => json(response, 1));
  class Report {
    lines = [Object(1), Object("a"), null];
    note = undefined;
  }
  const body = { at: new Date(0), of: Object.create(null), report: new Report() };
  await createClient({ baseUrl: server.url, apiKey }).call("POST", "endpoint", { body });
  expect(server.requests[0]!.body).toBe(
    '{"at":"1970-01-01T00:00:00.000Z","of":{},"report":{"lines":[1,"a",null]}}',
  );
});

// Headers and options

Deno.test("call() and methods take headers as a list of pairs", async () => {
  await using server = await serve((_, response) => json(response, {}));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
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
  expect(server.requests.length).toBe(4);
});
