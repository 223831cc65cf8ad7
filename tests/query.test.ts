// How call() writes a query, and how the methods write path parameters.
import { expect } from "@std/expect";

import { ConfigurationError, createClient } from "../mod.ts";
import { failure } from "./outcome.ts";
import { type AnyPath, json, serve } from "./server.ts";
import { keyHeader } from "./client.ts";

Deno.test("call() writes a query as JSON writes values", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient({ baseUrl: server.url, apiKey: "some-key" });
  const cases: [Record<string, unknown>, string][] = [
    [{}, ""],
    [{ a: "x y&z", b: 1.5, c: true, d: "" }, "?a=x+y%26z&b=1.5&c=true&d="],
    [{ a: null, b: undefined, c: [null, undefined] }, ""],
    [{ "a&b": 1, "c#d": 2, "e=f": 3, "g h": 4 }, "?a%26b=1&c%23d=2&e%3Df=3&g+h=4"],
    [{ list: [1, "b", false] }, "?list=1&list=b&list=false"],
    [{ of: { "a&b": 1, c: null, d: "x" } }, "?of%5Ba%26b%5D=1&of%5Bd%5D=x"],
    [{ at: new Date(0) }, "?at=1970-01-01T00%3A00%3A00.000Z"],
    [{ in: [new Date(0)] }, "?in=1970-01-01T00%3A00%3A00.000Z"],
    [{ url: new URL("https://a.example/?b") }, "?url=https%3A%2F%2Fa.example%2F%3Fb"],
  ];
  for (const [query, expected] of cases) {
    await client.call("GET", "report", { query });
    expect(server.requests.at(-1)!.url).toBe(`/report${expected}`);
  }
});

Deno.test("call() refuses a query that cannot be written", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient({ baseUrl: server.url, apiKey: "some-key" });
  const queries: unknown[] = [
    null,
    "a=b",
    7,
    ["a"],
    new Map([["a", 1]]),
    new URLSearchParams("a=b"),
    { a: () => 1 },
    { a: Symbol("x") },
    { a: 1n },
    { a: NaN },
    { a: -Infinity },
    { a: new Date(NaN) },
    { a: new Map() },
    { a: [[1]] },
    { a: [{ b: 1 }] },
    { a: { b: [1] } },
    { a: { b: { c: 1 } } },
  ];
  for (const query of queries) {
    const call = client.call("GET", "report", { query: query as never });
    expect((await failure(ConfigurationError, call)).message).toMatch(
      /^"(value in )?query" must be /,
    );
  }
  expect(server.requests).toEqual([]);
});

Deno.test("methods refuse a path parameter that is missing or empty", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey: "some-key" });
  for (const id of [undefined, null, "", [], {}, [[]]]) {
    for (const path of ["/things/{id}", "/things/{id*}/x", "/things/{.id}"]) {
      const call = client.GET(path, { params: { path: { id } } } as never);
      expect((await failure(ConfigurationError, call)).message).toMatch(
        /^"params.path" must have a value for "id"/,
      );
    }
  }
  await failure(ConfigurationError, client.GET("/things/{id}"));
  expect(server.requests).toEqual([]);
  for (const id of [0, false, "x", ["x"], { a: 1 }]) {
    await client.GET("/things/{id}", { params: { path: { id } } } as never);
  }
  const pathSerializer = (path: string) => path.replace("{id}", "own");
  await client.GET("/things/{id}", { pathSerializer, params: { path: {} } } as never);
  expect(server.requests.map(({ url }) => url)).toEqual([
    "/things/0",
    "/things/false",
    "/things/x",
    "/things/x",
    "/things/a,1",
    "/things/own",
  ]);
});

Deno.test("methods refuse endpoints and parameters that leave the base URL", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient<AnyPath>({ baseUrl: `${server.url}api/`, apiKey: "some-key" });
  for (const id of ["..", "..;", "..;a=b", "%2e%2e", "."]) {
    await failure(ConfigurationError, client.call("GET", `a/${id}/b`));
    if (id === "%2e%2e") continue; // as a parameter it is encoded once more
    const call = client.GET("/a/{id}/b", { params: { path: { id } } } as never);
    await failure(ConfigurationError, call);
  }
  expect(server.requests).toEqual([]);
});

Deno.test("call() does the same for an endpoint that the document has", async () => {
  await using server = await serve((_, response) => json(response, { any: "thing" }));
  const client = createClient({ baseUrl: server.url, apiKey: "some-key" });
  expect(await client.call("POST", "checkKey", { body: {} })).toEqual({ any: "thing" });
  expect(server.requests[0]!.headers[keyHeader]).toBe("some-key");
});
