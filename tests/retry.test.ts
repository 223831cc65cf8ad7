import { expect } from "@std/expect";

import {
  type ClientOptions,
  createClient,
  HttpError,
  type Middleware,
  NetworkError,
  type RetryEvent,
  type ScamAddressError,
} from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { apiKey, checkKeyPath, isDeno, keyHeader, sendAll, undocumented } from "./client.ts";
import { createClock } from "./clock.ts";
import { caught, failure } from "./outcome.ts";
import { type AnyPath, json, type Responder, serve } from "./server.ts";

const methods = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "POST", "PATCH", "checkKey"] as const;
const temporaryStatuses = [408, 429, 500, 502, 503, 504];
const otherStatuses = [304, 400, 401, 403, 404, 409, 425, 501, 505, 599];

// Which attempts are repeated

const fail = (status: number, retryAfter?: string): Responder => (_, response) => {
  const headers = { connection: "close", ...retryAfter && { "retry-after": retryAfter } };
  response.writeHead(status, headers).end(status === 304 ? "" : `{"status":${status}}`);
};
const reset: Responder = (_, response) => void response.socket!.destroy();
const cutOff: Responder = (_, response) => {
  response.writeHead(200, { "content-length": "100" });
  response.write("[1,", () => setTimeout(() => response.socket!.destroy(), 5));
};
const hang: Responder = () => {};

/** Calls a server that responds in the same way each time; resolves to what happened. */
async function attempt(
  method: typeof methods[number],
  respond: Responder,
  options?: Partial<ClientOptions>,
  idempotent?: boolean,
) {
  const events: RetryEvent[] = [];
  const clock = createClock();
  await using server = await serve(respond);
  const client = createClientWith({
    baseUrl: server.url,
    apiKey,
    onRetry: (event) => void events.push(event),
    ...options,
  }, clock);
  const call = method === "checkKey"
    ? client.checkOwnKey()
    : client.call(method, undocumented, { idempotent });
  const error = await caught(call) as ScamAddressError;
  expect(clock.delays).toEqual(events.map(({ delay }) => delay));
  return {
    error,
    status: error instanceof HttpError ? error.status : undefined,
    sent: server.requests.length,
    retried: events.map(({ attempt, delay, error }) => [attempt, delay, error.code]),
  };
}

for (const method of methods) {
  const mayRepeat = method !== "POST" && method !== "PATCH";
  const how = mayRepeat ? "any temporary failure" : "429 only";
  Deno.test(`${method} is sent again after ${how}`, async () => {
    const outcome = (code: string, isRepeated = mayRepeat) =>
      isRepeated
        ? { sent: 3, retried: [[1, 250, code], [2, 500, code]] }
        : { sent: 1, retried: [] };
    for (const status of temporaryStatuses) {
      const expected = outcome("http", mayRepeat || status === 429);
      expect(await attempt(method, fail(status))).toMatchObject({ status, ...expected });
    }
    for (const status of otherStatuses) {
      expect(await attempt(method, fail(status))).toMatchObject({ status, sent: 1, retried: [] });
    }
    for (const respond of method === "HEAD" ? [reset] : [reset, cutOff]) {
      expect(await attempt(method, respond)).toMatchObject(outcome("network"));
    }
    const { retried } = await attempt(method, hang, { timeout: 20 }); // may be too short to send
    expect(retried).toEqual(outcome("timeout").retried);
  });
}

Deno.test("call() repeats different failures until one lasts or no attempt is left", async () => {
  const inTurn = (...responders: Responder[]): Responder => (request, response, count) =>
    responders[Math.min(count, responders.length) - 1]!(request, response, count);
  const failures = inTurn(fail(503), reset, cutOff, fail(429, "3"), fail(404));
  expect(await attempt("GET", failures, { retries: 5 })).toMatchObject({
    status: 404,
    retried: [[1, 250, "http"], [2, 500, "network"], [3, 1_000, "network"], [4, 3_000, "http"]],
  });
  expect(await attempt("GET", inTurn(reset, fail(502), fail(500))))
    .toMatchObject({ status: 500, sent: 3 });
  expect(await attempt("GET", inTurn(fail(503), reset), { retries: 1 }))
    .toMatchObject({ error: { code: "network" }, sent: 2 });
  expect(await attempt("POST", inTurn(fail(429), fail(503))))
    .toMatchObject({ status: 503, sent: 2 });
});

Deno.test("POST is sent once by the client on a connection that breaks after use", async () => {
  await using server = await serve(({ url }, response) => {
    if (url === "/reset") response.socket!.destroy();
    else json(response, []);
  });
  let sent = 0;
  const counting = (request: Request) => {
    sent++;
    return fetch(request);
  };
  const client = createClient({ baseUrl: server.url, apiKey, fetch: counting });
  await client.call("GET", "first");
  await failure(NetworkError, client.call("POST", "reset", { body: { a: 1 } }));
  expect(sent).toBe(2);
  // Deno's own fetch repeats any request once when a connection from its pool was closed without
  // a response (denoland/deno#36415), as browsers do; no option prevents it.
  const arrivals = server.requests.filter(({ url }) => url === "/reset").length;
  expect(arrivals).toBe(isDeno ? 2 : 1);
});

Deno.test("call() obeys idempotent, above the method's rule", async () => {
  for (const respond of [fail(503), reset, cutOff]) {
    expect(await attempt("POST", respond, {}, true)).toMatchObject({ sent: 3 });
    expect(await attempt("GET", respond, {}, false)).toMatchObject({ sent: 1, retried: [] });
  }
  for (const idempotent of [true, false]) {
    expect(await attempt("POST", fail(429), {}, idempotent)).toMatchObject({ sent: 3 });
    expect(await attempt("GET", fail(400), {}, idempotent)).toMatchObject({ sent: 1 });
  }
});

Deno.test("typed methods obey idempotent, above the document and the method's rule", async () => {
  await using server = await serve(fail(503));
  const client = createClientWith<AnyPath>({ baseUrl: server.url, apiKey }, createClock());
  for (const middleware of [[], [{ onRequest() {} }]]) {
    client.use(...middleware);
    for (const [idempotent, sent] of [[true, 3], [false, 1]] as const) {
      await client.POST(checkKeyPath, { body: { apiKey }, idempotent });
      await client.POST(`/${undocumented}`, { body: {}, idempotent });
      await client.GET(`/${undocumented}`, { idempotent });
      expect(server.requests.splice(0).length).toBe(3 * sent);
    }
  }
});

Deno.test("methods limit attempts by retries, of the client and of a call", async () => {
  for (const retries of [0, 5]) {
    expect((await attempt("GET", fail(503), { retries })).sent).toBe(retries + 1);
  }
  await using server = await serve(fail(503));
  const client = createClientWith<AnyPath>({ baseUrl: server.url, apiKey }, createClock());
  await Promise.all(sendAll(client, { retries: 3 }).map((call) => call.catch(() => {})));
  expect(server.requests.length).toBe(12);
});

Deno.test("a request with another method from middleware is retried by that method's rule", async () => {
  for (const [method, sent] of [["POST", 1], ["PUT", 3]] as const) {
    await using server = await serve(fail(503));
    const client = createClientWith({ baseUrl: server.url, apiKey }, createClock());
    client.use({
      onRequest: ({ request: { url } }) => new Request(url, { method, body: "{}" }),
    });
    await caught(client.call("GET", undocumented));
    await caught(client.checkOwnKey());
    const arrived = server.requests.map((request) => request.method);
    const checks = 3; // also by POST, because the document marks it as idempotent
    expect(arrived).toEqual(Array(sent + checks).fill(method));
  }
});

// The wait

Deno.test("call() waits as Retry-After says, up to a minute, in whole milliseconds", async () => {
  expect((await attempt("GET", fail(503, "7"))).retried)
    .toEqual([[1, 7_000, "http"], [2, 7_000, "http"]]);
  expect(await attempt("GET", fail(429, "61")))
    .toMatchObject({ sent: 1, retried: [], error: { retryAfter: 61 } });
  expect((await attempt("GET", fail(503, "7"), { apiKey: "7" })).retried[0]).toEqual([
    1,
    7_000,
    "http",
  ]);
  expect((await attempt("GET", fail(503, "soon"))).retried.map(([, delay]) => delay))
    .toEqual([250, 500]);
  const date = new Date(Date.now() + 30_000).toUTCString();
  for (const [, delay] of (await attempt("GET", fail(503, date))).retried) {
    expect(Number.isInteger(delay)).toBe(true);
    expect(delay).toBeLessThanOrEqual(30_000);
  }
});

Deno.test("call() awaits onRetry, and rejects with what it throws", async () => {
  const log: string[] = [];
  const onRetry = async () => {
    log.push("called");
    await new Promise((resolve) => setTimeout(resolve));
    log.push("ended");
  };
  await using server = await serve((request, response, count) => {
    log.push("sent");
    fail(503)(request, response, count);
  });
  const options = { baseUrl: server.url, apiKey, onRetry, retries: 1 };
  await caught(createClientWith(options, createClock()).call("GET", undocumented));
  expect(log).toEqual(["sent", "called", "ended", "sent"]);
  for (const thrown of [new RangeError("boom"), "boom", 0, undefined]) {
    const failing = () => {
      throw thrown;
    };
    for (const onRetry of [failing, () => Promise.reject(thrown)]) {
      server.requests.length = 0;
      const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, onRetry });
      expect(await caught(client.call("GET", undocumented))).toBe(thrown);
      expect(await caught(client.GET(`/${undocumented}`))).toBe(thrown);
      expect(await caught(client.checkKey("some-key"))).toBe(thrown);
      expect(server.requests.length).toBe(3);
    }
  }
});

// What is sent again

Deno.test("every attempt sends the same bytes, with the same key", async () => {
  await using server = await serve(fail(503));
  let keyCalls = 0;
  const options = { baseUrl: server.url, apiKey: () => `key-${++keyCalls}` };
  const clients = [options, { ...options, fetch: (request: Request) => fetch(request) }]
    .map((options) => createClientWith<AnyPath>(options, createClock()));
  const body = { text: "größer als €100 😀", list: Array(10_000).fill(1) };
  const replace: Middleware = {
    onRequest: ({ request }) => new Request(request, { body: new Blob(["of middleware"]) }),
  };
  for (const client of clients) {
    for (const middleware of [[], [replace]]) {
      client.use(...middleware);
      await caught(client.call("PUT", undocumented, { body, query: { a: [1, "ü"] } }));
      const [first, ...rest] = server.requests.splice(0);
      expect(rest).toEqual([first, first]);
      expect(first!.body).toBe(middleware.length ? "of middleware" : JSON.stringify(body));
      expect(first!.headers[keyHeader]).toBe(`key-${keyCalls}`);
    }
  }
  expect(keyCalls).toBe(4); // once for a call, not once for an attempt
});

Deno.test("every attempt sends the same bytes of a form and of a stream", async () => {
  await using server = await serve(fail(429, "0"));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const form = new FormData();
  form.set("file", new Blob(["some text"]), "file.txt");
  for (const body of [form, new Blob(["some text"]).stream()]) {
    const init = { body: {}, bodySerializer: () => body, duplex: "half" };
    const { error, response } = await client.POST(`/${undocumented}`, init);
    expect([response.status, error]).toEqual([429, { status: 429 }]);
    const [first, ...rest] = server.requests.splice(0)
      .map(({ body, headers }) => [body, headers["content-type"]]);
    expect(first![0]).toContain("some text");
    expect(rest).toEqual([first, first]);
  }
});
