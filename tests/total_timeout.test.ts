// `totalTimeout` limits a call with its retries, its waits and the time of the caller's functions.
import { expect } from "@std/expect";

import { createClient, HttpError, ScamAddressError, TimeoutError } from "../mod.ts";
import {
  apiKey,
  baseUrl,
  sendAll,
  testBothWays,
  undocumented,
  unusedFetch,
} from "./support/client.ts";
import { replaceWaiting } from "./support/waiting.ts";
import { rejection, rejections } from "./support/rejection.ts";
import { type AnyPath, serve } from "./support/server.ts";

const totalTimeout = 300;

/** Resolves to a value after more time than a call has. */
const late = <T>(value?: T) =>
  new Promise<T>((resolve) => setTimeout(() => resolve(value as T), totalTimeout + 50));

/** A server that is not available; its path says the `Retry-After`, in seconds. */
const serveUnavailable = () =>
  serve(({ url }, response) => {
    const [seconds] = /\d+$/.exec(url) ?? [];
    response.writeHead(503, seconds ? { "retry-after": seconds } : {}).end("[503]");
  });

/** Asserts that calls reject because the time of the whole call was up. */
async function expectTimeouts(calls: Promise<unknown>[], progress = ""): Promise<void> {
  for (const error of await rejections(TimeoutError, calls)) {
    expect([error.timeout, error.isTemporary]).toEqual([totalTimeout, true]);
    expect(error.message).toContain(`took more than 300 ms: ${progress}`);
  }
}

testBothWays("totalTimeout ends an attempt, and nothing is sent again", async (create) => {
  await using server = await serve(({ headers }, response) => {
    if (headers["x-kind"] !== "drip") return; // there is no response
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  });
  for (const kind of ["hang", "drip"]) {
    const headers = { "x-kind": kind };
    const client = create({ baseUrl: server.url, apiKey, headers, totalTimeout });
    const patient = create({ baseUrl: server.url, apiKey, headers, totalTimeout: 60_000 });
    await expectTimeouts([...sendAll(client), ...sendAll(patient, { totalTimeout })]);
    expect(server.requests.splice(0).length).toBeLessThanOrEqual(6);
  }
});

testBothWays("a wait that would not end in time is not begun", async (create) => {
  await using server = await serveUnavailable();
  let retries = 0;
  const onRetry = () => void retries++;
  const client = create({ baseUrl: server.url, apiKey, totalTimeout: 4_000, onRetry });
  const error = await rejection(HttpError, client.call("GET", "503/5"));
  expect([error.response.status, error.retryAfter]).toEqual([503, 5]);
  expect(await client.GET("/503/5")).toMatchObject({ error: [503], response: { status: 503 } });
  expect([server.requests.length, retries]).toEqual([2, 0]);
});

testBothWays(
  "totalTimeout ends the retries of a service that stays unavailable",
  async (create) => {
    await using server = await serveUnavailable();
    const client = create({ baseUrl: server.url, apiKey, totalTimeout, retries: 100 });
    const calls = ["503", "503/0"].map((endpoint) => client.call("GET", endpoint));
    for (const { isTemporary } of await rejections(ScamAddressError, calls)) {
      expect(isTemporary).toBe(true); // an HttpError, or a TimeoutError of an attempt under way
    }
  },
);

Deno.test("the time of the caller's functions counts, and nothing is sent when it is up", async () => {
  const options = { baseUrl, apiKey, fetch: unusedFetch, totalTimeout };
  const slowKey = createClient<AnyPath>({ ...options, apiKey: () => late(apiKey) });
  const slowMiddleware = createClient<AnyPath>(options);
  slowMiddleware.use({ onRequest: () => late() });
  await expectTimeouts([...sendAll(slowKey), ...sendAll(slowMiddleware)]);
});

testBothWays("a call whose time is up after onRetry is not retried", async (create) => {
  await using server = await serveUnavailable();
  using waiting = replaceWaiting(); // a delay that would end in time
  const client = create({ baseUrl: server.url, apiKey, totalTimeout, onRetry: () => late() });
  await expectTimeouts([client.call("GET", "503/0"), client.GET("/503/0")]);
  expect(server.requests.length).toBe(2);
  expect(waiting.delays.map((delay) => delay >= 0)).toEqual([true, true]); // runtimes warn of others
});

/** Stops the clock at a time, which a test may set, as long as the result is in use. */
function stopClock(): Disposable & { time: number } {
  const { now } = performance;
  const clock = { time: 0, [Symbol.dispose]: () => void (performance.now = now) };
  performance.now = () => clock.time;
  return clock;
}

Deno.test("an attempt has no more time than the call has left", async () => {
  using clock = stopClock();
  let count = 0;
  const fetch = () => {
    if (count++) return new Promise<never>(() => {});
    clock.time = 50;
    return Promise.resolve(new Response("", { status: 503, headers: { "retry-after": "0" } }));
  };
  const limits = { timeout: totalTimeout - 20, totalTimeout, retries: 1 }; // 250 ms are left
  const client = createClient({ baseUrl, apiKey, fetch, ...limits });
  await expectTimeouts([client.call("GET", undocumented)]);
  expect(count).toBe(2);
});

Deno.test("a wait has no more time than onRetry has left, and no attempt follows it", async () => {
  using waiting = replaceWaiting(); // a delay of 250 ms
  using clock = stopClock();
  let count = 0;
  const fetch = () => (count++, Promise.resolve(new Response("", { status: 503 })));
  const onRetry = () => void (clock.time = 100);
  const options = { baseUrl, apiKey, fetch, totalTimeout, retries: 1, onRetry };
  const call = createClient(options).call("GET", undocumented);
  await expectTimeouts([call], 'attempt 2 was not begun; "onRetry" took 100 ms');
  expect([count, waiting.delays]).toEqual([1, [200]]);
});

Deno.test("the time of an attempt is up before that of the call, and it is repeated", async () => {
  using _waiting = replaceWaiting();
  let count = 0;
  const fetch = () => (count++, new Promise<never>(() => {}));
  const limits = { timeout: 20, totalTimeout: 10_000, retries: 1 };
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch, ...limits });
  const { message, timeout } = await rejection(TimeoutError, client.GET("/a"));
  expect([count, timeout]).toEqual([2, 20]);
  expect(message).toContain("took more than 20 ms");
});
