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
import { apiKey, isDeno, keyHeader } from "./client.ts";
import { createClock } from "./clock.ts";
import { caught, failure } from "./outcome.ts";
import { type AnyPath, json, type Responder, serve } from "./server.ts";

const repeatableMethods: Method[] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"];
const otherMethods: Method[] = ["POST", "PATCH"];
const repeatableStatuses = [408, 429, 500, 502, 503, 504];
const otherStatuses = [400, 401, 403, 404, 409, 410, 413, 422, 425, 501, 505, 511, 599];

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
    expect(first!.headers[keyHeader]).toBe(`key-${keyCalls}`);
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

Deno.test("HttpError has retryAfter for any status", async () => {
  const { error } = await attempt("GET", fail(403, "7"));
  expect((error as HttpError).retryAfter).toBe(7);
});
