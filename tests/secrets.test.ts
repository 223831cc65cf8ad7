import { expect } from "@std/expect";
import { inspect } from "node:util";

import {
  createClient,
  HttpError,
  InvalidResponseError,
  NetworkError,
  RedirectError,
  type RetryEvent,
  type ScamAddressClient,
} from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { baseUrl, keyHeader } from "./client.ts";
import { createClock } from "./clock.ts";
import { failure, shown } from "./outcome.ts";
import { type AnyPath, json, serve, serveBytes, validKey } from "./server.ts";

/** A key with the characters that URLs, JSON, HTML and regular expressions change. */
const apiKey = `k3y-"of"-\\the/+client+%$&<1>`;

/** The key as it is, and as URLs, JSON and inspect() write it. */
const forms = [
  apiKey,
  encodeURIComponent(apiKey),
  JSON.stringify(apiKey).slice(1, -1),
  inspect(apiKey).slice(1, -1),
];

/** Asserts that logging a value shows no key. */
function expectNoKey(value: unknown): void {
  const text = shown(value);
  expect(forms.filter((form) => text.includes(form))).toEqual([]);
}

/** Returns the error that a call fails with, which must be of the class and show no key. */
async function keylessFailure<T>(
  errorClass: new (...args: never[]) => T,
  call: Promise<unknown>,
): Promise<T> {
  const error = await failure(errorClass as new () => T, call);
  expectNoKey(error);
  return error;
}

/** The ways to send the key: in the header and in the body. */
function calls(client: ScamAddressClient<AnyPath>): (() => Promise<unknown>)[] {
  return [
    () => client.call("GET", "report"),
    () => client.call("POST", "report", { body: {} }),
    () => client.checkKey(),
    () => client.GET("/report"),
    () => client.POST("/checkKey", { body: { apiKey } }),
  ];
}

Deno.test("shown() finds a key wherever an error could have it", () => {
  class Getter extends Error {
    override get message() {
      return apiKey;
    }
  }
  const places = [
    new Error(apiKey),
    new Error("", { cause: new Error("", { cause: apiKey }) }),
    new AggregateError([new Error(apiKey)]),
    Object.assign(new Error(), { [Symbol("request")]: { headers: [[keyHeader, apiKey]] } }),
    Object.assign(new Error(), { request: new Request("http://a", { headers: { a: apiKey } }) }),
    Object.defineProperty(new Error(), "hidden", { value: new Map([["a", apiKey]]) }),
    Object.defineProperty(new Error(), "stack", { value: apiKey }),
    new Getter(),
    new DOMException(apiKey),
    { headers: new Headers({ a: apiKey }) },
  ];
  const missed = places.filter((place) => !forms.some((form) => shown(place).includes(form)));
  expect(missed).toEqual([]);
});

Deno.test("the client shows no key", () => {
  const client = createClient({ baseUrl, apiKey });
  expectNoKey(client);
  expectNoKey(Object.entries(client));
  expect(JSON.stringify(client)).not.toContain("k3y");
  expect(inspect(client, { showHidden: true, depth: 8, showProxy: true })).not.toContain("k3y");
});

Deno.test("the key is sent in its header or in the body of checkKey(), and nowhere else", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  for (const call of calls(client)) await call();
  expect(server.requests.length).toBe(5);
  for (const { url, rawHeaders, body } of server.requests) {
    for (const form of forms) expect(decodeURIComponent(url)).not.toContain(form);
    const checks = url === "/checkKey";
    expect(body.includes("k3y")).toBe(checks);
    const carriers = rawHeaders.filter((_, index) => rawHeaders[index]!.includes("k3y"));
    expect(carriers.length).toBe(checks ? 0 : 1);
    expect(rawHeaders.some((name) => name.toLowerCase() === keyHeader)).toBe(!checks);
  }
});

Deno.test("errors show no key that the service echoes", async () => {
  const escaped = [...apiKey]
    .map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
  const bodies = [
    JSON.stringify({ error: apiKey, [apiKey]: [{ nested: `Bad key ${apiKey}!` }] }),
    JSON.stringify(apiKey),
    `{"${escaped}":["${escaped}"]}`,
    `<h1>Bad key ${apiKey}</h1>`,
    `{"error":${JSON.stringify(apiKey)}`, // cut off
    JSON.stringify({ error: apiKey, filler: "x".repeat(2 ** 17) }), // too long to be parsed
  ];
  await using server = await serve(({ url }, response, count) => {
    response.statusCode = Number(url.slice(1));
    response.setHeader("www-authenticate", `Key realm="${apiKey}"`);
    response.setHeader("location", `https://other.example/?key=${encodeURIComponent(apiKey)}`);
    response.setHeader("x-raw", apiKey);
    response.end(bodies[count % bodies.length]);
  });
  const events: RetryEvent[] = [];
  const onRetry = (event: RetryEvent) => void events.push(event);
  const options = { baseUrl: server.url, apiKey, retries: 1, onRetry };
  const client = createClientWith(options, createClock());
  for (const _body of bodies) {
    const error = await keylessFailure(HttpError, client.call("POST", "401"));
    expect(error.headers.get("x-raw")).toBe("[redacted]");
    const { location } = await keylessFailure(RedirectError, client.call("GET", "307"));
    expect(location).toBe("https://other.example/?key=[redacted]");
    await keylessFailure(HttpError, client.call("GET", "503"));
  }
  expect(events.length).toBe(bodies.length);
  expectNoKey(events);
});

Deno.test("HttpError keeps what the service says in addition to the key", async () => {
  await using server = await serve((_, response) =>
    json(response, { error: `Unknown key ${apiKey}`, code: 7, list: [apiKey] }, 401)
  );
  const client = createClient({ baseUrl: server.url, apiKey });
  for (const call of [client.call("GET", "report"), client.checkKey(apiKey)]) {
    const { body } = await failure(HttpError, call);
    expect(body).toEqual({ error: "Unknown key [redacted]", code: 7, list: ["[redacted]"] });
  }
});

const escape = (text: string) =>
  text.replaceAll(/[^]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
const lowerCase = (text: string) => text.replaceAll(/%../g, (code) => code.toLowerCase());

const form = (text: string) => `${new URLSearchParams({ text })}`.slice("text=".length);

/** How a service may write a key that it sends back. */
const echoes: Record<string, (key: string) => string> = {
  "as it is": (key) => key,
  "percent-encoded": encodeURIComponent,
  "percent-encoded in lower case": (key) => lowerCase(encodeURIComponent(key)),
  "percent-encoded as part of a URL": encodeURI,
  "percent-encoded in all characters": (key) =>
    [...new TextEncoder().encode(key)].map((byte) => `%${byte.toString(16)}`).join(""),
  "as a form writes it": form,
  "as a form writes it in lower case": (key) => lowerCase(form(key)),
  "as JSON writes it": (key) => JSON.stringify(key).slice(1, -1),
  "as JSON with escaped slashes": (key) => JSON.stringify(key).slice(1, -1).replaceAll("/", "\\/"),
  "with JSON's escapes": escape,
  "with JSON's escapes in upper case": (key) => escape(key).toUpperCase().replaceAll("U", "u"),
  "with every other character escaped": (key) =>
    [...key].map((character, index) => index % 2 ? character : escape(character)).join(""),
};

for (const [kind, write] of Object.entries(echoes)) {
  Deno.test(`HttpError shows no key that the service sends back ${kind}`, async () => {
    const filler = "x".repeat(2 ** 17);
    for (
      const key of [apiKey, "k3y ~with/space (1)*'!", "k3y-größe~é", "k3y" + "z".repeat(2_000)]
    ) {
      const echo = write(key);
      const bodies = [
        `<h1>Bad ${echo}!`,
        `<h1>Bad ${echo}!${filler}`,
        `{"error":"Bad ${echo}!","filler":"${filler}"}`, // too long to be parsed
        `${filler.slice(0, 2 ** 16 - 5)}${echo}`, // cut in the middle of the key
      ];
      for (const text of bodies) {
        const fetch = () => Promise.resolve(new Response(text, { status: 400 }));
        const client = createClient({ baseUrl, apiKey: key, fetch });
        const { body } = await failure(HttpError, client.call("GET", "report"));
        const start = text.slice(0, text.indexOf(echo));
        expect((body as string).startsWith(start)).toBe(true);
        const rest = (body as string).slice(start.length, start.length + "[redacted]".length);
        if (start.length < 2 ** 15) expect(rest).toBe("[redacted]");
        else expect("[redacted]").toContain(rest);
      }
    }
  });
}

Deno.test("HttpError replaces a short key once, and only in text", async () => {
  const cases: [key: string, body: string, expected: unknown][] = [
    ["red", "bad key red", "bad key [redacted]"],
    ["red", '{"error":"bad key red","red":"red"}', {
      error: "bad key [redacted]",
      "[redacted]": "[redacted]",
    }],
    ["red", '{"error":"redacted', '{"error":"[redacted]acted'],
    ["400", '{"code":400,"text":"400"}', { code: 400, text: "[redacted]" }],
    ["400", "400", 400],
    ["null", '[null,"null"]', [null, "[redacted]"]],
    ["a", '{"a":["banana"]}', { "[redacted]": ["b[redacted]n[redacted]n[redacted]"] }],
    ['"', '{"a":1}', { a: 1 }],
    ["[redacted]", '["[redacted]"]', ["[redacted]"]],
  ];
  for (const [key, text, expected] of cases) {
    const fetch = () => Promise.resolve(new Response(text, { status: 400 }));
    const client = createClient({ baseUrl, apiKey: key, fetch });
    const { body } = await failure(HttpError, client.call("GET", "report"));
    expect(body).toEqual(expected);
  }
});

Deno.test("HttpError has the same type of body for any key", async () => {
  const deep = "[".repeat(32_000) + "]".repeat(32_000);
  const bodies = ['{"code":400,"credits":1e2,"400":"bad key 400"}', deep];
  await using server = await serve(({ url }, response) => {
    response.writeHead(400).end(bodies[Number(url.slice(1))]);
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey: "400" });
  const error = await failure(HttpError, client.call("GET", "0"));
  expect(error.body).toEqual({ code: 400, credits: 100, "[redacted]": "bad key [redacted]" });
  await failure(HttpError, client.call("GET", "1")); // runtimes differ in how deep they parse
  expect((await client.GET("/1")).response.status).toBe(400);
});

Deno.test("InvalidResponseError shows no key that the service echoes", async () => {
  const bodies = [
    `<h1>${apiKey}</h1>`,
    JSON.stringify(apiKey),
    JSON.stringify({ apiKeyValid: apiKey, [apiKey]: apiKey }),
    JSON.stringify({ apiKeyValid: true, data: { [apiKey]: 1 } }),
    JSON.stringify({ apiKeyValid: true, data: { credits: apiKey } }),
    JSON.stringify(apiKey.repeat(1_000)),
  ];
  await using server = await serve((_, response, count) =>
    void response.end(bodies[(count - 1) % bodies.length])
  );
  const client = createClient({ baseUrl: server.url, apiKey, maxResponseBytes: 10_000 });
  for (const _ of bodies) await keylessFailure(InvalidResponseError, client.checkKey());
  for (const _ of bodies) {
    const call = client.POST("/checkKey", { body: { apiKey } });
    await keylessFailure(InvalidResponseError, call);
  }
});

Deno.test("NetworkError shows no key when the connection fails or the response is not HTTP", async () => {
  await using server = await serveBytes((socket, count) => {
    if (count % 3 === 0) return void socket.destroy();
    if (count % 3 === 1) return void socket.end(`HTTP/1.1 200 OK\r\n${apiKey}\r\n\r\n`);
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n${apiKey}`);
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  for (let round = 0; round < 3; round++) {
    for (const call of calls(client)) await keylessFailure(NetworkError, call());
  }
});

/** What a custom fetch may throw that quotes the key. */
const quotingFetches: [string, (request: Request, text: string) => unknown][] = [
  ["in its message", (_, text) => new Error(`Cannot send ${text}`)],
  ["in its cause", (_, text) => new Error("no", { cause: new Error("no", { cause: text }) })],
  ["among its errors", (_, text) => new AggregateError([new Error(text)])],
  ["as a DOMException", (_, text) => new DOMException(text, "NetworkError")],
  ["in fields", (request, text) =>
    Object.assign(new Error("no"), {
      [text]: [{ text }, new Map([[text, text]]), Object.assign(() => {}, { text })],
      request,
      headers: request.headers,
    })],
  ["in its code", (_, text) => Object.assign(new Error("no"), { code: text })],
  ["in an object as its code", (_, text) => Object.assign(new Error("no"), { code: { text } })],
  ["in its name", (_, text) => Object.assign(new Error("no"), { name: text })],
  ["in a hidden field", (_, text) => Object.defineProperty(new Error("no"), "a", { value: text })],
  ["in an inherited field", (_, text) => Object.create(new Error(text))],
  ["in a getter", (_, text) =>
    new class extends Error {
      override get message() {
        return text;
      }
    }()],
  ["in a getter that its stack does not repeat", (_, text) =>
    new class extends Error {
      override stack = "";
      override get message() {
        return text;
      }
    }()],
  ["in a getter that throws", (_, text) => ({
    text,
    get message() {
      throw new Error(text);
    },
  })],
  ["as a string", (_, text) => text],
  ["as JSON", (_, text) => new Error(JSON.stringify({ text }))],
  ["as a URL", (_, text) => new Error(`https://a.example/?key=${encodeURIComponent(text)}`)],
  ["as the request itself", (request) => request],
];

for (const [place, quote] of quotingFetches) {
  Deno.test(`NetworkError shows no key that a fetch quotes ${place}`, async () => {
    const fetch = async (request: Request) => {
      const sent = await request.clone().text();
      const key = request.headers.get(keyHeader) ?? JSON.parse(sent).apiKey;
      throw quote(request, key);
    };
    const events: RetryEvent[] = [];
    const client = createClient<AnyPath>({
      baseUrl,
      apiKey,
      fetch,
      retries: 0,
      onRetry: (event) => void events.push(event),
    });
    for (const call of calls(client)) {
      const error = await keylessFailure(NetworkError, call());
      expect(error.cause).toBeInstanceOf(Error);
    }
    expectNoKey(events);
  });

  Deno.test(`NetworkError shows no key that a body quotes ${place}`, async () => {
    const fetch = (request: Request) => {
      const body = new ReadableStream({
        pull() {
          throw quote(request, apiKey);
        },
      });
      return Promise.resolve(new Response(body));
    };
    const client = createClient<AnyPath>({
      baseUrl,
      apiKey,
      fetch,
      retries: 0,
    });
    for (const call of calls(client)) await keylessFailure(NetworkError, call());
  });
}

Deno.test("NetworkError says the reason of the innermost cause that has a message", async () => {
  const causes: [unknown, { message: string; code?: string }][] = [
    // as Mock Service Worker reports Response.error()
    [new TypeError("Failed to fetch", { cause: Response.error() }), { message: "Failed to fetch" }],
    [new Error("outer", { cause: new Error("", { cause: {} }) }), { message: "outer" }],
    [new Error("outer", { cause: { message: {}, code: [] } }), { message: "outer" }],
    [new Error("outer", { cause: { message: "", code: 7 } }), { message: "7" }],
    [new Error("outer", { cause: "inner" }), { message: "inner" }],
    ["a string", { message: "a string" }],
    [undefined, { message: "unknown reason" }],
    [{}, { message: "unknown reason" }],
    [[], { message: "unknown reason" }],
    [Response.error(), { message: "unknown reason" }],
    [new Error("", { cause: new Request(baseUrl) }), { message: "unknown reason" }],
    [Object.create(null), { message: "unknown reason" }],
  ];
  for (const [cause, expected] of causes) {
    const fetch = () => Promise.reject(cause);
    const client = createClient({ baseUrl, apiKey, fetch, retries: 0 });
    const error = await failure(NetworkError, client.call("GET", "report"));
    expect(error.message).toBe(`"GET /report" got no response: ${expected.message}`);
    expect(error.cause).toBeInstanceOf(Error);
    const { message, code } = error.cause as Error & { code?: string };
    expect({ message, ...code && { code } }).toEqual(expected);
  }
});

Deno.test("middleware sees the key neither in requests nor in responses", async () => {
  await using server = await serve((_, response) => json(response, []));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const seen: unknown[] = [];
  client.use({
    onRequest: ({ request, options, params }) => void seen.push(request, options, params),
    onResponse: ({ request, response }) => void seen.push(request, response),
  });
  const headers = { [keyHeader]: apiKey }; // which is not sent
  await client.call("GET", "report", { headers });
  await client.GET("/report", { headers });
  expect(seen.length).toBe(10);
  expectNoKey(seen);
  for (const value of seen) {
    if (value instanceof Request) expect(value.headers.has(keyHeader)).toBe(false);
  }
  expect(server.requests.map(({ headers }) => headers[keyHeader])).toEqual([apiKey, apiKey]);
});

Deno.test("only the client sets the header of the key", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const headers = { [keyHeader]: "stray", [keyHeader.toUpperCase()]: "stray" };
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, headers });
  client.use({
    onRequest({ request }) {
      request.headers.set(keyHeader, "stray");
      return request;
    },
  });
  await client.call("GET", "report", { headers });
  await client.GET("/report", { headers, params: { header: headers } });
  await client.checkKey();
  const sent = server.requests.map(({ headers }) => headers[keyHeader]);
  expect(sent).toEqual([apiKey, apiKey, undefined]);
});
