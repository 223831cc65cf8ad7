// The program that large.ts runs: it tells how much memory errors and waiting calls keep.
import process from "node:process";
import { createClient } from "@scam-address/client";

import type { AnyPath } from "../support/server.ts";
import { heap } from "./heap.ts";

const [baseUrl, kind] = process.argv.slice(2) as [string, string];

const retried: Error[] = [];
let held: Promise<never> | undefined; // what `onRetry` waits for
const client = createClient<AnyPath>({
  baseUrl,
  apiKey: "key-of-the-client",
  onRetry: ({ error }) => (retried.push(error), held),
});

const middleware = [{ onRequest: ({ request }: { request: Request }) => new Request(request) }];
const large = () => JSON.stringify(Math.random()).padEnd(2 * 2 ** 20);
const body = () => ({ text: large() });
const broken = () => Promise.reject(new Error(large()));
const never = () => new Promise<never>(() => {});
/** A schema that accepts nothing, and quotes all that it gets. */
const schema = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value: unknown) => ({ issues: [{ message: JSON.stringify(value) }] }),
  },
} as const;

type Init = { signal: AbortSignal; retries: number; totalTimeout?: number };

const call = (init: Init) => client.call("GET", "a", init);
const checkKey = (init: Init) => client.checkKey("some-key", init);
const checkKeyTyped = (init: Init) =>
  client.POST("/checkKey", { ...init, body: { apiKey: "some-key" } });
const typed = [
  (init: Init) => client.GET("/a", init),
  (init: Init) => client.GET("/a", { ...init, middleware }),
  checkKeyTyped,
];

/** Calls that are made in turn. */
const kinds: Record<string, ((init: Init) => Promise<unknown>)[]> = {
  untyped: [call, checkKey],
  typed,
  any: [call, checkKey, ...typed],
  checked: [checkKey, checkKeyTyped],
  limited: typed.map((way) => (init) => way({ ...init, totalTimeout: 100_000 })),
  schema: [(init) => client.call("GET", "a", { ...init, schema })],
  "large request": [
    (init) => client.call("POST", "a", { ...init, body: body() }),
    (init) => client.POST("/a", { ...init, body: body(), fetch: never, timeout: 1 }),
    (init) => client.POST("/a", { ...init, body: body(), fetch: never, timeout: 1, middleware }),
    (init) => client.call("POST", "a", { ...init, body: { ...body(), number: NaN } }),
  ],
  "large reason": [(init) => client.GET("/a", { ...init, fetch: broken })],
};

/** Makes as many calls at once; resolves to what they are rejected with. */
async function rejections(count: number, init: Init): Promise<Error[]> {
  const ways = kinds[kind]!;
  const calls = Array.from({ length: count }, (_, index) => ways[index % ways.length]!(init));
  const results = await Promise.allSettled(calls);
  return results.flatMap((result) => result.status === "rejected" ? [result.reason] : []);
}

const controller = new AbortController();
const { signal } = controller;
await rejections(5, { signal, retries: 0 });
const rounds = "Bun" in globalThis ? 30 : 5;
const before = await heap(rounds);

/** What is kept since the start. Bun may take an old value on its stack for one in use, for a while. */
async function keptSince(start: number): Promise<number> {
  let kept = Infinity;
  for (let reading = 0; reading < 5 && kept > 5 * 2 ** 20; reading++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    kept = Math.min(kept, await heap(rounds) - start);
  }
  return kept;
}

const scenarios: Record<string, () => Promise<unknown>> = {
  /** Calls that fail, until forty of their errors, and of those that `onRetry` got, are kept. */
  async errors() {
    const errors: Error[] = [];
    while (errors.length + retried.length < 40) {
      errors.push(...await rejections(5, { signal, retries: 1 }));
    }
    const kept = await keptSince(before); // and nobody has read a stack
    return { kept, ends: [...new Set([...errors, ...retried].map(({ name }) => name))].sort() };
  },

  /** Twelve calls that wait for their retry, until they are aborted. */
  async waiting() {
    const calls = rejections(12, { signal, retries: 1 });
    while (retried.length < 12) await new Promise((resolve) => setTimeout(resolve, 20));
    const kept = await keptSince(before);
    controller.abort("stop");
    return { kept, ends: await calls };
  },

  /** The same of calls that wait for `onRetry`. */
  async held() {
    held = never();
    return await scenarios.waiting!();
  },
};

console.log(JSON.stringify(await scenarios[process.argv[4]!]!()));
