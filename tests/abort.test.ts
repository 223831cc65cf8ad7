import { expect } from "@std/expect";

import { createClient, NetworkError } from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { apiKey, baseUrl, sendAll, unusedFetch } from "./client.ts";
import { createClock } from "./clock.ts";
import { caught, deferred } from "./outcome.ts";
import { type AnyPath, json, serve, serveSockets, validKey } from "./server.ts";
import { legacySignal, observedSignal } from "./signals.ts";

const reasons: [string, (controller: AbortController) => void][] = [
  ["none", (controller) => controller.abort()],
  ["an error", (controller) => controller.abort(new RangeError("The user left"))],
  ["a string", (controller) => controller.abort("The user left")],
  ["null", (controller) => controller.abort(null)],
  ["zero", (controller) => controller.abort(0)],
  ["one of our errors", (controller) => controller.abort(new NetworkError("Not from here"))],
];

for (const [kind, abort] of reasons) {
  Deno.test(`call() rejects with the signal's reason when it is ${kind}`, async () => {
    const controller = new AbortController();
    const { signal } = controller;
    await using server = await serve(() => abort(controller));
    let retries = 0;
    const client = createClient({ baseUrl: server.url, apiKey, onRetry: () => retries++ });
    const call = () => client.call("GET", "report", { signal });
    expect(await caught(call())).toBe(signal.reason); // under way
    expect(await caught(call())).toBe(signal.reason); // from the start
    expect(retries).toBe(0);
    expect(server.requests.length).toBe(1);
    if (kind === "none") expect(signal.reason.name).toBe("AbortError");
  });
}

Deno.test("methods send nothing and call no key function when the signal is aborted", async () => {
  const client = createClient<AnyPath>({
    baseUrl,
    apiKey() {
      throw new Error("The function for the key was called");
    },
    fetch: unusedFetch,
  });
  const signal = AbortSignal.abort("stop");
  const calls = [client.checkKey("key", { signal }), ...sendAll(client, { signal })];
  expect(await Promise.all(calls.map(caught))).toEqual(["stop", "stop", "stop", "stop"]);
});

Deno.test("call() rejects when it is aborted while it connects", async () => {
  const controller = new AbortController();
  await using server = await serveSockets((socket) => {
    socket.on("data", () => controller.abort("stop"));
  }, "https");
  const client = createClient({ baseUrl: server.url, apiKey });
  expect(await caught(client.call("GET", "report", { signal: controller.signal }))).toBe("stop");
});

Deno.test("call() rejects when it is aborted in the middle of the body", async () => {
  await using server = await serve((_, response) => void response.write("[1,"));
  const controller = new AbortController();
  const client = createClient({
    baseUrl: server.url,
    apiKey,
    async fetch(request) {
      const response = await fetch(request);
      setTimeout(() => controller.abort("stop"), 20);
      return response;
    },
  });
  expect(await caught(client.call("GET", "report", { signal: controller.signal }))).toBe("stop");
});

Deno.test("call() rejects when it is aborted while the function for the key runs", async () => {
  const controller = new AbortController();
  const client = createClient({
    baseUrl,
    apiKey() {
      setTimeout(() => controller.abort("stop"), 10);
      return new Promise(() => {});
    },
    fetch: unusedFetch,
  });
  expect(await caught(client.call("GET", "report", { signal: controller.signal }))).toBe("stop");
});

Deno.test("call() closes the connection of a request that is aborted", async () => {
  const controller = new AbortController();
  const { promise: closed, resolve } = deferred();
  await using server = await serve((_, response) => {
    response.on("close", resolve);
    controller.abort("stop");
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  expect(await caught(client.call("GET", "report", { signal: controller.signal }))).toBe("stop");
  await closed;
});

Deno.test("methods obey the signal of a request that middleware made", async () => {
  const controller = new AbortController();
  await using server = await serve(() => controller.abort("stop"));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  client.use({
    onRequest: ({ request }) => new Request(request, { signal: controller.signal }),
  });
  expect(await caught(client.checkKey())).toBe("stop"); // under way
  const calls = sendAll(client); // from the start
  expect(await Promise.all(calls.map(caught))).toEqual(["stop", "stop", "stop"]);
  expect(server.requests.length).toBe(1);
});

Deno.test("methods obey a signal of a library that says no reason", async () => {
  await using server = await serve(() => {});
  const client = createClientWith<AnyPath>({ baseUrl: server.url, apiKey }, createClock());
  for (const middleware of [[], [{ onRequest() {} }]]) {
    client.use(...middleware);
    const { signal, abort } = legacySignal();
    setTimeout(abort, 20);
    const errors = await Promise.all(sendAll(client, { signal }).map(caught)); // under way
    errors.push(...await Promise.all(sendAll(client, { signal }).map(caught))); // from the start
    expect(errors.map((error) => (error as Error).name)).toEqual(Array(6).fill("AbortError"));
  }
});

Deno.test("methods leave no listener on a signal", async () => {
  const { signal, listeners } = observedSignal();
  const during: number[] = [];
  await using server = await serve(({ url }, response, count) => {
    during.push(listeners.size);
    if (url === "/hang") return;
    if (url === "/reset" || count % 2) return void response.socket!.destroy();
    json(response, validKey);
  });
  const options = { baseUrl: server.url, apiKey: () => apiKey };
  const client = createClientWith<AnyPath>(options, createClock());
  await client.checkKey({ signal });
  await client.call("GET", "again", { signal });
  await client.GET("/again", { signal });
  expect(during).toEqual([1, 1, 1, 1, 1, 1]);
  await caught(client.call("GET", "reset", { signal }));
  await caught(client.call("GET", "hang", { signal, timeout: 50, retries: 1 }));
  await caught(client.call("GET", "../up", { signal }));
  expect(listeners.size).toBe(0);
});

Deno.test("calls at the same time have one listener on the signal that they share", async () => {
  const { signal, listeners } = observedSignal();
  let most = 0;
  await using server = await serve(({ url }, response) => {
    most = Math.max(most, listeners.size);
    if (url === "/hang") return;
    json(response, validKey, url === "/missing" ? 404 : 200);
  });
  class OwnRequest extends Request {}
  const middleware = [{
    onRequest: ({ request }: { request: Request }) => new Request(request),
    onResponse: ({ response }: { response: Response }) => new Response(response.body, response),
  }];
  const inits = [
    {},
    { middleware },
    { Request: OwnRequest },
    { fetch: (request: Request) => fetch(request) },
    ...["text", "blob", "arrayBuffer", "stream"].map((parseAs) => ({ parseAs, middleware })),
  ];
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const calls = inits.flatMap((init) => [
    ...sendAll(client, { signal }),
    client.GET("/report", { ...init, signal } as never),
    client.GET("/missing", { ...init, signal } as never),
    caught(client.GET("/hang", { ...init, signal, timeout: 200, retries: 0 } as never)),
  ]);
  await Promise.all(calls);
  expect(most).toBe(1);
  expect(listeners.size).toBe(0);
});

Deno.test("an abort ends all calls that share the signal", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  let count = 0;
  await using server = await serve(() => {
    if (++count === 40) controller.abort("stop");
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const middleware = [{ onRequest() {} }];
  const calls = Array.from({ length: 20 }, () => [
    client.call("GET", "report", { signal }),
    client.GET("/report", { signal, middleware }),
  ]).flat();
  expect(await Promise.all(calls.map(caught))).toEqual(Array(40).fill("stop"));
});
