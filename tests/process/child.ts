// The program that process.test.ts bundles and runs on Deno and Node.js.
import { readFileSync } from "node:fs";
import process from "node:process";

import { createClient, NetworkError, type ScamAddressClient } from "../../mod.ts";
import { heap } from "./heap.ts";

const [scenario, baseUrl, count] = process.argv.slice(2) as [string, string, string?];
const apiKey = () => Promise.resolve("key-of-the-client");
const pause = (delay: number) => new Promise((resolve) => setTimeout(resolve, delay));
const code = (error: { code?: string }) => error?.code ?? error;

/** Makes calls that share a signal, every third with middleware and every third with `parseAs`. */
function shareSignal(client: ScamAddressClient, signal: AbortSignal, count: number) {
  const get = client.GET as unknown as (path: string, init: object) => Promise<unknown>;
  const middleware = [{ onRequest: ({ request }: { request: Request }) => new Request(request) }];
  const ways = [
    () => client.call("GET", "ok", { signal }),
    () => get("/ok", { signal, middleware }),
    () => get("/ok", { signal, parseAs: "text" }),
  ];
  return Array.from({ length: count }, (_, index) => ways[index % ways.length]!());
}

const scenarios: Record<string, () => Promise<unknown>> = {
  /** Calls that end in every way that there is, most with a time-out of days. */
  async exit() {
    const timeout = 2 ** 31 - 1;
    const client = createClient({ baseUrl, apiKey, timeout });
    const controller = new AbortController();
    const { signal } = controller;
    const hanging = createClient({
      baseUrl,
      apiKey,
      timeout,
      fetch: () => new Promise(() => {}),
    });
    const seen: unknown[] = [];
    const settle = async (call: Promise<unknown>) => {
      seen.push(await call.then(() => "ok", code));
    };
    await Promise.all(shareSignal(client, signal, 100));
    await settle(client.checkKey("key", { signal }));
    await settle(client.call("GET", "missing", { signal }));
    await settle(client.call("GET", "redirect", { signal }));
    await settle(client.call("GET", "html", { signal }));
    await settle(client.call("POST", "reset", { signal }));
    await settle(client.call("GET", "flaky", { signal }));
    await settle(client.call("GET", "large", { signal }));
    await settle(client.call("POST", "hang", { signal, timeout: 50 }));
    await settle(client.call("POST", "drip", { signal, timeout: 50 }));
    await settle(hanging.call("POST", "hang", { signal, timeout: 50 }));
    setTimeout(() => controller.abort("stop"), 50);
    await Promise.all([
      settle(client.call("GET", "hang", { signal })),
      settle(client.call("GET", "drip", { signal })),
      settle(client.call("GET", "later", { signal })), // waits to be sent again
      settle(hanging.call("GET", "hang", { signal })),
    ]);
    return seen;
  },

  /** Calls that share one signal; tells by how many bytes the heap has grown. */
  async memory() {
    const client = createClient({ baseUrl, apiKey });
    const { signal } = new AbortController();
    const run = async (calls: number) => {
      const worker = async () => {
        while ((calls -= 3) > 0) await Promise.all(shareSignal(client, signal, 3));
      };
      await Promise.all(Array.from({ length: 16 }, worker));
    };
    await run(500);
    const before = await heap();
    await run(Number(count));
    return await heap() - before;
  },

  /** A response that is too large; tells by how many bytes the process has grown at most. */
  async size() {
    const client = createClient({ baseUrl, apiKey, retries: 0 });
    const pull = (controller: ReadableStreamDefaultController) =>
      controller.enqueue(new Uint8Array(1));
    const crumbling = createClient({
      baseUrl,
      apiKey,
      maxResponseBytes: 2 ** 18,
      fetch: () => Promise.resolve(new Response(new ReadableStream({ pull }))),
    });
    const peak = () =>
      Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))![1]) * 1_024;
    await client.call("GET", "ok");
    const before = peak();
    const target = count === "crumbs" ? crumbling : client;
    const error = await target.call("GET", count!).catch(code);
    return { error, grown: peak() - before };
  },

  /** Everything that may leave a promise behind; tells what was rejected and not handled. */
  async rejections() {
    const unhandled: string[] = [];
    process.on("unhandledRejection", (reason) => unhandled.push(String(reason)));
    const boom = () => Promise.reject(new Error("boom"));
    const late = (delay: number) => pause(delay).then(boom);
    const failing = (start: number) => {
      const pull = async (controller: ReadableStreamDefaultController) => {
        await pause(start);
        controller.error(new Error("boom"));
      };
      return new Response(new ReadableStream({ pull, cancel: boom }));
    };
    const fetches: (() => unknown)[] = [
      boom,
      () => late(40),
      () => late(5),
      () => undefined,
      () => failing(1),
      () => failing(40),
      () => pause(40).then(() => failing(1)),
      () => new Response(new ReadableStream({ cancel: boom })),
      () => new Response(new ReadableStream({ cancel: boom }), { status: 302 }),
      () => new Response(new ReadableStream({ cancel: boom }), { status: 500 }),
      () =>
        new Response(
          new ReadableStream({ cancel: boom, pull: (c) => c.enqueue(new Uint8Array(99)) }),
        ),
      () => pause(40).then(() => new Response(null, { status: 302 })),
    ];
    const calls: Promise<unknown>[] = [];
    for (const fetch of fetches) {
      for (const delay of [undefined, 0, 10, 60]) {
        const signal = delay === undefined ? null : AbortSignal.timeout(delay);
        for (
          const key of ["key", () => late(5), () => late(40), () => pause(5).then(() => "key")]
        ) {
          const client = createClient({
            baseUrl,
            apiKey: key as string,
            fetch: fetch as () => Promise<Response>,
            maxResponseBytes: 10,
            timeout: 20,
            onRetry() {
              throw new NetworkError("boom", {});
            },
          });
          const middleware = [{ onResponse: boom }, { onError: boom }];
          calls.push(
            client.checkOwnKey({ signal }),
            client.call("GET", "a", { signal }),
            client.GET("/a" as never, { signal, parseAs: "stream" } as never),
            client.GET("/a" as never, { signal, middleware } as never),
          );
        }
      }
    }
    const client = createClient({ baseUrl, apiKey, timeout: 30 });
    for (
      const path of ["ok", "missing", "redirect", "html", "reset", "flaky", "large", "hang", "drip"]
    ) {
      for (const delay of [0, 5, 10, 20, 40]) {
        calls.push(client.call("GET", path, { signal: AbortSignal.timeout(delay) }));
      }
    }
    await Promise.allSettled(calls);
    await pause(100);
    return { calls: calls.length, unhandled };
  },
};

console.log(JSON.stringify(await scenarios[scenario]!()));
