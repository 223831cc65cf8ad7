// Responses with a 4xx or 5xx status, or with 304.
import { expect } from "@std/expect";

import { createClient, HttpError } from "../mod.ts";
import { apiKey, baseUrl, testBothWays, undocumented } from "./support/client.ts";
import { rejection, rejections } from "./support/rejection.ts";
import { type AnyPath, json, serve } from "./support/server.ts";

const bodies: [string, unknown][] = [
  [`{"error":{"code":7}}`, { error: { code: 7 } }],
  [`\ufeff{"a":1}`, { a: 1 }],
  ['{"__proto__":{"a":1}}', JSON.parse('{"__proto__":{"a":1}}')], // a name as any other
  ["null", null],
  ['"0"', "0"],
  ["", ""],
  ["<h1>No</h1>", "<h1>No</h1>"],
  [`{"error":`, `{"error":`],
];

testBothWays("methods keep status, headers and body of a 4xx or 5xx response", async (create) => {
  await using server = await serve(({ url }, response) => {
    const [, status, index] = url.split("/").map(Number);
    const headers = { "x-request-id": "r1", "set-cookie": ["a=1", "b=2"] };
    response.writeHead(status!, headers).end(bodies[index!]![0]);
  });
  const client = create({ baseUrl: server.url, apiKey });
  for (const status of [400, 404, 599]) {
    for (const [index, [, body]] of bodies.entries()) {
      const name = `${status}/${index}`;
      const error = await rejection(HttpError, client.call("POST", name, { body: {} }));
      expect([error.code, error.response.status, error.response.body]).toEqual([
        "http",
        status,
        body,
      ]);
      expect(JSON.stringify(error.response.body)).toBe(JSON.stringify(body)); // which has "__proto__"
      expect(error.response.headers.get("x-request-id")).toBe("r1");
      expect(error.response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
      expect("retryAfter" in error).toBe(false);
      const { response, error: given, data } = await client.POST(`/${name}`, { body: {} });
      expect([response.status, given, data]).toEqual([status, body, undefined]);
    }
  }
});

Deno.test("methods keep the part that was read of an error whose body is cut short", async () => {
  const fetch = () => {
    const chunks = [new TextEncoder().encode("the <h1>No").subarray(4)]; // a part of a buffer
    const body = new ReadableStream({
      pull(controller) {
        const chunk = chunks.pop();
        if (chunk) controller.enqueue(chunk);
        else controller.error(new Error("boom"));
      },
    });
    return Promise.resolve(new Response(body, { status: 403, headers: { "x-id": "r1" } }));
  };
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch });
  const { response: { status, headers, body } } = await rejection(
    HttpError,
    client.call("GET", undocumented),
  );
  expect([status, headers.get("x-id"), body]).toEqual([403, "r1", "<h1>No"]);
  const { response, error } = await client.GET(`/${undocumented}`);
  expect([response.status, error]).toEqual([403, "<h1>No"]);
});

testBothWays("HttpError has the body's first 64 KiB, as text when it is longer", async (create) => {
  const bodies: Record<string, string> = {
    text: "€".repeat(2 ** 20),
    json: '["x"]'.padEnd(2 ** 16),
    longer: JSON.stringify(["x".repeat(2 ** 16)]),
  };
  await using server = await serve(({ url }, response) => {
    response.writeHead(400).end(bodies[url.slice(1)]);
  });
  const client = create({ baseUrl: server.url, apiKey });
  const body = async (name: string) =>
    (await rejection(HttpError, client.call("GET", name))).response.body;
  expect(await body("text")).toBe(`${"€".repeat(2 ** 16 / 3)}\ufffd`);
  expect(await body("json")).toEqual(["x"]);
  expect(await body("longer")).toBe(bodies["longer"]!.slice(0, 2 ** 16));
});

testBothWays(
  "typed methods resolve to the whole body of an error, and at most maxResponseBytes",
  async (create) => {
    const body = { list: Array(20_000).fill("text") };
    await using server = await serve((_, response) => json(response, body, 400));
    const read = async (maxResponseBytes?: number) => {
      const client = create({ baseUrl: server.url, apiKey, maxResponseBytes });
      const seen: string[] = [];
      client.use({
        onResponse: async ({ response }) => void seen.push(await response.clone().text()),
      });
      return [(await client.GET(`/${undocumented}`)).error, ...seen];
    };
    const text = JSON.stringify(body);
    expect(await read()).toEqual([body, text]);
    expect(await read(100_000)).toEqual(Array(2).fill(text.slice(0, 100_000)));
  },
);

Deno.test("a body that is nested deeply is an HttpError like any other", async () => {
  const body = "[".repeat(30_000) + "]".repeat(30_000);
  await using server = await serve((_, response) => void response.writeHead(400).end(body));
  const client = createClient({ baseUrl: server.url, apiKey });
  await rejection(HttpError, client.call("GET", undocumented));
});

testBothWays("304 is an HttpError, and typed methods resolve to it", async (create) => {
  await using server = await serve((_, response) => void response.writeHead(304).end());
  const client = create({ baseUrl: server.url, apiKey });
  const { data, response } = await client.GET(`/${undocumented}`);
  expect([data, response.status]).toEqual([undefined, 304]);
  const calls = [client.call("GET", undocumented), client.checkKey("k"), client.checkOwnKey()];
  for (const error of await rejections(HttpError, calls)) expect(error.response.status).toBe(304);
  expect(server.requests.length).toBe(4);
});
