// An attempt ends within timeout and a call within totalTimeout, a body is no larger than
// maxResponseBytes, a signal ends a call at any point, and what has ended leaves nothing behind.
// tests/process has what only a process can show: memory, and connections that are left.
import { expect } from "@std/expect";
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";

import {
  HttpError,
  InvalidResponseError,
  type Middleware,
  NetworkError,
  TimeoutError,
} from "../mod.ts";
import {
  apiKey,
  bothWays,
  callEveryWay,
  clientAt,
  clientOf,
  isDeno,
  schemaOf,
  undocumented,
} from "./support/client.ts";
import { deferred } from "./support/deferred.ts";
import { caught, rejection, rejections } from "./support/rejection.ts";
import { cut, json, serve, serveBytes, serveSockets, validKey } from "./support/server.ts";
import { replaceWaiting } from "./support/waiting.ts";

/** Waits until what is already due has happened. */
const turn = () => new Promise((resolve) => setTimeout(resolve));

const valid = () => Response.json(validKey);

// timeout and totalTimeout

for (const limit of ["timeout", "totalTimeout"] as const) {
  Deno.test(`${limit} ends calls at any point, as the client or the call says`, async () => {
    await using connecting = await serveSockets((socket) => socket.resume(), "https");
    await using server = await serve(({ headers }, response) => {
      const point = headers["x-point"];
      if (point === "response") return;
      response.writeHead(point === "error" ? 500 : 200, { "content-length": "100" }).flushHeaders();
      if (point === "body") return;
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    });
    const time = { [limit]: 100, ...limit === "timeout" && { retries: 0 } };
    const calls = ["connect", "response", "body", "drip", "error"].flatMap((point) => {
      const baseUrl = point === "connect" ? connecting.url : server.url;
      const options = { baseUrl, apiKey, headers: { "x-point": point } };
      return bothWays.flatMap((create) => [
        ...callEveryWay(create({ ...options, ...time })),
        ...callEveryWay(create(options), time),
      ]);
    });
    for (const { code, isTemporary, timeout } of await rejections(TimeoutError, calls)) {
      expect([code, isTemporary, timeout]).toEqual(["timeout", true, 100]);
    }
    expect(server.requests.length).toBeLessThanOrEqual(calls.length); // None is sent again.
  });
}

Deno.test("timeout is 30 s by default", async () => {
  const { setTimeout } = globalThis;
  using _timers = { [Symbol.dispose]: () => void (globalThis.setTimeout = setTimeout) };
  globalThis.setTimeout = ((end: () => void) => setTimeout(end)) as typeof setTimeout;
  const client = clientOf(() => new Promise(() => {}), { retries: 0 });
  expect((await rejection(TimeoutError, client.GET("/a"))).timeout).toBe(30_000);
});

Deno.test("a wait that would not end within totalTimeout is not begun", async () => {
  const headers = { "retry-after": "5" };
  let [sent, retries] = [0, 0];
  const unavailable = () => (sent++, new Response("", { status: 503, headers }));
  const options = { totalTimeout: 4_000, onRetry: () => void retries++ };
  const client = clientOf(unavailable, options);
  const { response } = await rejection(HttpError, client.call("GET", undocumented));
  expect(response.status).toBe(503);
  expect((await client.GET(`/${undocumented}`)).response.status).toBe(503);
  expect([sent, retries]).toEqual([2, 0]);
});

// signal and totalTimeout, while a function of the caller's hangs

// deno-lint-ignore no-explicit-any -- it stands for functions with all kinds of results
type Wait = () => Promise<any>;
type Init = { signal: AbortSignal } | { totalTimeout: number };

/**
 * Makes the calls that wait for each function of the caller's. `fetch` responds to the others, and
 * `seen` gets the signals that middleware sees.
 */
function callWhileEachFunctionHangs(
  wait: Wait,
  init: Init,
  fetch: () => Response,
  seen: AbortSignal[],
) {
  const with429 = () => (fetch(), new Response(null, { status: 429 }));
  const hanging = (middleware: Middleware) => {
    const client = clientOf(fetch);
    client.use(middleware);
    return callEveryWay(client, init);
  };
  return [
    ...callEveryWay(clientOf(fetch, { apiKey: wait }), init),
    ...callEveryWay(clientOf(wait), init),
    ...callEveryWay(clientOf(() => new Response(new ReadableStream({ pull: wait }))), init),
    ...callEveryWay(clientOf(with429, { onRetry: wait }), init),
    ...hanging({
      async onRequest({ request }) {
        seen.push(request.signal);
        await wait();
        return new Request(request.url, { method: request.method }); // It lacks the call's signal.
      },
    }),
    ...hanging({ onResponse: wait }),
    clientOf(fetch).call("GET", undocumented, { ...init, schema: schemaOf(wait) }),
    ...hanging({
      onRequest({ request: { url } }) {
        const body = new ReadableStream({ pull: wait });
        return new Request(url, { method: "POST", body, duplex: "half" } as RequestInit);
      },
    }),
  ];
}

for (const limit of ["signal", "totalTimeout"] as const) {
  Deno.test(`${limit} ends calls while a function of the caller's hangs, and nothing is sent later`, async () => {
    const controller = new AbortController();
    const released = deferred<unknown>();
    let [waiting, sent] = [0, 0];
    const wait = () => (waiting++, released.promise);
    const { signal } = controller;
    const init = limit === "signal" ? { signal } : { totalTimeout: 1_500 };
    const seen: AbortSignal[] = [];
    const calls = callWhileEachFunctionHangs(wait, init, () => (sent++, valid()), seen);
    const ends = Promise.all(calls.map(caught));
    if (limit === "signal") {
      for (let count = 0; count < 1_000 && waiting < calls.length; count++) await turn();
      controller.abort("stop");
    }
    const expected = limit === "signal" ? "stop" : 1_500;
    for (const end of await ends) {
      expect(end instanceof TimeoutError ? end.timeout : end).toBe(expected);
    }
    expect(waiting).toBe(calls.length);
    expect(seen.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    const before = sent;
    // Nobody waits for it any longer. A rejection that nobody handles would end the tests.
    released.resolve(limit === "signal" ? apiKey : Promise.reject(new Error("late")));
    for (let count = 0; count < 20; count++) await turn();
    expect(sent).toBe(before);
  });
}

// signal

Deno.test("methods reject with any reason of their signal, and send nothing more", async () => {
  // The NetworkError looks like a failure of an attempt.
  const reasons = [undefined, new RangeError("The user left"), new NetworkError("No", {}), "stop"];
  let [retries, count] = [0, 0];
  let controller = new AbortController();
  let reason: unknown;
  await using server = await serve(() => {
    if (++count === 3) controller.abort(reason);
  });
  for (const create of bothWays) {
    const client = create({ baseUrl: server.url, apiKey, onRetry: () => void retries++ });
    for (reason of reasons) {
      [controller, count] = [new AbortController(), 0];
      const { signal } = controller;
      const errors = await Promise.all(callEveryWay(client, { signal }).map(caught));
      // The signal is aborted from the start.
      errors.push(...await Promise.all(callEveryWay(client, { signal }).map(caught)));
      expect(errors.map((error) => error === signal.reason)).toEqual(Array(6).fill(true));
      expect([retries, count]).toEqual([0, 3]);
    }
  }
});

Deno.test("a signal ends a wait between attempts", async () => {
  const headers = { "retry-after": "20" };
  for (const own of [false, true]) { // Middleware may make a request with a signal of its own.
    const controller = new AbortController();
    const { signal } = controller;
    let waiting = 0;
    const onRetry = () => void (++waiting === 3 && setTimeout(() => controller.abort("stop")));
    const client = clientOf(() => new Response(null, { status: 429, headers }), { onRetry });
    if (own) client.use({ onRequest: ({ request }) => new Request(request, { signal }) });
    const calls = callEveryWay(client, own ? {} : { signal });
    expect(await Promise.all(calls.map(caught))).toEqual(Array(3).fill("stop"));
  }
});

Deno.test("a signal ends calls that connect or wait for a response, and their connections", async () => {
  let [controller, count] = [new AbortController(), 0];
  const abort = () => void (++count === 3 && controller.abort("stop"));
  const closed: Promise<void>[] = [];
  await using connecting = await serveSockets((socket) => {
    socket.resume();
    abort();
  }, "https");
  await using silent = await serve(({ url }, response) => {
    if (url === "/end") return void response.end();
    const { promise, resolve } = deferred();
    closed.push(promise);
    response.on("close", resolve);
    abort();
  });
  await using partial = await serve((_, response) => void response.write("[1,", abort));
  const { signal } = new AbortController();
  const replacing: Middleware = { onRequest: ({ request }) => new Request(request, { signal }) };
  for (const { url: baseUrl } of [connecting, silent, partial]) {
    for (const create of bothWays) {
      const client = create({ baseUrl, apiKey });
      if (create === bothWays[1]) client.use(replacing);
      [controller, count] = [new AbortController(), 0];
      const calls = callEveryWay(client, { signal: controller.signal });
      expect(await Promise.all(calls.map(caught))).toEqual(Array(3).fill("stop"));
    }
  }
  expect(closed.length).toBe(6);
  await Promise.all(closed);
  await (await fetch(`${silent.url}end`)).text(); // The server has not closed the connections.
});

Deno.test("methods follow the signal of a request that middleware made", async () => {
  for (const create of bothWays) {
    for (const signal of [null, new AbortController().signal]) {
      const controller = new AbortController();
      await using server = await serve(() => controller.abort("stop"));
      const client = create({ baseUrl: server.url, apiKey, retries: 0 }); // A retry would notice the signal.
      const own = { signal: controller.signal };
      client.use({ onRequest: ({ request }) => new Request(request, own) });
      expect(await caught(client.checkOwnKey({ signal }))).toBe("stop");
      // The signal is aborted from the start.
      const errors = await Promise.all(callEveryWay(client, { signal }).map(caught));
      expect([...errors, server.requests.length]).toEqual(["stop", "stop", "stop", 1]);
    }
  }
});

Deno.test("a signal is aborted when its attempt or call has failed, and not later", async () => {
  await using server = await serve(({ url }, response, count) => {
    if (url === "/cut" && count === 1) return cut(response);
    if (url === "/hang") return void response.write("[");
    if (url === "/large") return json(response, "x".repeat(2 ** 17), 400); // It is more than an error keeps.
    json(response, validKey);
  });
  using _waiting = replaceWaiting();
  const signals: AbortSignal[] = [];
  const custom = (request: Request) => {
    signals.push(request.signal);
    return fetch(request);
  };
  const client = clientAt(server, { fetch: custom });
  client.use({ onRequest: ({ request }) => void signals.push(request.signal) });
  for (const hasSignal of [false, true]) {
    /** Tells which signals of a call and its attempts are aborted, when that of the caller is. */
    const aborted = async (path: string, init = {}) => {
      signals.length = server.requests.length = 0;
      const controller = new AbortController();
      const { signal } = controller;
      await client.GET(path, { ...init, signal: hasSignal ? signal : null }).catch(() => {});
      controller.abort();
      for (let count = 0; count < 20; count++) await turn();
      return signals.map(({ aborted }) => aborted);
    };
    expect(await aborted("/cut")).toEqual([false, true, false]);
    expect(await aborted("/hang", { timeout: 50, retries: 0 })).toEqual([hasSignal, true]);
    for (const parseAs of ["json", "text", "stream"] as const) {
      expect(await aborted("/a", { parseAs })).toEqual([false, false]);
    }
    expect(await aborted("/large")).toEqual([false, false]);
  }
});

// maxResponseBytes

Deno.test("call() reads a body of maxResponseBytes and no larger one", async () => {
  await using server = await serve(({ url }, response) => {
    const size = url.startsWith("/fits") ? 1000 : 1001;
    const body = JSON.stringify("x".repeat(size - 2));
    if (url.endsWith("/announced")) response.setHeader("content-length", size);
    if (url.endsWith("/zipped")) {
      const zipped = gzipSync(body); // It announces less than the limit.
      response.writeHead(200, { "content-encoding": "gzip", "content-length": zipped.length });
      return void response.end(zipped);
    }
    response.write(body.slice(0, 500));
    response.end(body.slice(500));
  });
  const client = clientAt(server, { maxResponseBytes: 1000 });
  for (const form of ["announced", "chunked", "zipped"]) {
    expect((await client.call("GET", `fits/${form}`)).data).toBe("x".repeat(998));
    const error = await rejection(InvalidResponseError, client.call("GET", `exceeds/${form}`));
    expect(error.issues[0]!.rule).toBe("maxResponseBytes");
  }
});

Deno.test("methods read at most 10 MiB by default", async () => {
  const body = new Uint8Array(10 * 2 ** 20 + 1);
  const get = (bytes: Uint8Array) =>
    clientOf(() => new Response(bytes as BodyInit)).GET("/a", { parseAs: "arrayBuffer" });
  expect((await get(body.subarray(1))).data).toHaveProperty("byteLength", 10 * 2 ** 20);
  await rejection(InvalidResponseError, get(body));
});

Deno.test({
  name: "call() reads no more than maxResponseBytes of chunks behind a short Content-Length",
  ignore: !isDeno, // Node.js refuses such a response.
  async fn() {
    await using server = await serveBytes((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n");
      socket.write(`7d1\r\n${"A".repeat(2001)}\r\n`); // without an end
    });
    const client = clientAt(server, { maxResponseBytes: 1_000, timeout: 2_000, retries: 0 });
    await rejection(InvalidResponseError, client.call("GET", "a"));
  },
});

/** Sends a body without an end, as fast as the client reads it. */
function pour(response: ServerResponse): void {
  const chunk = new Uint8Array(2 ** 16).fill(65);
  const write = () => {
    while (response.write(chunk));
  };
  response.on("drain", write);
  write();
}

Deno.test("call() keeps the start of a body without end, and stops reading", async () => {
  let closed = deferred();
  await using server = await serve(({ url }, response) => {
    response.on("close", closed.resolve).writeHead(Number(url.slice(1)));
    pour(response);
  });
  const client = clientAt(server, { retries: 0, maxResponseBytes: 2 ** 20 });
  for (const status of [200, 402]) {
    closed = deferred();
    const errorClass = status === 200 ? InvalidResponseError : HttpError;
    const call = client.call("GET", `${status}`);
    const { response } = await rejection<HttpError | InvalidResponseError>(errorClass, call);
    expect(response.status).toBe(status);
    expect(response.body === "A".repeat(status === 200 ? 2 ** 20 : 2 ** 16)).toBe(true);
    await closed.promise;
  }
  const small = clientAt(server, { maxResponseBytes: 3 });
  expect((await rejection(HttpError, small.call("GET", "402"))).response.body).toBe("AAA");
  expect((await small.GET("/402")).error).toBe("AAA");
  const large = await rejection(InvalidResponseError, small.call("GET", "200"));
  expect(large.response.body).toBe("AAA");
});

Deno.test("timeout cancels the body of a custom fetch that comes later", async () => {
  const { promise: cancelled, resolve: cancel } = deferred();
  const late = deferred<Response>();
  const client = clientOf(() => late.promise, { timeout: 5, retries: 0 });
  await rejection(TimeoutError, client.GET("/a"));
  late.resolve(new Response(new ReadableStream({ cancel }, { highWaterMark: 0 })));
  await cancelled;
});

Deno.test("methods cancel a body that is longer than a mock announces", async () => {
  let cancelled = 0;
  const client = clientOf(() => {
    const pull = (controller: ReadableStreamDefaultController) =>
      controller.enqueue(new Uint8Array(1_000));
    const body = new ReadableStream({ pull, cancel: () => void cancelled++ });
    return new Response(body, { headers: { "content-length": "50" } });
  }, { maxResponseBytes: 10_000, retries: 0 });
  await rejection(InvalidResponseError, client.GET("/a"));
  expect(cancelled).toBe(1);
});

Deno.test("methods close the connection of a custom fetch that forgets the signal", async () => {
  for (const [headers, delay] of [[{}, 0], [{ "content-length": "1000" }, 0], [{}, 200]] as const) {
    const closed = deferred();
    await using server = await serve((_, response) => {
      response.on("close", closed.resolve);
      setTimeout(() => response.writeHead(200, headers).write("[1"), delay);
    });
    const forget = ({ url, method }: Request) => fetch(url, { method });
    const client = clientAt(server, { fetch: forget, timeout: 100, retries: 0 });
    await rejection(TimeoutError, client.call("GET", undocumented));
    const start = performance.now();
    await closed.promise;
    expect(performance.now() - start).toBeLessThan(10_000);
  }
});

Deno.test("methods read a body of many chunks as it is", async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}`);
  await using server = await serve(async (_, response) => {
    const text = JSON.stringify(lines);
    for (let at = 0; at < text.length; at += 50_000) {
      response.write(text.slice(at, at + 50_000));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    response.end();
  });
  expect((await clientAt(server).call("GET", undocumented)).data).toEqual(lines);
});
