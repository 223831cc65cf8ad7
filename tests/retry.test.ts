import { expect } from "@std/expect";

import {
  type ClientOptions,
  createClient,
  type Method,
  type Middleware,
  type RetryEvent,
  ScamAddressError,
} from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { apiKey, baseUrl, checkKeyPath, keyHeader, sendAll, undocumented } from "./client.ts";
import { createClock } from "./clock.ts";
import { caught, failure } from "./failure.ts";
import { type AnyPath, type HttpServer, type Responder, serve } from "./server.ts";

type Name = Method | "checkKey";

const temporaryStatuses = [408, 429, 500, 502, 503, 504];
const otherStatuses = [304, 400, 401, 403, 404, 409, 425, 501, 505, 599];

/** Fails as a header says: with one fault after the other, the last of them repeatedly. */
const failing: Responder = ({ headers }, response, count) => {
  const faults = `${headers["x-faults"]}`.split(";");
  const [fault, wait] = faults[Math.min(count, faults.length) - 1]!.split("/");
  if (fault === "hang") return;
  if (fault === "reset") return void response.socket!.destroy();
  response.setHeader("connection", "close");
  if (fault === "cut") {
    response.writeHead(200, { "content-length": "100" });
    return void response.write("[1,", () => setTimeout(() => response.socket!.destroy(), 5));
  }
  response.writeHead(Number(fault), { ...wait && { "retry-after": wait } }).end();
};

/** Makes a call that meets faults; resolves to what happened. */
async function attempt(
  { url: baseUrl, requests }: HttpServer,
  method: Name,
  faults: string,
  options: Partial<ClientOptions> = {},
  idempotent?: boolean,
) {
  requests.length = 0;
  const { delays, ...clock } = createClock();
  const events: RetryEvent[] = [];
  const onRetry = (event: RetryEvent) => void events.push(event);
  const all = { baseUrl, apiKey, headers: { "x-faults": faults }, onRetry, ...options };
  const client = createClientWith(all, clock);
  const call = method === "checkKey"
    ? client.checkOwnKey()
    : client.call(method, undocumented, { idempotent });
  const { code, ...fields } = await failure(ScamAddressError, call);
  expect(events.map(({ attempt, delay }) => [attempt, delay]))
    .toEqual(delays.map((delay, index) => [index + 1, delay]));
  const codes = [...events.map(({ error }) => error.code), code];
  return { ...fields, sent: requests.length, delays, codes };
}

// Which attempts are repeated

const byMethod = Object.entries({
  ...{ GET: true, HEAD: true, OPTIONS: true, PUT: true, DELETE: true, checkKey: true },
  ...{ POST: false, PATCH: false },
}).map(([method, mayRepeat]) => [method as Name, undefined, mayRepeat] as const);
const byCaller = [["POST", true, true], ["GET", false, false]] as const;

for (const [method, idempotent, mayRepeat] of [...byMethod, ...byCaller]) {
  const marked = idempotent === undefined ? "" : ` that is marked idempotent: ${idempotent}`;
  const what = mayRepeat ? "any temporary failure" : "429 only";
  Deno.test(`${method}${marked} is sent again after ${what}`, async () => {
    await using server = await serve(failing);
    const run = (fault: string, options = {}) =>
      attempt(server, method, fault, options, idempotent);
    const outcome = (code: string, isRepeated = mayRepeat) =>
      isRepeated
        ? { codes: [code, code, code], delays: [250, 500] }
        : { codes: [code], delays: [] };
    for (const status of [...temporaryStatuses, ...otherStatuses]) {
      const isRepeated = status === 429 || mayRepeat && temporaryStatuses.includes(status);
      const expected = { status, ...outcome("http", isRepeated), sent: isRepeated ? 3 : 1 };
      expect(await run(`${status}`)).toMatchObject(expected);
    }
    for (const fault of method === "HEAD" ? ["reset"] : ["reset", "cut"]) {
      expect(await run(fault)).toMatchObject({ ...outcome("network"), sent: mayRepeat ? 3 : 1 });
    }
    const late = await run("hang", { timeout: 20 }); // may be too short to send
    expect(late).toMatchObject(outcome("timeout"));
  });
}

Deno.test("call() obeys Retry-After, and repeats until a failure lasts or no attempt is left", async () => {
  await using server = await serve(failing);
  const cases: [Name, string, Partial<ClientOptions>, Record<string, unknown>][] = [
    ["GET", "503;reset;cut;429/3;404", { retries: 5 }, {
      status: 404,
      codes: ["http", "network", "network", "http", "http"],
      delays: [250, 500, 1_000, 3_000],
    }],
    ["GET", "reset;502;500", {}, { status: 500, sent: 3 }],
    ["GET", "503;reset", { retries: 1 }, { codes: ["http", "network"], sent: 2 }],
    ["POST", "429;503", {}, { status: 503, sent: 2 }],
    ["GET", "503", { retries: 0 }, { sent: 1 }],
    ["GET", "503", { retries: 5 }, { sent: 6 }],
    ["GET", "503/7", {}, { delays: [7_000, 7_000] }],
    ["GET", "503/0", {}, { delays: [0, 0] }],
    ["POST", "429/60", {}, { delays: [60_000, 60_000] }],
    ["GET", "429/61", {}, { retryAfter: 61, delays: [] }],
    ["GET", "503/soon", {}, { delays: [250, 500] }],
  ];
  for (const [method, faults, options, expected] of cases) {
    expect(await attempt(server, method, faults, options)).toMatchObject(expected);
  }
  const date = new Date(Date.now() + 30_000).toUTCString();
  for (const delay of (await attempt(server, "GET", `503/${date}`)).delays) {
    expect(Number.isInteger(delay)).toBe(true);
    expect(delay).toBeGreaterThan(500); // the longest back-off of the test's clock
    expect(delay).toBeLessThanOrEqual(30_000);
  }
});

/** A server that is not available, and a client that does not wait. */
async function unavailable(options: Partial<ClientOptions> = {}) {
  const server = await serve((_, response) => void response.writeHead(503).end());
  const all = { baseUrl: server.url, apiKey, ...options };
  return { server, client: createClientWith<AnyPath>(all, createClock()) };
}

Deno.test("typed methods obey idempotent, above the document and the method's rule, and retries", async () => {
  const { server, client } = await unavailable();
  await using _server = server;
  for (const middleware of [[], [{ onRequest() {} }]]) {
    client.use(...middleware);
    for (const [idempotent, sent] of [[true, 3], [false, 1]] as const) {
      await client.POST(checkKeyPath, { body: { apiKey }, idempotent });
      await client.POST(`/${undocumented}`, { body: {}, idempotent });
      await client.GET(`/${undocumented}`, { idempotent });
      expect(server.requests.splice(0).length).toBe(3 * sent);
    }
    await Promise.allSettled(sendAll(client, { retries: 3 }));
    expect(server.requests.splice(0).length).toBe(12);
  }
});

Deno.test("a request with another method from middleware is retried by that method's rule", async () => {
  // checkKey's POST may be repeated, because the document marks it as idempotent.
  const sent = { POST: [1, 3], PUT: [3, 3], PATCH: [1, 1] };
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

// The wait

Deno.test("call() awaits onRetry, and rejects with what it throws", async () => {
  const log: number[] = [];
  const onRetry = async () => {
    await new Promise((resolve) => setTimeout(resolve));
    log.push(server.requests.length);
  };
  const { server, client } = await unavailable({ onRetry });
  await using _server = server;
  await caught(client.call("GET", undocumented));
  expect(log).toEqual([1, 2]);
  for (const thrown of [new RangeError("boom"), "boom"]) {
    const failing = () => {
      throw thrown;
    };
    for (const onRetry of [failing, () => Promise.reject(thrown)]) {
      server.requests.length = 0;
      const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, onRetry });
      expect(await Promise.all(sendAll(client).map(caught))).toEqual([thrown, thrown, thrown]);
      expect(server.requests.length).toBe(3);
    }
  }
});

Deno.test("createClient() waits for delays that are spread", async () => {
  const delays: number[] = [];
  const times: number[] = [];
  const onRetry = ({ delay }: RetryEvent) => {
    if (delays.push(delay) > 1) throw delay;
  };
  const fetch = () => {
    times.push(performance.now());
    return Promise.resolve(new Response(null, { status: 503 }));
  };
  const client = createClient({ baseUrl, apiKey, onRetry, fetch, retries: 1 });
  await caught(client.call("GET", undocumented));
  expect(times[1]! - times[0]!).toBeGreaterThan(delays[0]! - 2); // not sooner
  for (let count = 0; count < 20; count++) await caught(client.call("GET", undocumented));
  expect(new Set(delays).size).toBeGreaterThan(2);
});

// What is sent again

Deno.test("every attempt sends the same bytes, with the same key", async () => {
  let keyCalls = 0;
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
  for (const fetch of [undefined, (request: Request) => globalThis.fetch(request)]) {
    const { server, client } = await unavailable({ apiKey: () => `key-${++keyCalls}`, fetch });
    await using _server = server;
    for (const init of inits) {
      await client.PUT(`/${undocumented}`, { ...init, params: { query: { a: [1, "ü"] } } });
      const [first, ...rest] = server.requests.splice(0);
      expect(rest).toEqual([first, first]);
      expect(first!.body).toContain("some text");
      expect(first!.headers[keyHeader]).toBe(`key-${keyCalls}`);
    }
  }
  expect(keyCalls).toBe(8); // once for a call, not once for an attempt
});
