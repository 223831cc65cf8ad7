import { expect } from "@std/expect";

import { ConfigurationError, createClient, TimeoutError } from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { apiKey, baseUrl, sendAll, unusedFetch } from "./client.ts";
import { createClock } from "./clock.ts";
import { failure, failures } from "./outcome.ts";
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

Deno.test("POST() times out when the body to send never ends, and refuses one that fails", async () => {
  const client = createClient<AnyPath>({ baseUrl, ...options, fetch: unusedFetch });
  const post = (stream: ReadableStream) =>
    client.POST("/report", { body: {}, bodySerializer: () => stream, duplex: "half" });
  await expectTimeouts([post(new ReadableStream())]);
  const failing = new ReadableStream({
    start: (controller) => controller.error(new Error(`No ${apiKey}`)),
  });
  const error = await failure(ConfigurationError, post(failing));
  expect(error.message).toBe('"body" cannot be read: No [redacted]');
});
