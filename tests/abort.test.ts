// A signal ends a call at any point of it, with its own reason, and leaves nothing behind.
import { expect } from "@std/expect";

import { type ClientOptions, createClient, type Middleware, NetworkError } from "../mod.ts";
import { apiKey, baseUrl, sendAll, testBothWays, undocumented, unsent } from "./support/client.ts";
import { replaceWaiting } from "./support/waiting.ts";
import { deferred } from "./support/deferred.ts";
import { caught } from "./support/rejection.ts";
import {
  type AnyPath,
  checkKeyStatus,
  cut,
  json,
  serve,
  serveSockets,
  validKey,
} from "./support/server.ts";

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

testBothWays("methods reject with any reason of their signal", async (create) => {
  let [retries, count] = [0, 0];
  let controller = new AbortController();
  await using server = await serve(() => {
    if (++count === 4) controller.abort(reason);
  });
  const options = { baseUrl: server.url, apiKey, onRetry: () => retries++ };
  using _waiting = replaceWaiting();
  const client = create(options);
  let reason: unknown;
  for (reason of reasons) {
    [controller, count] = [new AbortController(), 0];
    const { signal } = controller;
    const errors = await Promise.all(callAll(client, { signal }).map(caught)); // under way
    errors.push(...await Promise.all(callAll(client, { signal }).map(caught))); // from the start
    expect(errors.map((error) => error === signal.reason)).toEqual(Array(8).fill(true));
    expect([retries, count]).toEqual([0, 4]);
  }
});

Deno.test("methods send nothing and call no function when the signal is aborted", async () => {
  let called = 0;
  const unused = () => {
    called++;
    throw new Error("A function of the caller was called");
  };
  const options = { baseUrl, apiKey: unused, fetch: unused, onRetry: unused };
  const client = createClient<AnyPath>(options);
  const init = { signal: AbortSignal.abort("stop") };
  for (const middleware of [[], [{ onRequest: unused }]]) {
    client.use(...middleware);
    const schema = schemaOf(unused);
    const calls = [...callAll(client, init), client.call("GET", undocumented, { ...init, schema })];
    expect(await Promise.all(calls.map(caught))).toEqual(Array(5).fill("stop"));
  }
  expect(called).toBe(0);
});

// What a call can wait for: `wait` stands for it, and never ends.

type Wait = () => Promise<never>;

const valid = () => Promise.resolve(Response.json(validKey, { status: checkKeyStatus }));
const limit = { status: 429, headers: { "retry-after": "60" } };
const limited = () => Promise.resolve(new Response(null, limit));
const streamOf = (pull: Wait) => new ReadableStream({ pull });

/** Makes a call with each method of a client, which may have middleware. */
function callWith(init: Init, options: Partial<ClientOptions>, middleware?: Middleware) {
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch: valid, ...options });
  if (middleware) client.use(middleware);
  return callAll(client, init);
}

const known = createClient<AnyPath>({ baseUrl, apiKey, fetch: valid });

const calls: Record<string, (wait: Wait, init: Init) => Promise<unknown>[]> = {
  "a custom fetch": (fetch, init) => callWith(init, { fetch }),
  "the body of a response": (wait, init) =>
    callWith(init, { fetch: () => Promise.resolve(new Response(streamOf(wait))) }),
  "onRetry": (onRetry, init) => callWith(init, { fetch: limited, onRetry }),
  "the next attempt": (wait, init) =>
    callWith(init, { fetch: limited, onRetry: () => void wait() }),
  "onRequest": (onRequest, init) => callWith(init, {}, { onRequest }),
  "the function for the key": (apiKey, init) =>
    sendAll(createClient<AnyPath>({ baseUrl, apiKey, fetch: valid }), init),
  "a schema": (validate, init) => [
    known.call("GET", undocumented, { ...init, schema: schemaOf(validate) }),
  ],
  "a stream to send": (wait, init) => {
    const bodySerializer = () => streamOf(wait);
    const streamed = { ...init, body: {}, bodySerializer, duplex: "half" as const };
    return [unsent.POST(`/${undocumented}`, streamed)];
  },
};

for (const [kind, start] of Object.entries(calls)) {
  Deno.test(`a signal ends calls that wait for ${kind}`, async () => {
    const controller = new AbortController();
    let waiting = 0;
    const wait = () => {
      waiting++;
      return new Promise<never>(() => {});
    };
    const begun = start(wait, { signal: controller.signal });
    const ends = Promise.all(begun.map(caught));
    for (let turn = 0; turn < 1_000 && waiting < begun.length; turn++) {
      await new Promise((resolve) => setTimeout(resolve));
    }
    controller.abort("stop");
    expect([waiting, await ends]).toEqual([begun.length, begun.map(() => "stop")]);
  });
}

testBothWays("a signal ends calls that connect, or wait for a response", async (create) => {
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
  const replacing: Middleware = { onRequest: ({ request }) => new Request(request, { signal }) };
  for (const { url } of [connecting, silent, partial]) {
    const client = create({ baseUrl: url, apiKey });
    for (const middleware of [[], [replacing]]) {
      client.use(...middleware);
      [controller, count] = [new AbortController(), 0];
      const calls = callAll(client, { signal: controller.signal });
      expect(await Promise.all(calls.map(caught))).toEqual(Array(4).fill("stop"));
    }
  }
  const stopped = Date.now();
  await Promise.all(closed.map(({ promise }) => promise)); // the connections
  expect(Date.now() - stopped).toBeLessThan(10_000); // long before the server closes them
});

testBothWays("methods follow the signal of a request that middleware made", async (create) => {
  for (const signal of [null, new AbortController().signal]) {
    const controller = new AbortController();
    await using server = await serve(() => controller.abort("stop"));
    const client = create({ baseUrl: server.url, apiKey, retries: 0 }); // a retry would notice it
    const own = { signal: controller.signal };
    client.use({ onRequest: ({ request }) => new Request(request, own) });
    expect(await caught(client.checkOwnKey({ signal }))).toBe("stop"); // under way
    const errors = await Promise.all(sendAll(client, { signal }).map(caught)); // from the start
    expect([...errors, server.requests.length]).toEqual(["stop", "stop", "stop", 1]);
  }
});

testBothWays(
  "the signal of a request that middleware made ends a wait for onRetry",
  async (create) => {
    await using server = await serve((_, response) => void response.writeHead(429).end());
    const controller = new AbortController();
    let waiting = 0;
    const onRetry = () => {
      if (++waiting === 3) controller.abort("stop");
      return new Promise<never>(() => {});
    };
    const client = create({ baseUrl: server.url, apiKey, onRetry });
    client.use({ onRequest: ({ request }) => new Request(request, { signal: controller.signal }) });
    expect(await Promise.all(sendAll(client).map(caught))).toEqual(Array(3).fill("stop"));
  },
);

Deno.test("the signal of an attempt is aborted when it has failed, and not when it succeeds", async () => {
  await using server = await serve(({ url }, response, count) => {
    if (url === "/cut" && count === 1) return cut(response);
    if (url === "/hang") return void response.write("[");
    if (url === "/large") return json(response, "x".repeat(2 ** 17), 400); // more than some read
    json(response, validKey, checkKeyStatus);
  });
  const signals: AbortSignal[] = [];
  const custom = (request: Request) => {
    signals.push(request.signal);
    return fetch(request);
  };
  const options = { baseUrl: server.url, apiKey, fetch: custom };
  using _waiting = replaceWaiting();
  const client = createClient<AnyPath>(options);
  /** Whether the signals of the attempts of a call are aborted, some time after it. */
  const aborted = async (call: () => Promise<unknown>) => {
    signals.length = 0;
    await call().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 20));
    return signals.map(({ aborted }) => aborted);
  };
  const onRequest = ({ request }: { request: Request }) => void signals.push(request.signal);
  for (const middleware of [[], [{ onRequest }]]) {
    const seen = middleware.map(() => false);
    for (const signal of [null, new AbortController().signal]) {
      const init = { signal, middleware };
      server.requests.length = 0;
      expect(await aborted(() => client.GET("/cut", init))).toEqual([...seen, true, false]);
      const hanging = { ...init, timeout: 50, retries: 0 };
      expect((await aborted(() => client.GET("/hang", hanging))).at(-1)).toBe(true);
      for (const parseAs of ["json", "text", "stream"] as const) {
        expect(await aborted(() => client.GET("/a", { ...init, parseAs })))
          .toEqual([...seen, false]);
      }
    }
  }
  expect(await aborted(() => client.checkOwnKey())).toEqual([false]);
  expect(await aborted(() => client.GET("/large"))).toEqual([false]);
  const small = createClient<AnyPath>({ ...options, maxResponseBytes: 3 });
  expect(await aborted(() => small.call("GET", undocumented))).toEqual([true]);
});
