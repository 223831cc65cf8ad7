// `totalTimeout` limits a call with its retries, its waits and the time of the caller's functions.
import { expect } from "@std/expect";

import {
  createClient,
  HttpError,
  type Middleware,
  ScamAddressError,
  TimeoutError,
} from "../mod.ts";
import { apiKey, baseUrl, sendAll, testBothWays, undocumented } from "./support/client.ts";
import { replaceWaiting } from "./support/waiting.ts";
import { caught, rejection, rejections } from "./support/rejection.ts";
import { type AnyPath, json, serve, validKey } from "./support/server.ts";

const totalTimeout = 300;

/** A server that is not available; its path says the `Retry-After`, in seconds. */
const serveUnavailable = () =>
  serve(({ url }, response) => {
    const [seconds] = /\d+$/.exec(url) ?? [];
    response.writeHead(503, seconds ? { "retry-after": seconds } : {}).end("[503]");
  });

/** Asserts that calls reject because the time of the whole call was up. */
async function expectTimeouts(calls: Promise<unknown>[]): Promise<void> {
  for (const error of await rejections(TimeoutError, calls)) {
    expect([error.timeout, error.isTemporary]).toEqual([totalTimeout, true]);
    expect(error.message).toContain("took more than 300 ms");
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

testBothWays(
  "totalTimeout and a signal end a call while the caller's function hangs",
  async (create) => {
    await using server = await serve(({ url }, response) => {
      json(response, validKey, url === "/503" ? 503 : 200);
    });
    using _waiting = replaceWaiting();
    for (const kind of ["totalTimeout", "signal"]) {
      const signal = AbortSignal.timeout(totalTimeout);
      const limit = kind === "signal" ? { signal } : { totalTimeout };
      let count = 0;
      const hang = () => (count++, new Promise<never>(() => {}));
      const options = { baseUrl: server.url, apiKey };
      const schema = { "~standard": { version: 1, vendor: "test", validate: hang } } as const;
      const withMiddleware = (middleware: Middleware) => {
        const client = create(options);
        client.use(middleware);
        return client;
      };
      const calls = [
        ...sendAll(create({ ...options, apiKey: hang }), limit),
        ...sendAll(withMiddleware({ onRequest: hang }), limit),
        withMiddleware({ onResponse: hang }).call("GET", undocumented, limit),
        create({ ...options, onRetry: hang }).call("GET", "503", limit),
        create(options).call("GET", undocumented, { ...limit, schema }),
      ];
      if (kind === "totalTimeout") await expectTimeouts(calls);
      else expect(await Promise.all(calls.map(caught))).toEqual(Array(9).fill(signal.reason));
      expect(count).toBe(9);
      expect(server.requests.splice(0).length).toBe(3); // nothing else was sent, or sent again
    }
  },
);

Deno.test("an attempt has no more time than the call has left", async () => {
  using _waiting = replaceWaiting();
  let count = 0;
  const fetch = () =>
    count++ ? new Promise<never>(() => {}) : Promise.resolve(new Response("", { status: 503 }));
  const client = createClient({ baseUrl, apiKey, fetch, timeout: 60_000, totalTimeout: 2_000 });
  const error = await rejection(TimeoutError, client.call("GET", undocumented));
  expect([count, error.timeout]).toEqual([2, 2_000]);
  expect(error.message).toContain(" failed after 2 attempts: took more than 2000 ms");
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
