import { expect } from "@std/expect";

import { ConfigurationError, createClient, type ScamAddressClient, TimeoutError } from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { apiKey, baseUrl, sendAll, unusedFetch } from "./client.ts";
import { createClock } from "./clock.ts";
import { caught, deferred, failure, failures } from "./outcome.ts";
import { type AnyPath, json, type Responder, serve, serveSockets } from "./server.ts";
import { endlessBody } from "./streams.ts";

const timeout = 100;
const options = { apiKey, timeout, retries: 0 };

/** Asserts that calls reject with a time-out. */
async function expectTimeouts(calls: Promise<unknown>[]): Promise<void> {
  for (const error of await failures(TimeoutError, calls)) {
    expect(error.code).toBe("timeout");
    expect(error.timeout).toBe(timeout);
  }
}

const drip: (status: number) => Responder = (status) => (_, response) => {
  response.writeHead(status);
  const timer = setInterval(() => response.write(" "), 20);
  response.on("close", () => clearInterval(timer));
};

const unfinished: [string, Responder][] = [
  ["no response comes", () => {}],
  ["the body does not come", (_, response) => {
    response.writeHead(200, { "content-length": "100" }).flushHeaders();
  }],
  ["the body drips without end", drip(200)],
  ["the body of an error drips without end", drip(500)],
];

for (const [kind, respond] of unfinished) {
  Deno.test(`methods time out when ${kind}`, async () => {
    await using server = await serve(respond);
    const client = createClient<AnyPath>({ baseUrl: server.url, ...options });
    await expectTimeouts(sendAll(client));
  });
}

Deno.test("methods time out while they connect", async () => {
  await using server = await serveSockets((socket) => socket.resume(), "https");
  const client = createClient<AnyPath>({ baseUrl: server.url, ...options });
  await expectTimeouts(sendAll(client));
});

Deno.test("methods time out after the timeout of a call", async () => {
  await using server = await serve(() => {});
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  await expectTimeouts(sendAll(client, { timeout }));
});

Deno.test("call() times out when a custom fetch ignores its signal", async () => {
  const { body, cancelled } = endlessBody(new Uint8Array(1), 20);
  const fetches = [
    () => new Promise<Response>(() => {}),
    () => Promise.resolve(new Response(body)),
  ];
  const calls = fetches.map((fetch) =>
    createClient({ baseUrl, fetch, ...options }).call("GET", "report")
  );
  await expectTimeouts(calls);
  await cancelled;
});

Deno.test("call() applies the time-out to each attempt", async () => {
  await using server = await serve((_, response, count) => {
    if (count === 3) json(response, { count });
  });
  const slow = { baseUrl: server.url, apiKey, timeout: 400 };
  const client = createClientWith(slow, createClock());
  expect(await client.call("GET", "report")).toEqual({ count: 3 });
});

Deno.test("methods time out when the function for the key does not end", async () => {
  const client = createClient<AnyPath>({
    ...options,
    baseUrl,
    apiKey: () => new Promise(() => {}),
    fetch: unusedFetch,
  });
  await expectTimeouts(sendAll(client));
});

// Bodies to send

type Source = (cancel: () => void) => UnderlyingDefaultSource | UnderlyingByteSource;

const pull = (chunk: unknown) => (controller: ReadableStreamDefaultController) =>
  controller.enqueue(chunk);

/** Streams without an end. */
const endlessSources: Record<string, Source> = {
  "never begins": (cancel) => ({ cancel }),
  "pauses": (cancel) => ({
    pull: async (controller: ReadableStreamDefaultController) => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      controller.enqueue(new Uint8Array(9));
    },
    cancel,
  }),
  "never pauses": (cancel) => ({ pull: pull(new Uint8Array(9)), cancel }),
  "never pauses and has no bytes": (cancel) => ({ pull: pull(new Uint8Array()), cancel }),
  "never pauses and is made of bytes": (cancel) => ({
    type: "bytes",
    pull: (controller: ReadableByteStreamController) => controller.enqueue(new Uint8Array(9)),
    cancel,
  }),
  "never pauses and ignores that it is cancelled": (cancel) => ({
    pull: pull(new Uint8Array(9)),
    cancel() {
      cancel();
      return new Promise(() => {});
    },
  }),
  "never pauses and throws when it is cancelled": (cancel) => ({
    pull: pull(new Uint8Array(9)),
    cancel() {
      cancel();
      throw new Error("It cannot be cancelled");
    },
  }),
};

/** Who sees the request in addition to the runtime. */
const observers: Record<string, object> = {
  "nobody": {},
  "middleware": { middleware: [{ onRequest: ({ request }: { request: Request }) => request }] },
  "a custom fetch": { fetch: unusedFetch },
};

/** Starts a call that sends a stream. */
function post(client: ScamAddressClient<AnyPath>, source: unknown, init: object = {}) {
  const bodySerializer = () => new ReadableStream(source as UnderlyingDefaultSource);
  return client.POST("/report", { body: {}, bodySerializer, duplex: "half", ...init } as never);
}

for (const [kind, source] of Object.entries(endlessSources)) {
  Deno.test(`POST() ends in time, and cancels the body to send, when it ${kind}`, async () => {
    await using server = await serve((_, response) => json(response, {}));
    const client = createClient<AnyPath>({ baseUrl: server.url, ...options });
    for (const observer of Object.values(observers)) {
      const { promise: cancelled, resolve } = deferred();
      await expectTimeouts([post(client, source(resolve), observer)]);
      await cancelled;
    }
    expect(server.requests).toEqual([]);
    if (/never pauses/.test(kind)) return; // no timer and no abort comes through
    for (const observer of Object.values(observers)) {
      const { promise: cancelled, resolve } = deferred();
      const signal = AbortSignal.timeout(20);
      const call = post(client, source(resolve), { ...observer, signal });
      expect(await caught(call)).toBe(signal.reason);
      await cancelled;
    }
  });
}

Deno.test("call() ends in time when middleware sends a body without end", async () => {
  const client = createClient<AnyPath>({ baseUrl, ...options, fetch: unusedFetch });
  const cancelled: Promise<void>[] = [];
  client.use({
    onRequest({ request }) {
      const { promise, resolve } = deferred();
      cancelled.push(promise);
      const source = endlessSources["never pauses"]!(resolve);
      const body = new ReadableStream(source as UnderlyingDefaultSource);
      return new Request(request.url, { method: "POST", body, duplex: "half" } as RequestInit);
    },
  });
  await expectTimeouts(sendAll(client));
  await Promise.all(cancelled);
  expect(cancelled.length).toBe(3);
});

Deno.test("POST() refuses a body to send that is too large, fails, or is not bytes", async () => {
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });
  const { promise: cancelled, resolve } = deferred();
  const cases: [UnderlyingDefaultSource, string][] = [
    [
      { pull: pull(new Uint8Array(2 ** 24)), cancel: () => resolve() },
      "must not be a stream of more than 100 MiB",
    ],
    [
      { pull: () => Promise.reject(new Error(`No ${apiKey}`)) },
      "cannot be read: No [redacted]",
    ],
    [{ pull: pull("text") }, "cannot be read: The body has a chunk that is not bytes"],
  ];
  for (const [source, problem] of cases) {
    const error = await failure(ConfigurationError, post(client, source));
    expect(error.message).toBe(`"body" ${problem}`);
    expect(error.option).toBe("body");
  }
  await cancelled;
});
