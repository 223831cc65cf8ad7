// A signal ends a call at any point of it, with its own reason, and leaves nothing behind.
import { expect } from "@std/expect";

import { type ClientOptions, createClient, type Middleware, NetworkError } from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { apiKey, baseUrl, sendAll, undocumented, unusedFetch } from "./client.ts";
import { createClock } from "./clock.ts";
import { deferred } from "./deferred.ts";
import { caught } from "./failure.ts";
import { type AnyPath, checkKeyStatus, json, serve, serveSockets, validKey } from "./server.ts";

type Client = ReturnType<typeof createClient<AnyPath>>;
type Init = { signal: AbortSignal };

/** Reasons of an abort, among them what looks like a failure of an attempt. */
const reasons = [undefined, new RangeError("The user left"), new NetworkError("No", {}), "stop"];

/** Makes a call with each method of a client. */
const callAll = (client: Client, init: Init) => [
  client.checkKey("some-key", init),
  ...sendAll(client, init),
];

/** A schema of a function that validates. */
const schemaOf = (validate: () => Promise<never>) =>
  ({ "~standard": { version: 1, vendor: "test", validate } }) as const;

Deno.test("methods reject with any reason of their signal, with and without middleware", async () => {
  let [retries, count] = [0, 0];
  let controller = new AbortController();
  await using server = await serve(() => {
    if (++count === 4) controller.abort(reasons[0]);
  });
  const options = { baseUrl: server.url, apiKey, onRetry: () => retries++ };
  const client = createClientWith<AnyPath>(options, createClock());
  for (const middleware of [[], [{ onRequest() {} }]]) {
    client.use(...middleware);
    for (const _reason of reasons) {
      [controller, count] = [new AbortController(), 0];
      const { signal } = controller;
      const errors = await Promise.all(callAll(client, { signal }).map(caught)); // under way
      errors.push(...await Promise.all(callAll(client, { signal }).map(caught))); // from the start
      expect(errors.map((error) => error === signal.reason)).toEqual(Array(8).fill(true));
      expect([retries, count]).toEqual([0, 4]);
      reasons.push(reasons.shift());
    }
  }
});

Deno.test("methods send nothing and call no function when the signal is aborted", async () => {
  const unused = () => {
    throw new Error("A function of the caller was called");
  };
  const options = { baseUrl, apiKey: unused, fetch: unusedFetch, onRetry: unused };
  const client = createClient<AnyPath>(options);
  const init = { signal: AbortSignal.abort("stop") };
  for (const middleware of [[], [{ onRequest: unused }]]) {
    client.use(...middleware);
    const schema = schemaOf(unused);
    const calls = [...callAll(client, init), client.call("GET", undocumented, { ...init, schema })];
    expect(await Promise.all(calls.map(caught))).toEqual(Array(5).fill("stop"));
  }
});

// What a call can wait for: `wait` never ends, and aborts the signal when all calls wait.

type Wait = () => Promise<never>;
type Calls = (client: Client, init: Init) => Promise<unknown>[];

const valid = () => Promise.resolve(Response.json(validKey, { status: checkKeyStatus }));
const unending = (wait: Wait) => new Response(new ReadableStream({ pull: wait }));
const limit = { status: 429, headers: { "retry-after": "60" } };
const limited = () => Promise.resolve(new Response(null, limit));
const stream = (wait: Wait) => ({ method: "POST", body: unending(wait).body, duplex: "half" });

type Waiting = Partial<ClientOptions> & { hooks?: Middleware; calls?: Calls };

const waits: [string, (wait: Wait) => Waiting][] = [
  ["a custom fetch", (wait) => ({ fetch: wait })],
  ["the body of a response", (wait) => ({ fetch: async () => await unending(wait) })],
  ["onRetry", (wait) => ({ fetch: limited, onRetry: wait })],
  ["the next attempt", (wait) => ({ fetch: limited, onRetry: () => void wait() })],
  ["onRequest", (wait) => ({ hooks: { onRequest: wait } })],
  ["onResponse", (wait) => ({ hooks: { onResponse: wait } })],
  ["onError", (wait) => ({ fetch: () => Promise.reject(), retries: 0, hooks: { onError: wait } })],
  ["the body of a hook's response", (wait) => ({ hooks: { onResponse: () => unending(wait) } })],
  ["the body of a hook's request", (wait) => ({
    hooks: { onRequest: ({ request: { url } }) => new Request(url, stream(wait)) },
  })],
  ["the function for the key", (apiKey) => ({ apiKey, calls: sendAll })],
  ["a schema", (validate) => ({
    calls: (client, init) => [
      client.call("GET", undocumented, { ...init, schema: schemaOf(validate) }),
    ],
  })],
  ["a stream to send", (wait) => ({
    fetch: unusedFetch,
    calls: (client, init) => {
      const { body, duplex } = stream(wait);
      const bodySerializer = () => body;
      return [client.POST(`/${undocumented}`, { ...init, body: {}, duplex, bodySerializer })];
    },
  })],
];

for (const [kind, create] of waits) {
  Deno.test(`a signal ends calls that wait for ${kind}`, async () => {
    const controller = new AbortController();
    const calls: Promise<unknown>[] = [];
    let waiting = 0;
    const stop = () => {
      if (waiting === calls.length) setTimeout(() => controller.abort("stop"));
    };
    const wait = () => {
      waiting++;
      stop();
      return new Promise<never>(() => {});
    };
    const { calls: start = callAll, hooks, ...options } = create(wait);
    const client = createClient<AnyPath>({ baseUrl, apiKey, fetch: valid, ...options });
    if (hooks) client.use(hooks);
    calls.push(...start(client, { signal: controller.signal }));
    stop(); // All may wait already.
    expect(await Promise.all(calls.map(caught))).toEqual(calls.map(() => "stop"));
  });
}

Deno.test("a signal ends calls that connect, or wait for a response or its body", async () => {
  let controller = new AbortController();
  let count = 0;
  const abort = () => void (++count === 4 && controller.abort("stop"));
  const closed = Array.from({ length: 8 }, () => deferred());
  await using connecting = await serveSockets((socket) => socket.on("data", abort), "https");
  await using silent = await serve((_, response, count) => {
    response.on("close", closed[count - 1]!.resolve);
    abort();
  });
  await using partial = await serve((_, response) => void response.write("[1,", abort));
  const { signal } = new AbortController();
  const middleware = {
    onRequest: ({ request }: { request: Request }) => new Request(request, { signal }),
  };
  for (const { url } of [connecting, silent, partial]) {
    const client = createClient<AnyPath>({ baseUrl: url, apiKey });
    for (const hooks of [[], [middleware]]) {
      [controller, count] = [new AbortController(), 0];
      client.use(...hooks);
      const errors = await Promise.all(callAll(client, { signal: controller.signal }).map(caught));
      expect(errors).toEqual(Array(4).fill("stop"));
    }
  }
  await Promise.all(closed.map(({ promise }) => promise)); // the connections
});

Deno.test("methods follow the signal of a request that middleware made", async () => {
  for (const fetch of [undefined, (request: Request) => globalThis.fetch(request)]) {
    for (const signal of [null, new AbortController().signal]) {
      const controller = new AbortController();
      await using server = await serve(() => controller.abort("stop"));
      const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, fetch });
      const own = { signal: controller.signal };
      client.use({ onRequest: ({ request }) => new Request(request, own) });
      expect(await caught(client.checkOwnKey({ signal }))).toBe("stop"); // under way
      const errors = await Promise.all(sendAll(client, { signal }).map(caught)); // from the start
      expect([...errors, server.requests.length]).toEqual(["stop", "stop", "stop", 1]);
    }
  }
});

Deno.test("calls leave no listener on the signal that they share", async () => {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  for (const [name, change] of [["addEventListener", "add"], ["removeEventListener", "delete"]]) {
    const original = signal[name as "addEventListener"];
    signal[name as "addEventListener"] = (type: string, listener: unknown) => {
      listeners[change as "add"](listener);
      original.call(signal, type, listener as EventListener);
    };
  }
  let most = 0;
  await using server = await serve(({ url }, response, count) => {
    most = Math.max(most, listeners.size);
    if (url === "/hang") return;
    if (url === "/reset" || count % 5 === 0) return void response.socket!.destroy();
    json(response, validKey, url === "/missing" ? 404 : checkKeyStatus);
  });
  const options = { baseUrl: server.url, apiKey: () => apiKey };
  const client = createClientWith<AnyPath>(options, createClock());
  const middleware: Middleware = { onRequest: ({ request }) => new Request(request) };
  for (const hooks of [[], [middleware]]) {
    client.use(...hooks);
    await Promise.allSettled([
      ...callAll(client, { signal }),
      client.GET("/missing", { signal }),
      client.GET("/reset", { signal }),
      client.GET("/hang", { signal, timeout: 100, retries: 0 }),
      client.call("GET", "../up", { signal }),
    ]);
  }
  expect(most).toBeGreaterThan(0);
  expect(listeners.size).toBe(0);
});

Deno.test("a signal ends the reading of a request's stream", async () => {
  const { promise: cancelled, resolve: cancel } = deferred();
  const controller = new AbortController();
  const bodySerializer = () =>
    new ReadableStream({
      pull(stream) {
        stream.enqueue(new Uint8Array(1));
        controller.abort("stop");
      },
      cancel: () => cancel(),
    });
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });
  const init = { body: {}, bodySerializer, duplex: "half" as const, signal: controller.signal };
  expect(await caught(client.POST(`/${undocumented}`, init))).toBe("stop");
  await cancelled;
});
