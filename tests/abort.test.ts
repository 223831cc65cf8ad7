// A signal ends a call at any point of it, with its own reason.
import { expect } from "@std/expect";

import { type ClientOptions, createClient, type Middleware } from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { apiKey, baseUrl, sendAll, undocumented, unusedFetch } from "./client.ts";
import { createClock } from "./clock.ts";
import { caught, deferred } from "./outcome.ts";
import { type AnyPath, checkKeyStatus, json, serve, serveSockets, validKey } from "./server.ts";
import { observedSignal, reasons } from "./signals.ts";

type Client = ReturnType<typeof createClient<AnyPath>>;
type Init = { signal: AbortSignal };

/** Makes a call with each method of a client. */
const callAll = (client: Client, init: Init) => [
  client.checkKey("some-key", init),
  ...sendAll(client, init),
];

for (const middleware of [[], [{ onRequest() {} }]]) {
  const kind = middleware.length ? "with" : "without";
  Deno.test(`methods reject with any reason of their signal, ${kind} middleware`, async () => {
    for (const reason of [undefined, ...reasons]) {
      let retries = 0;
      const controller = new AbortController();
      const { signal } = controller;
      await using server = await serve((_, _response, count) => {
        if (count === 4) controller.abort(reason);
      });
      const options = { baseUrl: server.url, apiKey, onRetry: () => retries++ };
      const client = createClientWith<AnyPath>(options, createClock());
      client.use(...middleware);
      const errors = await Promise.all(callAll(client, { signal }).map(caught)); // under way
      errors.push(...await Promise.all(callAll(client, { signal }).map(caught))); // from the start
      for (const error of errors) expect(error).toBe(signal.reason);
      expect([errors.length, retries, server.requests.length]).toEqual([8, 0, 4]);
    }
  });
}

Deno.test("methods send nothing and call no function when the signal is aborted", async () => {
  const unused = () => {
    throw new Error("A function of the caller was called");
  };
  const options = { baseUrl, apiKey: unused, fetch: unusedFetch, onRetry: unused };
  const client = createClient<AnyPath>(options);
  const schema = { "~standard": { version: 1, vendor: "test", validate: unused } } as const;
  for (const middleware of [[], [{ onRequest: unused }]]) {
    client.use(...middleware);
    const signal = AbortSignal.abort("stop");
    const calls = [
      ...callAll(client, { signal }),
      client.call("GET", undocumented, { signal, schema }),
    ];
    expect(await Promise.all(calls.map(caught))).toEqual(Array(5).fill("stop"));
  }
});

// What a call can wait for: `wait` never ends, and aborts the signal when all calls wait.

type Wait = () => Promise<never>;
type Waiting = { options?: Partial<ClientOptions>; middleware?: Middleware };

/** Makes calls that wait, and asserts that all of them reject with the signal's reason. */
async function expectAborts(
  count: number,
  create: (wait: Wait) => Waiting,
  call: (client: Client, init: Init, wait: Wait) => Promise<unknown>[],
) {
  const controller = new AbortController();
  let waiting = 0;
  const wait = () => {
    if (++waiting === count) setTimeout(() => controller.abort("stop"));
    return new Promise<never>(() => {});
  };
  const { options, middleware } = create(wait);
  const fetch = () => Promise.resolve(Response.json(validKey, { status: checkKeyStatus }));
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch, ...options });
  if (middleware) client.use(middleware);
  const calls = call(client, { signal: controller.signal }, wait);
  expect(await Promise.all(calls.map(caught))).toEqual(Array(count).fill("stop"));
}

const unending = (wait: Wait) => new Response(new ReadableStream({ pull: wait }));
const limited = () => new Response(null, { status: 429, headers: { "retry-after": "60" } });
const failing = () => Promise.reject();

const waits: Record<string, (wait: Wait) => Waiting> = {
  "a custom fetch": (wait) => ({ options: { fetch: wait } }),
  "the body of a response": (wait) => ({ options: { fetch: async () => await unending(wait) } }),
  "onRetry": (wait) => ({ options: { fetch: failing, onRetry: wait } }),
  "the next attempt": (wait) => ({
    options: { fetch: async () => await limited(), onRetry: () => void wait() },
  }),
  "onRequest": (wait) => ({ middleware: { onRequest: wait } }),
  "onResponse": (wait) => ({ middleware: { onResponse: wait } }),
  "onError": (wait) => ({ options: { fetch: failing, retries: 0 }, middleware: { onError: wait } }),
  "the body of middleware's response": (wait) => ({
    middleware: { onResponse: () => unending(wait) },
  }),
  "the body of middleware's request": (wait) => ({
    middleware: {
      onRequest({ request: { url } }) {
        const init = { method: "POST", body: unending(wait).body, duplex: "half" };
        return new Request(url, init);
      },
    },
  }),
};

for (const [kind, create] of Object.entries(waits)) {
  Deno.test(`a signal ends calls that wait for ${kind}`, async () => {
    await expectAborts(4, create, callAll);
  });
}

Deno.test("a signal ends calls that wait for the function for the key", async () => {
  await expectAborts(3, (apiKey) => ({ options: { apiKey } }), sendAll);
});

Deno.test("a signal ends a call that waits for a schema", async () => {
  await expectAborts(1, () => ({}), (client, init, validate) => {
    const schema = { "~standard": { version: 1, vendor: "test", validate } } as const;
    return [client.call("GET", undocumented, { ...init, schema })];
  });
});

Deno.test("a signal ends calls that wait for a stream to send", async () => {
  for (const options of [{ fetch: undefined }, { fetch: unusedFetch }]) {
    await expectAborts(2, () => ({ options }), (client, init, wait) => {
      const bodySerializer = () => unending(wait).body;
      const given = { ...init, body: {}, bodySerializer, duplex: "half" };
      const path = `/${undocumented}`;
      return [client.POST(path, given), client.POST(path, { ...given, parseAs: "text" })];
    });
  }
});

Deno.test("a signal ends calls that connect, or read a body from the network", async () => {
  let controller = new AbortController();
  let count = 0;
  const abort = () => void (++count === 4 && controller.abort("stop"));
  await using silent = await serveSockets((socket) => socket.on("data", abort), "https");
  await using partial = await serve((_, response) => void response.write("[1,", abort));
  for (const { url } of [silent, partial]) {
    controller = new AbortController();
    count = 0;
    const client = createClient<AnyPath>({ baseUrl: url, apiKey });
    const errors = await Promise.all(callAll(client, { signal: controller.signal }).map(caught));
    expect(errors).toEqual(Array(4).fill("stop"));
  }
});

Deno.test("call() closes the connection of a request that is aborted", async () => {
  const controller = new AbortController();
  const { promise: closed, resolve } = deferred();
  await using server = await serve((_, response) => {
    response.on("close", resolve);
    controller.abort("stop");
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  const { signal } = controller;
  expect(await caught(client.call("GET", undocumented, { signal }))).toBe("stop");
  await closed;
});

Deno.test("methods obey the signal of a request that middleware made", async () => {
  for (const reason of ["stop", 0]) {
    const controller = new AbortController();
    await using server = await serve(() => controller.abort(reason));
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    client.use({
      onRequest: ({ request }) => new Request(request, { signal: controller.signal }),
    });
    expect(await caught(client.checkOwnKey())).toBe(reason); // under way
    const calls = sendAll(client); // from the start
    expect(await Promise.all(calls.map(caught))).toEqual([reason, reason, reason]);
    expect(server.requests.length).toBe(1);
  }
});

Deno.test("calls have one listener on the signal that they share, and leave none", async () => {
  const { signal, listeners } = observedSignal();
  let most = 0;
  await using server = await serve(({ url }, response, count) => {
    most = Math.max(most, listeners.size);
    if (url === "/hang") return;
    if (url === "/reset" || count % 5 === 0) return void response.socket!.destroy();
    json(response, validKey, url === "/missing" ? 404 : 200);
  });
  const options = { baseUrl: server.url, apiKey: () => apiKey };
  const client = createClientWith<AnyPath>(options, createClock());
  const middleware = [{
    onRequest: ({ request }: { request: Request }) => new Request(request),
    onResponse: ({ response }: { response: Response }) => new Response(response.body, response),
  }];
  const inits = [
    {},
    { fetch: (request: Request) => fetch(request) },
    ...["json", "text", "stream"].map((parseAs) => ({ parseAs, middleware })),
  ];
  const calls = inits.flatMap((init) => [
    ...sendAll(client, { signal }),
    client.GET("/missing", { ...init, signal } as never),
    client.GET("/reset", { ...init, signal } as never),
    client.GET("/hang", { ...init, signal, timeout: 100, retries: 0 } as never),
    client.call("GET", "../up", { signal }),
  ]);
  await Promise.allSettled(calls);
  expect(most).toBe(1);
  expect(listeners.size).toBe(0);
});
