import { expect } from "@std/expect";
import { inspect } from "node:util";

import {
  ConfigurationError,
  createClient,
  HttpError,
  InvalidResponseError,
  NetworkError,
  RedirectError,
  type RetryEvent,
  type ScamAddressClient,
  type ScamAddressError,
} from "../mod.ts";
import { caught, shown, withoutBackOff } from "./outcome.ts";
import { type AnyPath, json, serve, serveBytes, validKey } from "./server.ts";

/** Holds all that changes on the way through URLs, JSON, HTML and regular expressions. */
const apiKey = `k3y-"of"-\\the/+client+%$&<1>`;

/** The key as it is, and as URLs, JSON and inspect() write it. */
const forms = [
  apiKey,
  encodeURIComponent(apiKey),
  JSON.stringify(apiKey).slice(1, -1),
  inspect(apiKey).slice(1, -1),
];

/** Asserts that whoever logs a value logs no key. */
function expectNoKey(value: unknown): void {
  const text = shown(value);
  expect(forms.filter((form) => text.includes(form))).toEqual([]);
}

/** Asserts the class of what a call rejects with, and that it shows no key. */
async function expectRejection(
  errorClass: new (...args: never[]) => unknown,
  call: Promise<unknown>,
): Promise<ScamAddressError> {
  const error = await caught(call);
  expectNoKey(error);
  expect(error).toBeInstanceOf(errorClass);
  return error as ScamAddressError;
}

/** The ways to send the key: in the header and in the body. */
function calls(client: ScamAddressClient<AnyPath>): (() => Promise<unknown>)[] {
  return [
    () => client.call("GET", "report"),
    () => client.call("POST", "report", { body: {} }),
    () => client.checkKey(),
    () => client.GET("/report"),
    () => client.POST("/checkKey", { body: { apiKey } } as never),
  ];
}

Deno.test("shown() finds a key wherever an error could hold it", () => {
  class Getter extends Error {
    override get message() {
      return apiKey;
    }
  }
  const places = [
    new Error(apiKey),
    new Error("", { cause: new Error("", { cause: apiKey }) }),
    new AggregateError([new Error(apiKey)]),
    Object.assign(new Error(), { [Symbol("request")]: { headers: [["x-api-key", apiKey]] } }),
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
  const client = createClient({ baseUrl: "https://service.example", apiKey });
  expectNoKey(client);
  expectNoKey(Object.entries(client));
  expect(JSON.stringify(client)).not.toContain("k3y");
  expect(inspect(client, { showHidden: true, depth: 8, showProxy: true })).not.toContain("k3y");
});

Deno.test("the key travels in its header, or in the body of checkKey(), and nowhere else", async () => {
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
    expect(rawHeaders.some((name) => /^x-api-key$/i.test(name))).toBe(!checks);
  }
});

Deno.test("errors show no key that the service echoes", async () => {
  using _ = withoutBackOff();
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
  const client = createClient({
    baseUrl: server.url,
    apiKey,
    retries: 1,
    onRetry: (event) => void events.push(event),
  });
  for (const _body of bodies) {
    const error = await expectRejection(HttpError, client.call("POST", "401")) as HttpError;
    expect(error.headers.get("x-raw")).toBe("[redacted]");
    await expectRejection(RedirectError, client.call("GET", "307"));
    await expectRejection(HttpError, client.call("GET", "503"));
  }
  expect(events.length).toBe(bodies.length);
  expectNoKey(events);
});

Deno.test("HttpError keeps what the service says besides the key", async () => {
  await using server = await serve((_, response) =>
    json(response, { error: `Unknown key ${apiKey}`, code: 7, list: [apiKey] }, 401)
  );
  const client = createClient({ baseUrl: server.url, apiKey });
  for (const call of [client.call("GET", "report"), client.checkKey(apiKey)]) {
    const { body } = await caught(call) as HttpError;
    expect(body).toEqual({ error: "Unknown key [redacted]", code: 7, list: ["[redacted]"] });
  }
});

Deno.test("HttpError keeps the text where JSON cannot be rewritten without the key", async () => {
  const deep = "[".repeat(32_000) + "]".repeat(32_000);
  const bodies = ['{"credits":1e2}', deep];
  await using server = await serve(({ url }, response) => {
    response.writeHead(400).end(bodies[Number(url.slice(1))]);
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey: "100" });
  const error = await caught(client.call("GET", "0")) as HttpError;
  expect(error).toBeInstanceOf(HttpError);
  expect(error.body).toBe(bodies[0]);
  expect((await client.GET("/0")).error).toEqual({ credits: 100 });
  expect(await caught(client.call("GET", "1"))).toBeInstanceOf(HttpError); // runtimes differ in depth
  expect((await client.GET("/1")).response.status).toBe(400);
});

Deno.test("RedirectError shows no key that the location holds, encoded or not", async () => {
  const locations: [string, string][] = [
    [apiKey, encodeURIComponent(apiKey)],
    ["plain-key", "plain-key"],
  ];
  for (const [apiKey, text] of locations) {
    await using server = await serve((_, response) =>
      void response.writeHead(302, { location: `https://other.example/?key=${text}&a=1` }).end()
    );
    const client = createClient({ baseUrl: server.url, apiKey });
    const error = await caught(client.call("GET", "report")) as RedirectError;
    expect(error.location).toBe("https://other.example/?key=[redacted]&a=1");
    expect(shown(error)).not.toContain(text);
  }
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
  for (const _ of bodies) await expectRejection(InvalidResponseError, client.checkKey());
  for (const _ of bodies) {
    const call = client.POST("/checkKey", { body: { apiKey } });
    await expectRejection(InvalidResponseError, call);
  }
});

Deno.test("NetworkError shows no key when the connection fails or talks nonsense", async () => {
  await using server = await serveBytes((socket, count) => {
    if (count % 3 === 0) return void socket.destroy();
    if (count % 3 === 1) return void socket.end(`HTTP/1.1 200 OK\r\n${apiKey}\r\n\r\n`);
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n${apiKey}`);
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  for (let round = 0; round < 3; round++) {
    for (const call of calls(client)) await expectRejection(NetworkError, call());
  }
});

/** What a fetch of the caller's own may throw, given all that it knows. */
const quotingFetches: [string, (request: Request, text: string) => unknown][] = [
  ["in its message", (_, text) => new Error(`Cannot send ${text}`)],
  ["in its cause", (_, text) => new Error("no", { cause: new Error("no", { cause: text }) })],
  ["among its errors", (_, text) => new AggregateError([new Error(text)])],
  ["as a DOMException", (_, text) => new DOMException(text, "NetworkError")],
  ["in a field", (_, text) => Object.assign(new Error("no"), { config: { a: [{ b: text }] } })],
  ["in the name of a field", (_, text) => Object.assign(new Error("no"), { [text]: 1 })],
  ["in its code", (_, text) => Object.assign(new Error("no"), { code: text })],
  ["in an object as its code", (_, text) => Object.assign(new Error("no"), { code: { text } })],
  ["in its name", (_, text) => Object.assign(new Error("no"), { name: text })],
  ["in a hidden field", (_, text) => Object.defineProperty(new Error("no"), "a", { value: text })],
  ["in a request", (request) => Object.assign(new Error("no"), { request })],
  ["in headers", (request) => Object.assign(new Error("no"), { headers: request.headers })],
  ["in a map", (_, text) => Object.assign(new Error("no"), { map: new Map([[text, text]]) })],
  [
    "in a function",
    (_, text) => Object.assign(new Error("no"), { f: Object.assign(() => {}, { text }) }),
  ],
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
      const key = request.headers.get("x-api-key") ?? JSON.parse(sent).apiKey;
      throw quote(request, key);
    };
    const events: RetryEvent[] = [];
    const client = createClient<AnyPath>({
      baseUrl: "https://service.example",
      apiKey,
      fetch,
      retries: 0,
      onRetry: (event) => void events.push(event),
    });
    for (const call of calls(client)) {
      const error = await expectRejection(NetworkError, call());
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
      baseUrl: "https://service.example",
      apiKey,
      fetch,
      retries: 0,
    });
    for (const call of calls(client)) await expectRejection(NetworkError, call());
  });
}

Deno.test("NetworkError says why, by the message and the code of the innermost cause", async () => {
  const causes: [unknown, { message: string; code?: string }][] = [
    [Object.assign(new RangeError(`No ${apiKey}!`), { code: "ECONNRESET" }), {
      message: "No [redacted]!",
      code: "ECONNRESET",
    }],
    [new TypeError("fetch failed", { cause: new Error("certificate has expired") }), {
      message: "certificate has expired",
    }],
    [new TypeError("", { cause: new AggregateError([new Error("connect ECONNREFUSED")]) }), {
      message: "connect ECONNREFUSED",
    }],
    [Object.assign(new Error(""), { code: "ENOTFOUND" }), {
      message: "ENOTFOUND",
      code: "ENOTFOUND",
    }],
    ["a string", { message: "a string" }],
    [undefined, { message: "unknown reason" }],
  ];
  for (const [cause, expected] of causes) {
    const fetch = () => Promise.reject(cause);
    const client = createClient({ baseUrl: "https://service.example", apiKey, fetch, retries: 0 });
    const error = await caught(client.call("GET", "report")) as NetworkError;
    expect(error.message).toBe(`"GET /report" got no response: ${expected.message}`);
    expect(error.cause).toBeInstanceOf(Error);
    const { message, code } = error.cause as Error & { code?: string };
    expect({ message, ...code && { code } }).toEqual(expected);
  }
});

// Keys that no header can carry

Deno.test("ConfigurationError does not quote a key that no header can carry", async () => {
  const keys = [
    "k3y\n",
    "k3y\u20ac",
    "k3y\0",
    " k3y",
    "k3y ",
    "k3y\r\nX: y",
    "k3y\x7f",
    "k3y😀",
    "",
    7,
  ];
  const fetch = () => Promise.reject(new Error("Nothing must be sent"));
  for (const key of keys as string[]) {
    let thrown: unknown;
    try {
      createClient({ baseUrl: "https://service.example", apiKey: key });
    } catch (error) {
      thrown = error;
    }
    const client = createClient({ baseUrl: "https://service.example", apiKey: () => key, fetch });
    const errors = [
      thrown,
      await caught(client.checkKey()),
      await caught(client.checkKey(key)),
      await caught(client.call("GET", "report")),
    ];
    for (const error of errors) {
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(shown(error)).not.toContain("k3y");
    }
  }
});

Deno.test("POST() sends whatever JSON holds as the key to check", async () => {
  const sent: unknown[] = [];
  const fetch = async (request: Request) => {
    sent.push((await request.json()).apiKey);
    return Response.json({ code: 7 }, { status: 400 });
  };
  const client = createClient({ baseUrl: "https://service.example", fetch });
  const keys = ["", "\ud800", "\udc00k", "€", " \n", null, 7, ["a"], { a: null }];
  for (const apiKey of keys) {
    const { error } = await client.POST("/checkKey", { body: { apiKey: apiKey as string } });
    expect(error).toEqual({ code: 7 });
  }
  expect(sent).toEqual(keys);
});

Deno.test("a function for the key that fails or gives junk is a ConfigurationError", async () => {
  const boom = new Error("The vault is shut");
  const functions: [() => unknown, unknown][] = [
    [() => {
      throw boom;
    }, boom],
    [() => Promise.reject(boom), boom],
    [() => undefined, undefined],
    [() => Promise.resolve(7), undefined],
    [() => "", undefined],
    [() => ({ toString: () => apiKey }), undefined],
  ];
  const fetch = () => Promise.reject(new Error("Nothing must be sent"));
  for (const [apiKey, cause] of functions) {
    const client = createClient<AnyPath>({
      baseUrl: "https://service.example",
      apiKey: apiKey as () => string,
      fetch,
    });
    for (const call of calls(client).slice(0, 4)) {
      const error = await caught(call()) as ConfigurationError;
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error.cause).toBe(cause);
    }
  }
});

// Other origins

Deno.test("methods refuse a baseUrl of a single call that is at another origin", async () => {
  await using other = await serve((_, response) => json(response, validKey));
  await using server = await serve((_, response) => json(response, validKey));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const { port } = new URL(server.url);
  const elsewhere = [
    other.url,
    other.url.slice(0, -1),
    `http://localhost:${port}/`,
    `https://127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}0/`,
    `http://127.0.0.1:${port}@${new URL(other.url).host}/`,
    `http://127.0.0.1:${port}\\@${new URL(other.url).host}/`,
    `//${new URL(other.url).host}/`,
    `data:application/json,{"apiKeyValid":false}#`,
    "ftp://127.0.0.1/",
  ];
  for (const baseUrl of elsewhere) {
    for (const middleware of [[], [{ onRequest() {} }]]) {
      const get = client.GET("/report", { baseUrl, middleware } as never);
      await expectRejection(ConfigurationError, get);
      const post = client.POST("/checkKey", { baseUrl, middleware, body: { apiKey } } as never);
      await expectRejection(ConfigurationError, post);
    }
  }
  expect(other.requests).toEqual([]);
  expect(server.requests).toEqual([]);
  await client.GET("/report", { baseUrl: `${server.url}v2/` } as never);
  expect(server.requests[0]!.url).toBe("/v2/report");
});

Deno.test("methods refuse a path that leads to another origin", async () => {
  await using other = await serve((_, response) => json(response, validKey));
  await using server = await serve((_, response) => json(response, validKey));
  const { host } = new URL(other.url);
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const paths = [`@${host}/`, `.${host}/`, `:1@${host}/`, `0/`, `\\\\${host}/`, `/\\${host}/`];
  for (const path of paths) {
    await expectRejection(ConfigurationError, client.GET(path));
    await expectRejection(ConfigurationError, client.call("GET", path.replace(/^[^/\\]/, "//$&")));
  }
  await client.GET(`//${host}/`);
  await expectRejection(ConfigurationError, client.GET(`http://${host}/`));
  expect(other.requests).toEqual([]);
});

Deno.test("methods refuse a request that middleware sends to another origin", async () => {
  await using other = await serve((_, response) => json(response, validKey));
  await using server = await serve((_, response) => json(response, validKey));
  for (const url of [other.url, server.url.replace("127.0.0.1", "localhost")]) {
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    client.use({ onRequest: ({ request }) => new Request(url, request) });
    for (const call of calls(client)) await expectRejection(ConfigurationError, call());
  }
  expect(other.requests).toEqual([]);
  expect(server.requests).toEqual([]);
});

Deno.test("middleware sees the key neither in requests nor in answers", async () => {
  await using server = await serve((_, response) => json(response, []));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const seen: unknown[] = [];
  client.use({
    onRequest: ({ request, options, params }) => void seen.push(request, options, params),
    onResponse: ({ request, response }) => void seen.push(request, response),
  });
  await client.call("GET", "report");
  await client.GET("/report");
  expect(seen.length).toBe(10);
  expectNoKey(seen);
  for (const value of seen) {
    if (value instanceof Request) expect(value.headers.has("x-api-key")).toBe(false);
  }
  expect(server.requests.map(({ headers }) => headers["x-api-key"])).toEqual([apiKey, apiKey]);
});

Deno.test("nobody but the client sets the header of the key", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const headers = { "X-API-Key": "stray", "x-api-KEY": "stray" };
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, headers });
  client.use({
    onRequest({ request }) {
      request.headers.set("x-api-key", "stray");
      return request;
    },
  });
  await client.call("GET", "report", { headers });
  await client.GET("/report", { headers, params: { header: headers } } as never);
  await client.checkKey();
  const sent = server.requests.map(({ headers }) => headers["x-api-key"]);
  expect(sent).toEqual([apiKey, apiKey, undefined]);
});

Deno.test("createClient() refuses plain http to hosts other than this machine", () => {
  const create = (baseUrl: string, allowInsecureHttp?: boolean) => () =>
    createClient({ baseUrl, apiKey, allowInsecureHttp });
  const others = [
    "http://service.example",
    "http://localhost.example",
    "http://127.0.0.1.example",
    "http://127.evil.example",
    "http://128.0.0.1",
    "http://0.0.0.0",
    "http://10.0.0.1",
    "http://[::]",
    "http://[fe80::1]",
    "http://[::ffff:8.8.8.8]",
    "http://sub.localhost.example",
    "HTTP://SERVICE.EXAMPLE",
  ];
  for (const baseUrl of others) {
    expect(create(baseUrl)).toThrow(ConfigurationError);
    expect(create(baseUrl, false)).toThrow(/"baseUrl" .*"allowInsecureHttp"/);
    create(baseUrl, true)();
  }
  const own = [
    "http://localhost:1",
    "http://LOCALHOST",
    "http://127.0.0.1",
    "http://127.9.9.9",
    "http://[::1]:1",
    "http://127.1",
  ];
  for (const baseUrl of [...own, "https://service.example"]) create(baseUrl)();
  for (
    const baseUrl of ["ftp://127.0.0.1", "ws://localhost", "file:///", "data:,", "blob:https://a"]
  ) {
    expect(create(baseUrl, true)).toThrow(ConfigurationError);
  }
  for (
    const baseUrl of ["https://u:p@service.example", "https://a/?k", "https://a/#f", "https://a/?"]
  ) {
    expect(create(baseUrl, true)).toThrow(ConfigurationError);
  }
});
