// The program that process.test.ts bundles and runs on Deno and Node.js.
import { readFileSync } from "node:fs";
import process from "node:process";

import { createClient, type ScamAddressClient } from "../../mod.ts";
import type { AnyPath } from "../support/server.ts";

const [scenario = "", baseUrl = "", kind = "", count] = process.argv.slice(2);
const apiKey = () => Promise.resolve("key-of-the-client");
const pause = (delay: number) => new Promise((resolve) => setTimeout(resolve, delay));
const settle = (call: Promise<unknown>) => call.then(() => "ok", (error) => error?.code ?? error);
const passing = (request: Request) => fetch(request);
const wrapping = async (request: Request) => {
  const response = await fetch(request);
  return new Response(response.body, response);
};
const never = () => new Promise<never>(() => {});

/** Collects garbage, and resolves to the bytes in use after it, of the heap and of buffers. */
async function heap(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    await pause(20);
    (globalThis as { gc?: () => void }).gc!();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The most memory that the process has had so far, in bytes. */
const peak = () =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))![1]) * 1_024;

/** Makes calls, 16 at a time and every other one with middleware; resolves to how they ended. */
async function callMany(
  client: ScamAddressClient<AnyPath>,
  path: string,
  signal: AbortSignal,
  count: number,
): Promise<string[]> {
  const middleware = [{ onRequest: ({ request }: { request: Request }) => new Request(request) }];
  const ends = new Set<string>();
  const worker = async () => {
    while (count-- > 0) {
      const call = count % 2
        ? client.call("GET", path, { signal })
        : client.GET(`/${path}`, { signal, middleware });
      ends.add(await settle(call));
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return [...ends];
}

const scenarios: Record<string, () => Promise<unknown>> = {
  /** Calls that end in every way that there is, most with a time-out of days. */
  async exit() {
    const client = createClient<AnyPath>({ baseUrl, apiKey, timeout: 2 ** 31 - 1 });
    const controller = new AbortController();
    const { signal } = controller;
    const ends = await callMany(client, "ok", signal, 100);
    for (const path of kind.split(",")) {
      const init = { signal, idempotent: path === "flaky" };
      ends.push(await settle(client.call("POST", path, init)));
    }
    const hanging = (timeout?: number) =>
      Promise.all([
        settle(client.call("POST", "hang", { signal, timeout })),
        settle(client.call("POST", "drip", { signal, timeout })),
        settle(client.POST("/hang", { signal, timeout, fetch: never })),
      ]);
    ends.push(...await hanging(50));
    setTimeout(() => controller.abort("stop"), 50);
    const waiting = settle(client.call("GET", "later", { signal })); // It waits to be sent again.
    return [...ends, ...await hanging(), await waiting];
  },

  /** A hundred calls without a response, while garbage is collected, by a time-out or a signal. */
  async hang() {
    const options = { baseUrl, apiKey, retries: 0 };
    const client = createClient({ ...options, fetch: passing });
    const wrapped = createClient({ ...options, fetch: wrapping });
    const controller = new AbortController();
    const init = kind === "timeout" ? { timeout: 500 } : { signal: controller.signal };
    const calls = Array.from({ length: 50 }, () => [
      settle(client.call("GET", "hang", init)),
      settle(wrapped.call("GET", "begin", init)),
    ]).flat();
    for (const _round of [1, 2, 3]) await heap();
    controller.abort("stop");
    const ends = new Set(await Promise.all(calls));
    while ((await client.call("GET", "open")).data !== 0) await pause(20); // The test ends it at last.
    return [...ends];
  },

  /** Many calls that share a signal; tells how much the heap has grown. */
  async memory() {
    const custom = kind === "custom fetch" && { fetch: passing };
    const client = createClient<AnyPath>({ baseUrl, apiKey, ...custom });
    const { signal } = new AbortController();
    const path = kind === "half a response" ? "half" : "ok";
    await callMany(client, path, signal, 1_000);
    const before = await heap();
    const ends = await callMany(client, path, signal, Number(count));
    return { ends, grown: await heap() - before };
  },

  /** A response that is too large; tells by how many bytes the process has grown at most. */
  async size() {
    const pull = (controller: ReadableStreamDefaultController) =>
      controller.enqueue(new Uint8Array(1));
    const crumbling = () => Promise.resolve(new Response(new ReadableStream({ pull })));
    const options = kind === "crumbs" && { maxResponseBytes: 2 ** 18, fetch: crumbling };
    const client = createClient({ baseUrl, apiKey, retries: 0, ...options });
    await createClient({ baseUrl, apiKey }).call("GET", "ok");
    const before = peak();
    return { error: await settle(client.call("GET", kind)), grown: peak() - before };
  },
};

console.log(JSON.stringify(await scenarios[scenario]!()));
