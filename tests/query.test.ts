// How call() writes a query, and how the methods write path parameters.
import { expect } from "@std/expect";

import { ConfigurationError, createClient } from "../mod.ts";
import { apiKey, baseUrl, undocumented, unusedFetch } from "./client.ts";
import { failure } from "./outcome.ts";
import { type AnyPath, json, serve } from "./server.ts";

const unsent = createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });

Deno.test("call() writes scalars, dates and lists of them as a query", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient({ baseUrl: server.url, apiKey });
  const cases: [Record<string, unknown>, string][] = [
    [{}, ""],
    [{ a: "x y&z", b: 1.5, c: true, d: "" }, "?a=x+y%26z&b=1.5&c=true&d="],
    [{ a: null, b: undefined, c: [null, undefined] }, ""],
    [{ "a&b": 1, "c#d": 2, "e=f": 3, "g h": 4 }, "?a%26b=1&c%23d=2&e%3Df=3&g+h=4"],
    [{ list: [1, "b", false] }, "?list=1&list=b&list=false"],
    [{ at: new Date(0), in: [new Date(0)] }, `?at=${EPOCH}&in=${EPOCH}`],
  ];
  for (const [query, expected] of cases) {
    await client.call("GET", undocumented, { query });
    expect(server.requests.at(-1)!.url).toBe(`/${undocumented}${expected}`);
  }
});

const EPOCH = "1970-01-01T00%3A00%3A00.000Z";

Deno.test("call() refuses a query that is not names with values", async () => {
  const queries: unknown[] = [null, "a=b", ["a"], new Map([["a", 1]]), new URLSearchParams("a=b")];
  for (const query of queries) {
    const call = unsent.call("GET", undocumented, { query: query as never });
    const error = await failure(ConfigurationError, call);
    expect(error.message).toMatch(/^"query" must be an object, not /);
    expect(error.option).toBe("query");
  }
});

Deno.test("call() refuses a value in a query that is no scalar, date, or list of these", async () => {
  const values = [() => 1, Symbol("x"), 1n, NaN, -Infinity, new Date(NaN), {}, [[1]], [{ b: 1 }]];
  for (const a of values) {
    const call = unsent.call("GET", undocumented, { query: { a } });
    const error = await failure(ConfigurationError, call);
    expect(error.message).toMatch(/^"query" must have a text, .* as "a"$/);
    expect(error.option).toBe("query");
  }
});

Deno.test("methods refuse a query that openapi-fetch cannot write", async () => {
  const circular: Record<string, unknown> = {};
  circular.a = circular;
  for (const query of [{ a: [[1]] }, { a: { b: { c: 1 } } }, circular, { a: "\ud800" }]) {
    const error = await failure(ConfigurationError, unsent.GET("/a", { params: { query } }));
    expect(error.option).toBe("params.query");
  }
});

Deno.test("methods refuse a path parameter that is missing, empty or cannot be written", async () => {
  const values = [undefined, null, "", [], {}, [[]], "\ud800"];
  for (const id of values) {
    for (const path of ["/things/{id}", "/things/{id*}/x", "/things/{.id}"]) {
      const get = unsent.GET(path, { params: { path: { id } } });
      const error = await failure(ConfigurationError, get);
      expect(error.message).toMatch(/^"params.path" must have a value for "id"/);
      expect(error.option).toBe("params.path");
    }
  }
  for (const name of ["id", "constructor", "__proto__", "toString"]) {
    for (const init of [{}, { params: { path: {} } }]) {
      const { message } = await failure(ConfigurationError, unsent.GET(`/things/{${name}}`, init));
      expect(message).toContain(`"params.path" must have a value for "${name}"`);
    }
  }
});

Deno.test("methods write path parameters that have a value", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  for (const id of [0, false, "x", ["x"], { a: 1 }, "a/b"]) {
    await client.GET("/things/{id}", { params: { path: { id } } });
  }
  await client.GET("/things/{constructor}", { params: { path: { constructor: 7 } } });
  const pathSerializer = (path: string) => path.replace("{id}", "own");
  await client.GET("/things/{id}", { pathSerializer, params: { path: {} } });
  expect(server.requests.map(({ url }) => url.replace("/things/", "")))
    .toEqual(["0", "false", "x", "x", "a,1", "a%2Fb", "7", "own"]);
});
