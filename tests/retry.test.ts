// Promise 4: what is sent again may be sent again, as often and when the options and the service say.
import { expect } from "@std/expect";

import {
  type ClientOptions,
  ConfigurationError,
  createClient,
  HttpError,
  InvalidResponseError,
  type Method,
  type Middleware,
  NetworkError,
  RedirectError,
  type RetryEvent,
  type ScamAddressClient,
  ScamAddressError,
  TimeoutError,
} from "../mod.ts";
import { readRetryAfter, retryDelay } from "../src/retry.ts";
import {
  apiKey,
  bothWays,
  checkKeyPath,
  clientOf,
  keyHeader,
  replaceFetch,
  sendAll,
  undocumented,
} from "./support/client.ts";
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

/** Makes a call that meets faults; resolves to what happened. */
async function meet(
  faults: string,
  call: Call,
  options: Partial<ClientOptions> = {},
  create = bothWays[0]!,
) {
  await using server = await serve(failing(faults));
  using waiting = replaceWaiting();
  const { delays } = waiting;
  const events: RetryEvent[] = [];
  const onRetry = (event: RetryEvent) => void events.push(event);
  const client = create({ baseUrl: server.url, apiKey, onRetry, ...options });
  const { code } = await rejection(ScamAddressError, call(client));
  expect(events.map(({ attempt, delay }) => [attempt, delay]))
    .toEqual(delays.map((delay, index) => [index + 1, delay]));
  const codes = [...events.map(({ error }) => error.code), code];
  return { codes, delays, sent: server.requests.length };
}

// Which attempts are repeated

const callOf = (method: Method, idempotent?: boolean): Call => (client) =>
  client.call(method, undocumented, { idempotent });

const METHODS = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "POST", "PATCH"] as const;

/** Calls that may be sent again after any temporary failure, and calls that may not. */
const calls: [mayRepeat: boolean, name: string, call: Call][] = [
  ...METHODS.map((name): [boolean, string, Call] => [
    !["POST", "PATCH"].includes(name),
    name,
    callOf(name),
  ]),
  [true, "checkKey", (client) => client.checkOwnKey()],
  [true, "POST with idempotent: true", callOf("POST", true)],
  [false, "GET with idempotent: false", callOf("GET", false)],
];

for (const [mayRepeat, name, call] of calls) {
  Deno.test(`${name} is sent again after ${mayRepeat ? "any temporary failure" : "429 only"}`, async () => {
    const sentTo = async (fault: string) => (await meet(fault, call, { retries: 1 })).sent;
    expect([await sentTo("404"), await sentTo("429")]).toEqual([1, 2]);
    for (const fault of name === "HEAD" ? ["503", "reset"] : ["503", "reset", "cut"]) {
      expect([fault, await sentTo(fault)]).toEqual([fault, mayRepeat ? 2 : 1]);
    }
    const late = await meet("hang", call, { timeout: 10, retries: 1 }); // may be too short to send
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
  for (const create of bothWays) {
    for (const [call, faults, options, expected] of cases) {
      expect(await meet(faults, call, options, create)).toMatchObject(expected);
    }
  }
  const date = new Date(Date.now() + 30_000).toUTCString();
  for (const delay of (await meet(`503/${date}`, callOf("GET"))).delays) {
    expect(Number.isInteger(delay)).toBe(true);
    expect(delay).toBeGreaterThan(500); // the longest back-off in tests
    expect(delay).toBeLessThanOrEqual(33_750);
  }
});

/** A server that is not available, and a client. */
async function unavailable(options: Partial<ClientOptions> = {}, create = bothWays[0]!) {
  const server = await serve((_, response) => void response.writeHead(503).end());
  return { server, client: create({ baseUrl: server.url, apiKey, retries: 1, ...options }) };
}

Deno.test("typed methods obey idempotent, above all other rules, and retries", async () => {
  using _waiting = replaceWaiting();
  const { server, client } = await unavailable();
  await using _server = server;
  for (const [idempotent, sent] of [[true, 2], [false, 1]] as const) {
    await client.POST(checkKeyPath, { body: { apiKey }, idempotent });
    await client.POST(`/${undocumented}`, { body: {}, idempotent });
    await client.GET(`/${undocumented}`, { idempotent });
    expect(server.requests.splice(0).length).toBe(3 * sent);
  }
  await Promise.allSettled(sendAll(client, { retries: 3 }));
  expect(server.requests.length).toBe(12);
});

Deno.test("a request with middleware's method is retried by its rule", async () => {
  // checkKey's POST may be repeated, because the document marks it as idempotent.
  const sent = { POST: [1, 2], PUT: [2, 2], PATCH: [1, 1] };
  using _waiting = replaceWaiting();
  for (const [method, [called, checked]] of Object.entries(sent)) {
    const { server, client } = await unavailable();
    await using _server = server;
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
  await using server = await serve((_, response, count) => {
    response.writeHead(statuses[count - 1]!).end();
  });
  using _waiting = replaceWaiting();
  const client = createClient({ baseUrl: server.url, apiKey, onRetry, retries: 1 });
  client.use({
    onResponse: ({ request, response, options }) =>
      response.status === 401 ? options.fetch(request) : undefined,
  });
  await rejection(HttpError, client.call("GET", undocumented));
  expect([events, server.requests.length]).toEqual([[1, 1], 4]);
});

Deno.test("a request that never reached the service is sent again, whatever its method", async () => {
  using waiting = replaceWaiting();
  const closed = await serve(() => {});
  await closed[Symbol.asyncDispose]();
  for (const baseUrl of [closed.url, "https://host.invalid/"]) {
    for (const create of bothWays) {
      const client = create({ baseUrl, apiKey, retries: 1 });
      const { isTemporary, wasSent } = await rejection(NetworkError, callOf("POST")(client));
      // What a custom fetch has sent before it fails is not known.
      const isKnown = create === bothWays[0];
      expect([isTemporary, wasSent]).toEqual([true, !isKnown]);
      expect(waiting.delays.splice(0)).toEqual(isKnown ? [250] : []);
    }
  }
});

Deno.test("a POST is sent once if a custom fetch fails after the response", async () => {
  using _waiting = replaceWaiting();
  await using server = await serve((_, response) => json(response, 1));
  const closed = await serve(() => {});
  await closed[Symbol.asyncDispose]();
  const auditing = async (request: Request) => {
    const response = await fetch(request);
    await fetch(closed.url); // an audit log that is down
    return response;
  };
  const client = createClient({ baseUrl: server.url, apiKey, fetch: auditing });
  expect((await rejection(NetworkError, client.call("POST", undocumented))).wasSent).toBe(true);
  expect(server.requests.length).toBe(1);
});

Deno.test("a POST is sent once if what replaces the global fetch fails after the response", async () => {
  using _waiting = replaceWaiting();
  await using server = await serve((_, response) => json(response, 1));
  const closed = await serve(() => {});
  await closed[Symbol.asyncDispose]();
  using _fetch = replaceFetch((original) => async (...args) => {
    const response = await original(...args);
    await original(closed.url, { method: "POST", body: "seen" });
    return response;
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  expect((await rejection(NetworkError, client.call("POST", undocumented))).wasSent).toBe(true);
  expect(server.requests.length).toBe(1);
});

Deno.test("a GET that the runtime may have repeated is not said to be unsent", async () => {
  const server = await serve((request, response) => {
    if (request.url === "/warm") return json(response, 1);
    response.socket!.destroy(); // The service goes down when it has read the request.
    void server[Symbol.asyncDispose]();
  });
  await using _server = server;
  const client = createClient({ baseUrl: server.url, apiKey, retries: 0 });
  await client.call("GET", "warm");
  expect((await rejection(NetworkError, client.call("GET", "a"))).wasSent).toBe(true);
});

Deno.test("wasSent stays true after an attempt that may have reached the service", async () => {
  using _waiting = replaceWaiting();
  const server = await serve((_, response) => {
    response.writeHead(429, { connection: "close" }).end();
    void server[Symbol.asyncDispose]();
  });
  await using _server = server;
  const client = createClient({ baseUrl: server.url, apiKey, retries: 1 });
  expect((await rejection(NetworkError, client.call("POST", undocumented))).wasSent).toBe(true);
});

// What is sent again

Deno.test("every attempt sends the same bytes, with the same key", async () => {
  const form = new FormData();
  form.set("file", new Blob(["some text"]), "file.txt");
  const replace: Middleware = {
    onRequest: ({ request }) => new Request(request, { body: new Blob(["some text"]) }),
  };
  const stream = () => new Blob(["some text"]).stream();
  const inits = [
    { body: { text: "some text größer als €100 😀", list: Array(10_000).fill(1) } },
    { body: {}, bodySerializer: () => form },
    { body: {}, bodySerializer: stream, duplex: "half" },
    { body: {}, middleware: [replace] },
  ];
  using _waiting = replaceWaiting();
  for (const create of bothWays) {
    const { server, client } = await unavailable({}, create);
    await using _server = server;
    for (const init of inits) {
      await client.PUT(`/${undocumented}`, { ...init, params: { query: { a: [1, "ü"] } } });
      const [first, ...rest] = server.requests.splice(0);
      expect(rest).toEqual([first]);
      expect(first!.body).toContain("some text");
      expect(first!.headers[keyHeader]).toBe(apiKey);
    }
  }
});

Deno.test("bytes that are not UTF-8 arrive as they are, whatever their type", async () => {
  const bytes = new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]);
  const headers = [
    {}, // JSON by default
    { "content-encoding": "br" },
    { "content-type": 'multipart/related; type="application/json"' },
  ];
  const sent: number[][] = [];
  const client = clientOf(async (request) => {
    sent.push([...new Uint8Array(await request.arrayBuffer())]);
    return Response.json(1);
  }, { bodySerializer: () => bytes });
  for (const init of headers) await client.POST("/a", { body: {}, headers: init });
  expect(sent).toEqual(headers.map(() => [...bytes]));
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
      setTimeout(() => log.push("waited"), delay); // before the client's own timer of this delay
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
    ["9".repeat(400), Number.MAX_SAFE_INTEGER],
    ["Fri, 06 Nov 2026 08:49:37 GMT", 7],
    ["Friday, 06-Nov-26 08:49:37 GMT", 7],
    ["Fri Nov  6 08:49:37 2026", 7], // in UTC, as all dates in headers
    ["Fri, 06 Nov 2026 08:49:30 GMT", 0],
    ["Thu, 05 Nov 2026 08:49:37 GMT", undefined],
    ["", undefined],
    ["-1", undefined],
    ["soon", undefined],
    ["Infinity", undefined],
  ];
  const date = "Fri, 06 Nov 2026 08:49:30 GMT"; // when the service responded, by its own clock
  for (const [value, seconds] of values) {
    const headers = new Headers({ "retry-after": value, date });
    expect([value, readRetryAfter(headers)]).toEqual([value, seconds]);
  }
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  for (const others of [[], [["date", "today"]]]) {
    const headers = new Headers([["retry-after", inAMinute], ...others] as [string, string][]);
    const seconds = readRetryAfter(headers)!;
    expect(Math.abs(seconds - 60)).toBeLessThan(30); // from the clock of this machine
  }
});

/** What an error keeps of an empty response. */
const snapshot = (status: number) => ({ response: { status, headers: new Headers(), body: "" } });

/** The error for a response. */
const httpError = (status: number, retryAfter?: number) =>
  new HttpError("failed", { ...snapshot(status), ...retryAfter !== undefined && { retryAfter } });

Deno.test("retryDelay() spreads the delay, by back-off or as the service asks", () => {
  const delays = (attempt: number, retryAfter?: number) =>
    [0, 0.5, 0.9999].map((random) => retryDelay(httpError(503, retryAfter), attempt, random, true));
  const bounds = [500, 1_000, 2_000, 4_000, 8_000, 8_000]; // which double, up to 8 s
  for (const [index, bound] of bounds.entries()) {
    expect(delays(index + 1)).toEqual([0, bound / 2, Math.round(bound * 0.9999)]);
  }
  expect(delays(1, 0)).toEqual([0, 0, 0]);
  expect(delays(1, 0.0001)).toEqual([1, 1, 1]); // whole milliseconds
  expect(delays(1, 1)).toEqual([1_000, 1_125, 1_250]); // up to a quarter more
  expect(delays(1, 60)).toEqual([60_000, 67_500, 74_999]);
  expect(delays(1, 60.001)).toEqual([undefined, undefined, undefined]);
});

Deno.test("retryDelay() is undefined where isTemporary is false", () => {
  const because = (code: string) =>
    new NetworkError("failed", {}, { cause: Object.assign(new Error("reason"), { code }) });
  const temporary = [
    ...[new TimeoutError("late", { timeout: 1 }), new NetworkError("no connection", {})],
    because("ECONNRESET"),
  ];
  const lasting = [
    ...[
      because("NotCapable"),
      because("ERR_ACCESS_DENIED"),
      new RedirectError("elsewhere", {}),
      new ConfigurationError("", {}),
    ],
    new InvalidResponseError("malformed", { ...snapshot(503), issues: [] }),
  ];
  const found = (errors: ScamAddressError[]) =>
    errors.map((error) => [error.isTemporary, retryDelay(error, 1, 0.5, true)]);
  expect(found(temporary)).toEqual(temporary.map(() => [true, 250]));
  expect(found(lasting)).toEqual(lasting.map(() => [false, undefined]));
  const statuses = Array.from({ length: 300 }, (_, index) => index + 300);
  const retried = statuses.filter((status) =>
    retryDelay(httpError(status), 1, 0.5, true) !== undefined
  );
  expect(retried).toEqual([408, 429, 500, 502, 503, 504]);
  expect(statuses.filter((status) => httpError(status).isTemporary)).toEqual(retried);
});
