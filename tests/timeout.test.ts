import { expect } from "@std/expect";

import { type ClientOptions, createClient, type Middleware, TimeoutError } from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { apiKey, baseUrl, sendAll, undocumented } from "./client.ts";
import { createClock } from "./clock.ts";
import { failures } from "./outcome.ts";
import {
  type AnyPath,
  checkKeyStatus,
  json,
  type Responder,
  serve,
  serveSockets,
  type TestServer,
  validKey,
} from "./server.ts";
import { endlessBody } from "./streams.ts";

const timeout = 100;
const options = { apiKey, timeout, retries: 0 };

/** Asserts that calls reject with a time-out. */
async function expectTimeouts(calls: Promise<unknown>[]): Promise<void> {
  for (const error of await failures(TimeoutError, calls)) {
    expect(error.code).toBe("timeout");
    expect(error.timeout).toBe(timeout);
    expect(error.message).toMatch(/^"[A-Z]+ https?:\/\/\S+" took more than 100 ms$/);
  }
}

const drip: (status: number) => Responder = (status) => (_, response) => {
  response.writeHead(status);
  const timer = setInterval(() => response.write(" "), 20);
  response.on("close", () => clearInterval(timer));
};

const unfinished: [string, () => Promise<TestServer>][] = [
  ["they connect", () => serveSockets((socket) => socket.resume(), "https")],
  ["no response comes", () => serve(() => {})],
  ["the body does not come", () =>
    serve((_, response) => {
      response.writeHead(200, { "content-length": "100" }).flushHeaders();
    })],
  ["the body drips without end", () => serve(drip(200))],
  ["the body of an error drips without end", () => serve(drip(500))],
];

for (const [kind, start] of unfinished) {
  Deno.test(`methods time out while ${kind}, after the time of the client or of the call`, async () => {
    await using server = await start();
    const client = createClient<AnyPath>({ baseUrl: server.url, ...options });
    await expectTimeouts(sendAll(client));
    client.use({ onRequest() {} });
    await expectTimeouts(sendAll(client));
    const patient = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
    await expectTimeouts([
      patient.checkKey("some-key", { timeout }),
      ...sendAll(patient, { timeout }),
    ]);
  });
}

Deno.test("call() times out when a custom fetch ignores its signal", async () => {
  const { body, cancelled } = endlessBody(new Uint8Array(1), 20);
  const fetches = [
    () => new Promise<Response>(() => {}),
    () => Promise.resolve(new Response(body)),
  ];
  const calls = fetches.map((fetch) =>
    createClient({ baseUrl, fetch, ...options }).call("GET", undocumented)
  );
  await expectTimeouts(calls);
  await cancelled;
});

Deno.test("call() applies the time-out to each attempt", async () => {
  await using server = await serve((_, response, count) => {
    if (count === 3) json(response, { count });
  });
  const slow = { baseUrl: server.url, apiKey, timeout: 500 };
  const client = createClientWith(slow, createClock());
  expect(await client.call("GET", undocumented)).toEqual({ count: 3 });
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
  let count = 0;
  const fetch = () => Promise.resolve(Response.json(validKey, { status: checkKeyStatus }));
  const unavailable = () =>
    count++ ? fetch() : Promise.resolve(new Response(null, { status: 503 }));
  const createSlow = (given: Partial<ClientOptions> = {}, middleware: Middleware = {
    onRequest() {},
  }) => {
    const client = createClientWith<AnyPath>(
      { baseUrl, apiKey, fetch, timeout: 300, retries: 1, ...given },
      createClock(),
    );
    client.use(middleware);
    return client;
  };
  const schema = {
    "~standard": { version: 1, vendor: "test", validate: (value: unknown) => late({ value }) },
  } as const;
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
