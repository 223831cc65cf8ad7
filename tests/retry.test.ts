import { expect } from "@std/expect";

import {
  type ClientOptions,
  createClient,
  HttpError,
  type Method,
  NetworkError,
  type RetryEvent,
  type ScamAddressError,
} from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { parseRetryAfter, retryDelay } from "../src/transport/retry.ts";
import { apiKey, isDeno } from "./client.ts";
import { createClock } from "./clock.ts";
import { caught, failure } from "./outcome.ts";
import { type AnyPath, json, type Responder, serve, validKey } from "./server.ts";

const repeatableMethods: Method[] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"];
const otherMethods: Method[] = ["POST", "PATCH"];
const repeatableStatuses = [408, 429, 500, 502, 503, 504];
const otherStatuses = [400, 401, 403, 404, 409, 410, 413, 422, 425, 501, 505, 511, 599];

Deno.test("parseRetryAfter() reads seconds", () => {
  expect(parseRetryAfter("0", 0)).toBe(0);
  expect(parseRetryAfter("60", 0)).toBe(60);
  expect(parseRetryAfter("00120", 0)).toBe(120);
  expect(parseRetryAfter("9".repeat(400), 0)).toBe(Number.MAX_SAFE_INTEGER);
});

Deno.test("parseRetryAfter() reads dates", () => {
  const now = Date.UTC(2026, 10, 6, 8, 49, 30);
  expect(parseRetryAfter("Fri, 06 Nov 2026 08:49:37 GMT", now)).toBe(7);
  expect(parseRetryAfter("Friday, 06-Nov-26 08:49:37 GMT", now)).toBe(7);
  expect(parseRetryAfter("Fri, 06 Nov 2026 08:49:30 GMT", now)).toBe(0);
});

Deno.test("parseRetryAfter() ignores invalid values, negative values and the past", () => {
  const junk = [
    ...[null, "", " ", "-1", "-0", "+1", "1.5", "1e3", "0x10", "1s", "1, 2", "١", "Infinity"],
    ...["NaN", "soon", "2099-01-01", "2099-01-01T00:00:00Z"],
    "Fri, 32 Foo 2099 99:99:99 GMT",
    "Fri, 06 Nov 2099 08:49:37 +0100",
    "Thu, 05 Nov 2026 08:49:37 GMT",
  ];
  const now = Date.UTC(2026, 10, 6);
  for (const value of junk) {
    expect([value, parseRetryAfter(value, now)]).toEqual([value, undefined]);
  }
});

Deno.test("retryDelay() spreads the delay from nothing to a bound that doubles up to 8 s", () => {
  const bounds = [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000];
  for (const [index, bound] of bounds.entries()) {
    const failure = { attempt: index + 1, retries: 9, isIdempotent: true, status: 503 };
    expect(retryDelay(failure, 0)).toBe(0);
    expect(retryDelay(failure, 0.25)).toBe(bound / 4);
    expect(retryDelay({ ...failure, status: undefined }, 0.999)).toBe(bound * 0.999);
  }
  const failure = { attempt: 100, retries: 100, isIdempotent: true };
  expect(retryDelay(failure, 0.5)).toBe(4_000);
});

// Which attempts are repeated

const fail = (status: number, retryAfter?: string): Responder => (_, response) => {
  const headers = { connection: "close", ...retryAfter && { "retry-after": retryAfter } };
  response.writeHead(status, headers).end(`{"status":${status}}`);
};
const reset: Responder = (_, response) => void response.socket!.destroy();
const cutOff: Responder = (_, response) => {
  response.writeHead(200, { "content-length": "100" });
  response.write("[1,", () => setTimeout(() => response.socket!.destroy(), 5));
};
const hang: Responder = () => {};

/** Calls a server that responds in the same way each time; resolves to what happened. */
async function attempt(
  method: Method | "checkKey",
  respond: Responder,
  options?: Partial<ClientOptions>,
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
  const call = method === "checkKey" ? client.checkKey() : client.call(method, "report");
  const error = await caught(call) as ScamAddressError;
  expect(clock.delays).toEqual(events.map(({ delay }) => delay));
  return {
    error,
    status: error instanceof HttpError ? error.status : undefined,
    sent: server.requests.length,
    retried: events.map(({ attempt, delay, error }) => [attempt, delay, error.code]),
  };
}

for (const method of [...repeatableMethods, "checkKey"] as const) {
  Deno.test(`${method} is sent three times when its failures are temporary`, async () => {
    const retried = (code: string) => [[1, 250, code], [2, 500, code]];
    for (const status of repeatableStatuses) {
      expect(await attempt(method, fail(status)))
        .toMatchObject({ status, sent: 3, retried: retried("http") });
    }
    for (const respond of method === "HEAD" ? [reset] : [reset, cutOff]) {
      expect(await attempt(method, respond))
        .toMatchObject({ error: { code: "network" }, sent: 3, retried: retried("network") });
    }
    expect(await attempt(method, hang, { timeout: 20 }))
      .toMatchObject({ error: { code: "timeout" }, retried: retried("timeout") });
  });

  Deno.test(`${method} is sent once when its failure is permanent`, async () => {
    for (const status of otherStatuses) {
      expect(await attempt(method, fail(status))).toMatchObject({ status, sent: 1, retried: [] });
    }
  });
}

for (const method of otherMethods) {
  Deno.test(`${method} is sent once, unless the status is 429`, async () => {
    for (const status of [...repeatableStatuses, ...otherStatuses]) {
      const sent = status === 429 ? 3 : 1;
      expect(await attempt(method, fail(status))).toMatchObject({ status, sent });
    }
    for (const respond of [reset, cutOff]) {
      expect(await attempt(method, respond))
        .toMatchObject({ error: { code: "network" }, sent: 1, retried: [] });
    }
    expect(await attempt(method, hang, { timeout: 20 }))
      .toMatchObject({ error: { code: "timeout" }, retried: [] });
  });

  Deno.test(`${method} is sent once by the client on a connection that breaks after use`, async () => {
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
    await failure(NetworkError, client.call(method, "reset", { body: { a: 1 } }));
    expect(sent).toBe(2);
    // Deno's own fetch repeats any request once when a connection from its pool was closed without
    // a response (denoland/deno#36415), as browsers do; no option prevents it.
    const arrivals = server.requests.filter(({ url }) => url === "/reset").length;
    expect(arrivals).toBe(isDeno ? 2 : 1);
  });
}

Deno.test("methods limit attempts by retries", async () => {
  for (const retries of [0, 1, 5]) {
    expect((await attempt("GET", fail(503), { retries })).sent).toBe(retries + 1);
  }
  await using server = await serve(fail(503));
  const client = createClientWith({ baseUrl: server.url, apiKey }, createClock());
  await caught(client.call("GET", "report", { retries: 0 }));
  await caught(client.checkKey("key", { retries: 3 }));
  expect(server.requests.map(({ url }) => url)).toEqual(["/report", ...Array(4).fill("/checkKey")]);
});

Deno.test("checkKey() resolves when a later attempt succeeds", async () => {
  const responders = [fail(503), reset, cutOff, fail(429)];
  await using server = await serve((request, response, count) => {
    const respond = responders[count - 1];
    respond ? respond(request, response, count) : json(response, validKey);
  });
  const codes: string[] = [];
  const onRetry = ({ error }: RetryEvent) => codes.push(error.code);
  const client = createClientWith({ baseUrl: server.url, retries: 4, onRetry }, createClock());
  expect(await client.checkKey("key")).toEqual(validKey);
  expect(codes).toEqual(["http", "network", "network", "http"]);
});

Deno.test("GET() retries too, and reports the last status", async () => {
  await using server = await serve((request, response, count) =>
    fail(count === 3 ? 500 : 503)(request, response, count)
  );
  const client = createClientWith<AnyPath>({ baseUrl: server.url, apiKey }, createClock());
  const { error, response } = await client.GET("/report");
  expect(response.status).toBe(500);
  expect(error).toEqual({ status: 500 });
  expect(server.requests.length).toBe(3);
});

Deno.test("a request with another method from middleware is retried by that method's rule", async () => {
  for (const [method, sent] of [["POST", 1], ["PUT", 3]] as const) {
    await using server = await serve(fail(503));
    const client = createClientWith({ baseUrl: server.url, apiKey }, createClock());
    client.use({
      onRequest: ({ request: { url } }) => new Request(url, { method, body: "{}" }),
    });
    await caught(client.call("GET", "report"));
    await caught(client.checkKey());
    const arrived = server.requests.map((request) => request.method);
    const checks = 3; // also by POST, because the document marks it as idempotent
    expect(arrived).toEqual(Array(sent + checks).fill(method));
  }
});

// What is sent again

Deno.test("every attempt sends the same bytes", async () => {
  await using server = await serve(fail(503));
  let keyCalls = 0;
  const options = {
    baseUrl: server.url,
    apiKey: () => `key-${++keyCalls}`,
    headers: { "x-a": "b" },
  };
  const withMiddleware = createClientWith(options, createClock());
  withMiddleware.use({
    onRequest: ({ request }) => new Request(request, { body: new Blob(["from middleware"]) }),
  });
  const clients = [
    createClientWith(options, createClock()),
    createClientWith({ ...options, fetch: (request) => fetch(request) }, createClock()),
    withMiddleware,
  ];
  for (const client of clients) {
    server.requests.length = 0;
    const body = { text: "größer als €100 😀", list: Array(10_000).fill(1) };
    await caught(client.call("PUT", "report", { body, query: { a: [1, "ü"] }, retries: 3 }));
    const [first, ...rest] = server.requests;
    expect(rest).toEqual([first, first, first]);
    expect(first!.body).toBe(
      client === withMiddleware ? "from middleware" : JSON.stringify(body),
    );
    expect(first!.headers["x-api-key"]).toBe(`key-${keyCalls}`);
    expect(first!.headers["x-a"]).toBe("b");
  }
  expect(keyCalls).toBe(clients.length); // once for a call, not once for an attempt
});

Deno.test("every attempt sends the same bytes of a form and of a stream", async () => {
  await using server = await serve(fail(429, "0"));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 2 });
  const form = new FormData();
  form.set("file", new Blob(["some text"]), "file.txt");
  for (const body of [form, new Blob(["some text"]).stream()]) {
    const init = { body: {}, bodySerializer: () => body, duplex: "half" };
    const { response } = await client.POST("/endpoint", init);
    expect(response.status).toBe(429);
    const [first, ...rest] = server.requests.splice(0)
      .map(({ body, headers }) => [body, headers["content-type"]]);
    expect(first![0]).toContain("some text");
    expect(rest).toEqual([first, first]);
  }
});

// Retry-After

Deno.test("call() rejects at once when Retry-After is more than 60 s", async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  for (const value of ["61", "3600", "9".repeat(30), date]) {
    for (const method of ["GET", "POST"] as const) {
      const { error, sent, retried } = await attempt(method, fail(429, value));
      expect((error as HttpError).retryAfter).toBeGreaterThan(60);
      expect({ sent, retried }).toEqual({ sent: 1, retried: [] });
    }
  }
});

Deno.test("call() waits for the time in Retry-After", async () => {
  const cases = [["0", 0], ["1", 1_000], ["60", 60_000]] as const;
  for (const [value, delay] of cases) {
    const { error, retried } = await attempt("POST", fail(429, value));
    expect(retried).toEqual([[1, delay, "http"], [2, delay, "http"]]);
    expect((error as HttpError).retryAfter).toBe(delay / 1_000);
  }
  const date = new Date(Date.now() + 50_000).toUTCString();
  const { retried: [first] } = await attempt("POST", fail(429, date));
  expect(first![1]).toBeGreaterThan(30_000); // the test itself takes time
  expect(first![1]).toBeLessThanOrEqual(50_000);
});

Deno.test("call() obeys a Retry-After that equals the key", async () => {
  const { retried } = await attempt("POST", fail(429, "1"), { apiKey: "1", retries: 1 });
  expect(retried).toEqual([[1, 1_000, "http"]]);
});

Deno.test("call() backs off when Retry-After is invalid", async () => {
  const past = new Date(Date.now() - 60_000).toUTCString();
  for (const value of ["-1", "soon", "1.5", "", past, "1, 2"]) {
    const { error, retried } = await attempt("GET", fail(503, value));
    expect("retryAfter" in error).toBe(false);
    expect(retried).toEqual([[1, 250, "http"], [2, 500, "http"]]);
  }
});

Deno.test("HttpError has retryAfter for any status", async () => {
  const { error } = await attempt("GET", fail(403, "7"));
  expect((error as HttpError).retryAfter).toBe(7);
});

Deno.test("an error that onRetry throws ends the call", async () => {
  await using server = await serve(fail(503, "60"));
  const boom = new RangeError("boom");
  const onRetry = () => {
    throw boom;
  };
  const client = createClient({ baseUrl: server.url, apiKey, onRetry });
  expect(await caught(client.call("GET", "report"))).toBe(boom);
  expect(await caught(client.checkKey())).toBe(boom);
  expect(server.requests.length).toBe(2);
});
