import { expect } from "@std/expect";

import { type ClientOptions, createClient, type Middleware, TimeoutError } from "../mod.ts";
import { apiKey, baseUrl, sendAll, testBothWays, undocumented } from "./support/client.ts";
import { replaceWaiting } from "./support/waiting.ts";
import { rejections } from "./support/rejection.ts";
import {
  type AnyPath,
  checkKeyStatus,
  json,
  serve,
  serveSockets,
  validKey,
} from "./support/server.ts";

const timeout = 100;
const options = { apiKey, timeout, retries: 0 };

/** Asserts that calls reject with a time-out. */
async function expectTimeouts(calls: Promise<unknown>[]): Promise<void> {
  for (const error of await rejections(TimeoutError, calls)) {
    expect([error.code, error.timeout]).toEqual(["timeout", timeout]);
    expect(error.message).toMatch(/^"[A-Z]+ https?:\/\/\S+" took more than 100 ms/);
  }
}

testBothWays("methods time out at any point, as the client or the call says", async (create) => {
  await using connecting = await serveSockets((socket) => socket.resume(), "https");
  await using server = await serve(({ headers }, response) => {
    const point = headers["x-point"];
    if (point === "response") return;
    response.writeHead(point === "error" ? 500 : 200, { "content-length": "100" }).flushHeaders();
    if (point === "body") return;
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  });
  const { url } = server;
  const points = ["response", "body", "drip", "error"].map((point) => [url, point] as const);
  const calls = ([[connecting.url, "connect"], ...points] as const).flatMap(([baseUrl, point]) => {
    const headers = { "x-point": point };
    const client = create({ baseUrl, headers, ...options });
    const patient = create({ baseUrl, headers, apiKey, retries: 0 });
    const checked = patient.checkKey("some-key", { timeout });
    return [...sendAll(client), checked, ...sendAll(patient, { timeout })];
  });
  await expectTimeouts(calls);
});

testBothWays("call() applies the time-out to each attempt", async (create) => {
  await using server = await serve((_, response, count) => {
    if (count === 3) json(response, { count });
  });
  using _waiting = replaceWaiting();
  const client = create({ baseUrl: server.url, apiKey, timeout: 200 });
  expect((await client.call("GET", undocumented)).data).toEqual({ count: 3 });
});

// What is not limited: the caller's own functions

/** Resolves to a value after more time than an attempt has. */
const late = <T>(value?: T) =>
  new Promise<T>((resolve) => setTimeout(() => resolve(value as T), 500));

/** A stream that ends late. */
const lateStream = () =>
  new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(await late(new TextEncoder().encode(JSON.stringify(validKey))));
      controller.close();
    },
  });

Deno.test("timeout does not limit the functions and streams of the caller", async () => {
  using _waiting = replaceWaiting();
  let count = 0;
  const fetch = () => Promise.resolve(Response.json(validKey, { status: checkKeyStatus }));
  const unavailable = () =>
    count++ ? fetch() : Promise.resolve(new Response(null, { status: 503 }));
  const createSlow = (given: Partial<ClientOptions> = {}, middleware?: Middleware) => {
    const slow = { baseUrl, apiKey, fetch, timeout: 300, retries: 1, ...given };
    const client = createClient<AnyPath>(slow);
    if (middleware) client.use(middleware);
    return client;
  };
  const validate = (value: unknown) => late({ value });
  const schema = { "~standard": { version: 1, vendor: "test", validate } } as const;
  const lateResponse = () => new Response(lateStream(), { status: checkKeyStatus });
  const slow = [
    createSlow({ apiKey: () => late(apiKey) }),
    createSlow({}, { onRequest: () => late() }),
    createSlow({}, { onResponse: () => late() }),
    createSlow({}, { onRequest: lateResponse }),
    createSlow({}, { onResponse: lateResponse }),
  ];
  const results = await Promise.all([
    ...slow.flatMap((client) => sendAll(client)),
    createSlow().call("GET", undocumented, { schema }),
    createSlow({ fetch: unavailable, onRetry: () => late() }).call("GET", undocumented),
    createSlow().POST(`/${undocumented}`, { body: {}, bodySerializer: lateStream, duplex: "half" }),
  ]);
  for (const result of results) {
    const { data } = result as { data: unknown };
    expect([validKey, validKey.data]).toContainEqual(data);
  }
});
