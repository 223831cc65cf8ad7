// How call() writes a query.
import { expect } from "@std/expect";

import { ConfigurationError, createClient } from "../mod.ts";
import { apiKey, undocumented, unsent } from "./support/client.ts";
import { rejection } from "./support/rejection.ts";
import { json, serve } from "./support/server.ts";

const EPOCH = "1970-01-01T00%3A00%3A00.000Z";

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

Deno.test("call() refuses a query that is not names with scalars, dates, or lists of these", async () => {
  const queries: unknown[] = [null, "a=b", ["a"], new Map([["a", 1]]), new URLSearchParams("a=b")];
  const values = [() => 1, 1n, NaN, -Infinity, new Date(NaN), {}, [[1]], [{ b: 1 }]];
  const cases: [unknown, RegExp][] = [
    ...queries.map((
      query,
    ): [unknown, RegExp] => [query, /^"query" must be an object of names and values$/]),
    ...values.map((a): [unknown, RegExp] => [{ a }, /^"query" must have a string, .* as "a"$/]),
  ];
  for (const [query, expected] of cases) {
    const call = unsent.call("GET", undocumented, { query: query as never });
    const error = await rejection(ConfigurationError, call);
    expect(error.message).toMatch(expected);
    expect(error.option).toBe("query");
  }
});
