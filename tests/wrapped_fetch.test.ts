// Whatever wraps the global fetch keeps working: it sees the URL, the method, the headers and
// a JSON body as text, or on Deno as a Blob if it is sent once. tests/wrappers has real packages.
import { expect } from "@std/expect";

import { createClient, HttpError } from "../mod.ts";
import {
  apiKey,
  baseUrl,
  clientAt,
  isDeno,
  keyHeader,
  replaceFetch,
  undocumented,
} from "./support/client.ts";
import { rejection } from "./support/rejection.ts";
import { type AnyPath, json, serve, validKey } from "./support/server.ts";
import { replaceWaiting } from "./support/waiting.ts";

type Wrap = (original: typeof fetch) => typeof fetch;

const text = (init: RequestInit) => new Response(init.body ?? null).text();

const wrappers: Record<string, Wrap> = {
  "makes a request of its arguments": (original) => (input, init) =>
    original(new Request(input, init)),
  "takes an address, and not a request": (original) => (input, init) => {
    expect(input instanceof Request).toBe(false);
    return original(input, init);
  },
  "spreads the options and adds a header": (original) => (input, init) => {
    (init!.headers as Headers).append("x-trace", "1");
    return original(input, { ...init });
  },
  "parses the body": (original) => async (input, init) => {
    // On Deno, what is sent once is a `Blob`.
    if (init?.method === "POST") JSON.parse(isDeno ? await text(init) : init.body as string);
    return await original(input, init);
  },
};

for (const [name, wrap] of Object.entries(wrappers)) {
  Deno.test(`calls survive a global fetch that ${name}`, async () => {
    const statuses = [401, 200, 503, 200];
    await using server = await serve((_, response, count) =>
      json(response, [], statuses[count - 1])
    );
    using _fetch = replaceFetch(wrap);
    using _waiting = replaceWaiting();
    const client = clientAt(server);

    const body = { text: "é" };
    const { response } = await rejection(HttpError, client.call("POST", "report", { body }));
    expect([response.status, response.body]).toEqual([401, []]);
    expect((await client.call("GET", "report", { query: { page: 1 } })).data).toEqual([]);
    await client.call("POST", "report", { body, idempotent: true });

    const text = JSON.stringify(body);
    expect(server.requests.map(({ method, url, body }) => [method, url, body])).toEqual([
      ["POST", "/report", text],
      ["GET", "/report?page=1", ""],
      ["POST", "/report", text],
      ["POST", "/report", text], // It follows the 503.
    ]);
    for (const { headers } of server.requests) {
      expect(headers).toMatchObject({
        [keyHeader]: apiKey,
        "content-type": "application/json",
        accept: "application/json",
      });
      expect(headers["x-trace"] ?? "1").toBe("1"); // A retry adds no other.
    }
  });
}

// What mocks return

/** Wraps a response as fetch-mock does, with an address that cannot be changed. */
function mock(response: Response): Response {
  Object.defineProperty(response, "url", { value: "https://mock.example/" });
  return new Proxy(response, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

Deno.test("methods read a proxy of a response with a property of its own", async () => {
  await using server = await serve(({ url }, response) => {
    const status = Number(url.slice(1));
    if (status === 307) response.setHeader("location", "/other");
    if (status === 204) return void response.writeHead(status).end();
    json(response, validKey, status);
  });
  using _fetch = replaceFetch((fetch) => async (...args) => mock(await fetch(...args)));
  const client = clientAt(server, { retries: 0 });
  for (const [status, data] of [[200, validKey], [204, undefined]] as const) {
    expect((await client.call("GET", `${status}`)).data).toEqual(data);
    expect(await client.GET(`/${status}`)).toMatchObject({ data, response: { status } });
  }
  expect((await rejection(HttpError, client.call("GET", "400"))).response.body).toEqual(validKey);
  expect((await client.GET("/400")).error).toEqual(validKey);
  expect((await rejection(HttpError, client.call("GET", "307"))).response.status).toBe(307);
});

Deno.test("methods read a response that takes no property, and one whose type is wrong", async () => {
  // A stream of a transformer is no byte stream.
  const stream = () => new Blob(["[1]"]).stream().pipeThrough(new TransformStream());
  const responses = [
    () => Object.preventExtensions(Response.json([1])),
    () => Object.defineProperty(new Response(stream()), "type", { value: "basic" }),
  ];
  for (const respond of responses) {
    using _fetch = replaceFetch(() => () => Promise.resolve(respond()));
    const client = createClient<AnyPath>({ baseUrl, apiKey });
    expect((await client.call("GET", undocumented)).data).toEqual([1]);
    expect((await client.GET(`/${undocumented}`)).data).toEqual([1]);
  }
});
