import { expect } from "@std/expect";

import {
  type ClientOptions,
  createClient,
  HttpError,
  type Method,
  type Middleware,
  type RetryEvent,
  type ScamAddressClient,
  ScamAddressError,
} from "../mod.ts";
import {
  apiKey,
  baseUrl,
  checkKeyPath,
  type Create,
  keyHeader,
  sendAll,
  testBothWays,
  undocumented,
} from "./support/client.ts";
import { replaceWaiting } from "./support/waiting.ts";
import { caught, rejection } from "./support/rejection.ts";
import { type AnyPath, type Responder, serve } from "./support/server.ts";

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
  create: Create,
  options: Partial<ClientOptions> = {},
) {
  await using server = await serve(failing(faults));
  using waiting = replaceWaiting();
  const { delays } = waiting;
  const events: RetryEvent[] = [];
  const onRetry = (event: RetryEvent) => void events.push(event);
  const client = create({ baseUrl: server.url, apiKey, onRetry, ...options });
  const { code, ...fields } = await rejection(ScamAddressError, call(client));
  expect(events.map(({ attempt, delay }) => [attempt, delay]))
    .toEqual(delays.map((delay, index) => [index + 1, delay]));
  const codes = [...events.map(({ error }) => error.code), code];
  return { ...fields, codes, delays, sent: server.requests.length };
}

// Which attempts are repeated; retry_delay.test.ts has the statuses

const callOf = (method: Method, idempotent?: boolean): Call => (client) =>
  client.call(method, undocumented, { idempotent });

/** Calls that may be sent again after any temporary failure, and calls that may not. */
const calls: Record<"true" | "false", Record<string, Call>> = {
  true: {
    ...{ GET: callOf("GET"), HEAD: callOf("HEAD"), OPTIONS: callOf("OPTIONS") },
    ...{ PUT: callOf("PUT"), DELETE: callOf("DELETE") },
    checkKey: (client) => client.checkOwnKey(),
    "POST with idempotent: true": callOf("POST", true),
  },
  false: {
    ...{ POST: callOf("POST"), PATCH: callOf("PATCH") },
    "GET with idempotent: false": callOf("GET", false),
  },
};

const once = (code: string) => ({ codes: [code], delays: [] });
const thrice = (code: string) => ({ codes: [code, code, code], delays: [250, 500] });

for (const [mayRepeat, named] of Object.entries(calls)) {
  const what = mayRepeat === "true" ? "any temporary failure" : "429 only";
  const [repeated, sent] = mayRepeat === "true" ? [thrice, 3] : [once, 1];
  for (const [name, call] of Object.entries(named)) {
    testBothWays(`${name} is sent again after ${what}`, async (create) => {
      const meeting = (fault: string, options = {}) => meet(fault, call, create, options);
      const response = (status: number) => ({ response: { status } });
      expect(await meeting("404")).toMatchObject({ ...response(404), ...once("http"), sent: 1 });
      expect(await meeting("429")).toMatchObject({ ...response(429), ...thrice("http"), sent: 3 });
      expect(await meeting("503")).toMatchObject({ ...response(503), ...repeated("http"), sent });
      for (const fault of name === "HEAD" ? ["reset"] : ["reset", "cut"]) {
        expect(await meeting(fault)).toMatchObject({ ...repeated("network"), sent });
      }
      const late = await meeting("hang", { timeout: 10 }); // may be too short to send
      expect(late).toMatchObject(repeated("timeout"));
    });
  }
}

testBothWays("call() obeys Retry-After while a failure may be gone later", async (create) => {
  const cases: [Call, string, Partial<ClientOptions>, Record<string, unknown>][] = [
    [callOf("GET"), "503;reset;cut;429/3;404", { retries: 5 }, {
      response: { status: 404 },
      codes: ["http", "network", "network", "http", "http"],
      delays: [250, 500, 1_000, 3_375],
    }],
    [callOf("GET"), "503;reset", { retries: 1 }, { codes: ["http", "network"], sent: 2 }],
    [callOf("POST"), "429;503", {}, { response: { status: 503 }, sent: 2 }],
    [callOf("GET"), "503", { retries: 0 }, { sent: 1 }],
    [callOf("GET"), "503/7", {}, { delays: [7_875, 7_875] }],
    [callOf("GET"), "429/61", {}, { retryAfter: 61, delays: [] }],
    [callOf("GET"), "503/soon", {}, { delays: [250, 500] }],
  ];
  for (const [call, faults, options, expected] of cases) {
    expect(await meet(faults, call, create, options)).toMatchObject(expected);
  }
  const date = new Date(Date.now() + 30_000).toUTCString();
  for (const delay of (await meet(`503/${date}`, callOf("GET"), create)).delays) {
    expect(Number.isInteger(delay)).toBe(true);
    expect(delay).toBeGreaterThan(500); // the longest back-off in tests
    expect(delay).toBeLessThanOrEqual(33_750);
  }
});

/** A server that is not available, and a client. */
async function unavailable(create: Create, options: Partial<ClientOptions> = {}) {
  const server = await serve((_, response) => void response.writeHead(503).end());
  const all = { baseUrl: server.url, apiKey, ...options };
  return { server, client: create(all) };
}

testBothWays(
  "typed methods obey idempotent, above all other rules, and retries",
  async (create) => {
    using _waiting = replaceWaiting();
    const { server, client } = await unavailable(create);
    await using _server = server;
    for (const [idempotent, sent] of [[true, 3], [false, 1]] as const) {
      await client.POST(checkKeyPath, { body: { apiKey }, idempotent });
      await client.POST(`/${undocumented}`, { body: {}, idempotent });
      await client.GET(`/${undocumented}`, { idempotent });
      expect(server.requests.splice(0).length).toBe(3 * sent);
    }
    await Promise.allSettled(sendAll(client, { retries: 3 }));
    expect(server.requests.splice(0).length).toBe(12);
  },
);

testBothWays("a request with middleware's method is retried by its rule", async (create) => {
  // checkKey's POST may be repeated, because the document marks it as idempotent.
  const sent = { POST: [1, 3], PUT: [3, 3], PATCH: [1, 1] };
  using _waiting = replaceWaiting();
  for (const [method, [called, checked]] of Object.entries(sent)) {
    const { server, client } = await unavailable(create);
    await using _server = server;
    client.use({ onRequest: ({ request: { url } }) => new Request(url, { method, body: "{}" }) });
    await caught(client.call("GET", undocumented));
    expect(server.requests.splice(0).map((request) => request.method))
      .toEqual(Array(called).fill(method));
    await caught(client.checkOwnKey());
    expect(server.requests.length).toBe(checked);
  }
});

testBothWays("what middleware sends again has retries of its own", async (create) => {
  const statuses = [503, 401, 503, 503];
  const events: number[] = [];
  const onRetry = ({ attempt }: RetryEvent) => void events.push(attempt);
  await using server = await serve((_, response, count) => {
    response.writeHead(statuses[count - 1]!).end();
  });
  using _waiting = replaceWaiting();
  const client = create({ baseUrl: server.url, apiKey, onRetry, retries: 1 });
  client.use({
    onResponse: ({ request, response, options }) =>
      response.status === 401 ? options.fetch(request) : undefined,
  });
  const error = await rejection(HttpError, client.call("GET", undocumented));
  expect(events).toEqual([1, 1]);
  expect(error.message).toMatch(/ failed after 2 attempts: got .* status 503$/);
  expect(server.requests.length).toBe(4);
});

// The wait

testBothWays("call() awaits onRetry, and rejects with what it throws", async (create) => {
  const log: number[] = [];
  const onRetry = async () => {
    await new Promise((resolve) => setTimeout(resolve));
    log.push(server.requests.length);
  };
  using _waiting = replaceWaiting();
  const { server, client } = await unavailable(create, { onRetry });
  await using _server = server;
  await caught(client.call("GET", undocumented));
  expect(log).toEqual([1, 2]);
  for (const thrown of [new RangeError("boom"), "boom"]) {
    const failing = () => {
      throw thrown;
    };
    for (const onRetry of [failing, () => Promise.reject(thrown)]) {
      server.requests.length = 0;
      const client = create({ baseUrl: server.url, apiKey, onRetry });
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

testBothWays("every attempt sends the same bytes, with the same key", async (create) => {
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
  using _waiting = replaceWaiting();
  const { server, client } = await unavailable(create, { apiKey: () => `key-${++keyCalls}` });
  await using _server = server;
  for (const init of inits) {
    await client.PUT(`/${undocumented}`, { ...init, params: { query: { a: [1, "ü"] } } });
    const [first, ...rest] = server.requests.splice(0);
    expect(rest).toEqual([first, first]);
    expect(first!.body).toContain("some text");
    expect(first!.headers[keyHeader]).toBe(`key-${keyCalls}`);
  }
  expect(keyCalls).toBe(4); // once for a call, not once for an attempt
});

Deno.test("the error of onRetry keeps 64 KiB, also where the method resolves to all of it", async () => {
  using _waiting = replaceWaiting();
  const text = JSON.stringify("x".repeat(2 ** 17));
  const fetch = () => Promise.resolve(new Response(text, { status: 503 }));
  const kept: unknown[] = [];
  const onRetry = ({ error }: RetryEvent) => void kept.push((error as HttpError).response.body);
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch, retries: 1, onRetry });
  expect((await client.GET("/a")).error).toBe(JSON.parse(text));
  expect(kept).toEqual([JSON.parse(text).slice(0, 2 ** 16)]);
});
