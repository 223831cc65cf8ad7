// What may be sent again is sent again, as often and when the options and the service say; all else is
// sent once.
import { expect } from "@std/expect";

import {
  type CallOptions,
  type ClientOptions,
  HttpError,
  type Method,
  type Middleware,
  NetworkError,
  type RetryEvent,
  type ScamAddressClient,
  ScamAddressError,
} from "../mod.ts";
import {
  apiKey,
  bothWays,
  callEveryWay,
  checkKeyPath,
  clientAt,
  clientOf,
  keyHeader,
  replaceFetch,
  undocumented,
} from "./support/client.ts";
import { readRetryAfter, retryDelay } from "./support/internals.ts";
import { caught, rejection } from "./support/rejection.ts";
import { type AnyPath, json, type Responder, serve } from "./support/server.ts";
import { replaceWaiting } from "./support/waiting.ts";

type Call = (client: ScamAddressClient<AnyPath>) => Promise<unknown>;

/** Responds with one fault after the other, the last of them repeatedly. */
function failing(faults: string): Responder {
  const list = faults.split(";");
  return (_, response, count) => {
    const [fault, wait] = list[Math.min(count, list.length) - 1]!.split("/");
    if (fault === "hang") return;
    if (fault === "reset") return void response.socket!.destroy();
    response.setHeader("connection", "close");
    if (fault === "cut") {
      response.writeHead(200, { "content-length": "100" });
      return void response.write("[1,", () => setTimeout(() => response.socket!.destroy(), 5));
    }
    response.writeHead(Number(fault), { ...wait && { "retry-after": wait } }).end();
  };
}

/** Calls a server that responds with faults; resolves to what happened. */
async function callFaultyServer(faults: string, call: Call, options: Partial<ClientOptions> = {}) {
  await using server = await serve(failing(faults));
  using waiting = replaceWaiting();
  const { delays } = waiting;
  const events: RetryEvent[] = [];
  const onRetry = (event: RetryEvent) => void events.push(event);
  const client = clientAt(server, { onRetry, ...options });
  const { code } = await rejection(ScamAddressError, call(client));
  expect(events.map(({ attempt, delay }) => [attempt, delay]))
    .toEqual(delays.map((delay, index) => [index + 1, delay]));
  const codes = [...events.map(({ error }) => error.code), code];
  return { codes, delays, sent: server.requests.length };
}

// Which attempts are repeated

const callOf = (method: Method, idempotent?: boolean): Call => (client) =>
  client.call(method, undocumented, { idempotent });

/** Calls that may be sent again after any temporary failure, and calls that may not. */
const calls: [mayRepeat: boolean, name: string, call: Call][] = [
  [true, "checkKey", (client) => client.checkOwnKey()],
  [true, "POST with idempotent: true", callOf("POST", true)],
  [false, "GET with idempotent: false", callOf("GET", false)],
  [false, "POST", callOf("POST")],
  [false, "PATCH", callOf("PATCH")],
];
for (const method of ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"] as const) {
  calls.push([true, method, callOf(method)]);
}

for (const [mayRepeat, name, call] of calls) {
  Deno.test(`${name} is sent again after ${mayRepeat ? "any temporary failure" : "429 only"}`, async () => {
    const sentTo = async (fault: string) =>
      (await callFaultyServer(fault, call, { retries: 1 })).sent;
    expect([await sentTo("404"), await sentTo("429")]).toEqual([1, 2]);
    for (const fault of name === "HEAD" ? ["503", "reset"] : ["503", "reset", "cut"]) {
      expect([fault, await sentTo(fault)]).toEqual([fault, mayRepeat ? 2 : 1]);
    }
    const late = await callFaultyServer("hang", call, { timeout: 10, retries: 1 }); // It may be too short to send.
    expect(late.codes).toEqual(Array(mayRepeat ? 2 : 1).fill("timeout"));
  });
}

Deno.test("call() retries twice by default, and obeys Retry-After", async () => {
  const cases: [Call, string, Partial<ClientOptions>, Record<string, unknown>][] = [
    [callOf("GET"), "503;reset;cut;429/3;404", { retries: 5 }, {
      codes: ["http", "network", "network", "http", "http"],
      delays: [250, 500, 1_000, 3_375],
    }],
    [callOf("POST"), "429;503", {}, { codes: ["http", "http"] }],
    [callOf("GET"), "503", { retries: 0 }, { sent: 1 }],
    [callOf("GET"), "503/7", {}, { delays: [7_875, 7_875] }],
    [callOf("GET"), "429/61", {}, { delays: [] }],
    [callOf("GET"), "503/soon", {}, { delays: [250, 500] }],
  ];
  for (const [call, faults, options, expected] of cases) {
    expect(await callFaultyServer(faults, call, options)).toMatchObject(expected);
  }
});

/** Starts a server that is not available. */
const serveUnavailable = () => serve((_, response) => void response.writeHead(503).end());

Deno.test("typed methods obey idempotent, above all other rules, and retries", async () => {
  using _waiting = replaceWaiting();
  await using server = await serveUnavailable();
  const client = clientAt(server, { retries: 1 });
  for (const [idempotent, sent] of [[true, 2], [false, 1]] as const) {
    await client.POST(checkKeyPath, { body: { apiKey }, idempotent });
    await client.POST(`/${undocumented}`, { body: {}, idempotent });
    await client.GET(`/${undocumented}`, { idempotent });
    expect(server.requests.splice(0).length).toBe(3 * sent);
  }
  await Promise.allSettled(callEveryWay(client, { retries: 3 }));
  expect(server.requests.length).toBe(12);
});

Deno.test("a request with middleware's method is retried by its rule", async () => {
  // checkKey's POST may be repeated, because the document marks it as idempotent.
  const sent = { POST: [1, 2], PUT: [2, 2], PATCH: [1, 1] };
  using _waiting = replaceWaiting();
  for (const [method, [called, checked]] of Object.entries(sent)) {
    await using server = await serveUnavailable();
    const client = clientAt(server, { retries: 1 });
    client.use({ onRequest: ({ request: { url } }) => new Request(url, { method, body: "{}" }) });
    await caught(client.call("GET", undocumented));
    expect(server.requests.splice(0).map((request) => request.method))
      .toEqual(Array(called).fill(method));
    await caught(client.checkOwnKey());
    expect(server.requests.length).toBe(checked);
  }
});

Deno.test("what middleware sends again has retries of its own", async () => {
  const statuses = [503, 401, 503, 503];
  const events: number[] = [];
  const onRetry = ({ attempt }: RetryEvent) => void events.push(attempt);
  using _waiting = replaceWaiting();
  const respond = () => new Response("", { status: statuses.shift()! });
  const client = clientOf(respond, { onRetry, retries: 1 });
  client.use({
    onResponse: ({ request, response, options }) =>
      response.status === 401 ? options.fetch(request) : undefined,
  });
  await rejection(HttpError, client.call("GET", undocumented));
  expect([events, statuses]).toEqual([[1, 1], []]);
});

// What is sent again, and what is sent once

/** Replaces the navigator, which names the runtime, as long as the result is in use. */
function replaceNavigator(): Disposable {
  const own = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  const value = { userAgent: "Mozilla/5.0" };
  Object.defineProperty(globalThis, "navigator", { value, configurable: true });
  const restore = () => own && Object.defineProperty(globalThis, "navigator", own);
  return { [Symbol.dispose]: () => void restore() };
}

Deno.test("what may not be repeated is sent once, even if a kept connection breaks", async () => {
  await using server = await serve(({ url }, response) => {
    if (url === "/warm") json(response, 1);
    else response.socket!.destroy();
  });
  const keepalives: unknown[] = [];
  using _fetch = replaceFetch((fetch) => (input, init) => {
    keepalives.push(init?.keepalive);
    return fetch(input, init);
  });
  using _navigator = replaceNavigator(); // as DOM emulations do
  const custom = (request: Request) => fetch(request);
  const cases: [Method, CallOptions, Partial<ClientOptions>?][] = [
    ["POST", { body: { a: "é" } }],
    ["POST", {}],
    ["PUT", { body: {}, retries: 0 }],
    ["PUT", { body: {}, idempotent: false }],
    ["POST", { body: {} }, { fetch: custom }],
    ["POST", {}, { requestInitExt: { keepalive: true } }],
  ];
  for (const [method, init, options = {}] of cases) {
    const client = clientAt(server, options);
    await client.call("GET", "warm");
    await rejection(NetworkError, client.call(method, undocumented, init));
    expect(server.requests.splice(0).map(({ method }) => method)).toEqual(["GET", method]);
    // Bun repeats what HTTP calls idempotent unless it says `false`. It costs others a connection.
    const given = options.requestInitExt?.["keepalive"];
    expect(keepalives.splice(0)).toEqual([given, method === "PUT" ? false : given]);
  }
});

Deno.test("every attempt sends the same bytes, with the same key", async () => {
  const form = new FormData();
  form.set("file", new Blob(["some text"]), "file.txt");
  const replace: Middleware = {
    onRequest: ({ request }) => new Request(request, { body: new Blob(["some text"]) }),
  };
  const inits = [
    { body: { text: "some text größer als €100 😀", list: Array(10_000).fill(1) } },
    { body: {}, bodySerializer: () => form },
    { body: {}, bodySerializer: () => new Blob(["some text"]).stream() },
    { body: {}, middleware: [replace] },
  ];
  using _waiting = replaceWaiting();
  await using server = await serveUnavailable();
  for (const create of bothWays) {
    const client = create({ baseUrl: server.url, apiKey, retries: 1 });
    for (const init of inits) {
      await client.PUT(`/${undocumented}`, { ...init, params: { query: { a: [1, "ü"] } } });
      const [first, ...rest] = server.requests.splice(0);
      expect(rest).toEqual([first]);
      expect(first!.body).toContain("some text");
      expect(first!.headers[keyHeader]).toBe(apiKey);
    }
  }
});

Deno.test("bytes arrive as they are, whatever their type: not UTF-8, or with a byte-order mark", async () => {
  const bodies = [[0x7b, 0xff, 0xfe, 0x7d], [0xef, 0xbb, 0xbf, 0x7b, 0x7d]];
  const headers = [
    {}, // JSON by default
    { "content-encoding": "br" },
    { "content-type": 'multipart/related; type="application/json"' },
  ];
  const sent: number[][] = [];
  const client = clientOf(async (request) => {
    sent.push([...new Uint8Array(await request.arrayBuffer())]);
    return Response.json(1);
  });
  for (const bytes of bodies) {
    const init = { body: {}, bodySerializer: () => new Uint8Array(bytes) };
    for (const own of headers) await client.POST("/a", { ...init, headers: own });
    expect(sent.splice(0)).toEqual(headers.map(() => bytes));
  }
});

// The wait

Deno.test("call() awaits onRetry, and then waits for delays that are spread", async () => {
  const log: string[] = [];
  const delays: number[] = [];
  const client = clientOf(() => {
    log.push("sent");
    return new Response(null, { status: 503, headers: { "retry-after": "0.05" } });
  }, {
    retries: 1,
    async onRetry({ delay }) {
      delays.push(delay);
      await new Promise((resolve) => setTimeout(resolve));
      log.push("onRetry");
      setTimeout(() => log.push("waited"), delay); // The client's own timer starts later.
    },
  });
  await caught(client.call("GET", undocumented));
  expect(log).toEqual(["sent", "onRetry", "waited", "sent"]);
  for (let count = 0; count < 5; count++) await caught(client.call("GET", undocumented));
  expect(new Set(delays).size).toBeGreaterThan(1);
});

Deno.test("the error of onRetry keeps 64 KiB, also where the method resolves to all of it", async () => {
  using _waiting = replaceWaiting();
  const text = JSON.stringify("x".repeat(2 ** 17));
  const kept: unknown[] = [];
  const onRetry = ({ error }: RetryEvent) => void kept.push((error as HttpError).response.body);
  const client = clientOf(() => new Response(text, { status: 503 }), { retries: 1, onRetry });
  expect((await client.GET("/a")).error).toBe(JSON.parse(text));
  expect(kept).toEqual([text.slice(0, 2 ** 16)]);
});

// readRetryAfter() and retryDelay()

Deno.test("readRetryAfter() reads seconds and dates, and ignores the past and all else", () => {
  const values: [value: string, seconds: number | undefined][] = [
    ["0", 0],
    ["00120", 120],
    ["1.5", 1.5],
    ["5, 5", 5],
    ["5s", 5],
    ["Thu, 05 Nov 2026 08:49:37 GMT", undefined],
    ["", undefined],
    ["-1", undefined],
    ["Infinity", undefined],
  ];
  for (const [value, seconds] of values) {
    const headers = new Headers({ "retry-after": value });
    expect([value, readRetryAfter(headers)]).toEqual([value, seconds]);
  }
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  const seconds = readRetryAfter(new Headers({ "retry-after": inAMinute }))!;
  expect(Math.abs(seconds - 60)).toBeLessThan(30);
});

/** The error for a response. */
function httpError(status: number, retryAfter?: number) {
  const headers = new Headers(retryAfter === undefined ? {} : { "retry-after": `${retryAfter}` });
  return new HttpError("failed", { response: { status, headers, body: "" } });
}

Deno.test("retryDelay() spreads the delay, by back-off or as the service asks", () => {
  const delays = (attempt: number, retryAfter?: number) =>
    [0, 0.5, 0.9999].map((random) =>
      retryDelay(httpError(503, retryAfter).response, attempt, random, true)
    );
  const bounds = [500, 1_000, 2_000, 4_000, 8_000, 8_000];
  for (const [index, bound] of bounds.entries()) {
    expect(delays(index + 1)).toEqual([0, bound / 2, Math.round(bound * 0.9999)]);
  }
  expect(delays(1, 0)).toEqual([0, 0, 0]);
  expect(delays(1, 0.0001)).toEqual([1, 1, 1]); // The delay is in whole milliseconds.
  expect(delays(1, 1)).toEqual([1_000, 1_125, 1_250]); // It is up to a quarter more.
  expect(delays(1, 60)).toEqual([60_000, 67_500, 74_999]);
  expect(delays(1, 60.001)).toEqual([undefined, undefined, undefined]);
});

Deno.test("retryDelay() is undefined for a status whose error is not temporary", () => {
  const statuses = Array.from({ length: 300 }, (_, index) => index + 300);
  const temporary = statuses.filter((status) => httpError(status).isTemporary);
  const ofServer = statuses.filter((status) => status >= 500 && status !== 501);
  expect(temporary).toEqual([408, 429, ...ofServer]);
  const isRetried = (status: number) =>
    retryDelay(httpError(status).response, 1, 0.5, true) !== undefined;
  expect(statuses.filter(isRetried)).toEqual(temporary);
  expect(retryDelay(undefined, 1, 0.5, true)).toBe(250);
});
