/**
 * What the package must do on every runtime, over real HTTP. This uses only web standards and the
 * server that `server.ts` starts.
 */

import {
  type ClientOptions,
  ConfigurationError,
  createClient,
  HttpError,
  InvalidResponseError,
  NetworkError,
  RedirectError,
  type ScamAddressClient,
  ScamAddressError,
  TimeoutError,
} from "@scam-address/client";
import { createSandbox } from "@scam-address/client/sandbox";

interface Context {
  /** Makes a client for one of the server's scenarios. */
  client(scenario: string, options?: Partial<ClientOptions>): ScamAddressClient;
  /** How many requests have reached a scenario. */
  hits(scenario: string): Promise<number>;
}

function assertEquals(actual: unknown, expected: unknown): void {
  const [left, right] = [actual, expected].map((value) => JSON.stringify(value));
  if (left !== right) throw new Error(`got ${left} instead of ${right}`);
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

function assertInstance<T>(
  value: unknown,
  // deno-lint-ignore no-explicit-any -- any constructor
  type: abstract new (...args: any[]) => T,
): asserts value is T {
  if (!(value instanceof type)) throw new Error(`got ${value} instead of a ${type.name}`);
  if (!(value instanceof ScamAddressError)) throw new Error(`${value} is not a ScamAddressError`);
}

const cases: Record<string, (context: Context) => Promise<void>> = {
  async "checkKey() reports a valid key"({ client }) {
    assertEquals(await client("service").checkKey("valid-key"), {
      apiKeyValid: true,
      data: { credits: 100 },
    });
  },

  async "checkKey() reports a key that is not valid"({ client }) {
    assertEquals(await client("service").checkKey("other-key"), { apiKeyValid: false });
  },

  async "call() sends an authenticated GET"({ client }) {
    const options = { query: { page: 2 } };
    assertEquals(await client("service", { apiKey: "k1" }).call("GET", "echo", options), {
      method: "GET",
      query: "?page=2",
      apiKey: "k1",
      contentType: "application/json",
      body: "",
    });
  },

  async "call() sends an authenticated POST with a body"({ client }) {
    const options = { body: { text: "é ✓" } };
    assertEquals(await client("service", { apiKey: () => "k2" }).call("POST", "echo", options), {
      method: "POST",
      query: "",
      apiKey: "k2",
      contentType: "application/json",
      body: '{"text":"é ✓"}',
    });
  },

  async "POST() resolves to data and response"({ client }) {
    const { data, response } = await client("service").POST("/checkKey", {
      body: { apiKey: "valid-key" },
    });
    assertEquals([data, response.status], [{ apiKeyValid: true, data: { credits: 100 } }, 200]);
  },

  async "checkKey() retries after a 503"({ client, hits }) {
    const statuses: unknown[] = [];
    const onRetry = ({ error }: { error: unknown }) => {
      assertInstance(error, HttpError);
      statuses.push(error.status);
    };
    assertEquals((await client("flaky", { onRetry }).checkKey("valid-key")).apiKeyValid, true);
    assertEquals([statuses, await hits("flaky")], [[503], 2]);
  },

  async "checkKey() rejects an error status with its body"({ client }) {
    const error = await rejection(client("failing").checkKey("valid-key", { retries: 0 }));
    assertInstance(error, HttpError);
    assertEquals([error.status, error.body], [500, { reason: "test" }]);
  },

  async "checkKey() times out when the body never ends"({ client }) {
    const start = Date.now();
    const error = await rejection(
      client("endless").checkKey("valid-key", { timeout: 300, retries: 0 }),
    );
    assertInstance(error, TimeoutError);
    if (Date.now() - start > 5_000) throw new Error(`it took ${Date.now() - start} ms`);
  },

  async "checkKey() refuses a redirect"({ client, hits }) {
    const error = await rejection(client("redirect").checkKey("valid-key"));
    assertInstance(error, RedirectError);
    assertEquals(error.status, "document" in globalThis ? 0 : 307); // browsers make it opaque
    assertEquals([await hits("redirect"), await hits("target")], [1, 0]);
  },

  async "checkKey() rejects a malformed response"({ client }) {
    const error = await rejection(client("malformed").checkKey("valid-key"));
    assertInstance(error, InvalidResponseError);
    assertEquals(error.status, 200);
  },

  async "checkKey() rejects with the reason of an abort"({ client }) {
    const controller = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 100);
    const { signal } = controller;
    const error = await rejection(client("silent").checkKey("valid-key", { signal }));
    if (error !== reason) throw new Error(`got ${error} instead of the reason`);
  },

  async "call() shows no key from headers that Headers refuses"({ client, hits }) {
    const apiKey = "key-of-the-client";
    const error = await rejection(
      client("strange", { apiKey, retries: 1 }).call("GET", "report"),
    ) as HttpError;
    // Node.js and Bun read such a response, all others refuse it; in both cases it is retried.
    assertEquals(await hits("strange"), 2);
    if (error.code === "http") assertEquals([error.status, error.body], [401, []]);
    else assertInstance(error, NetworkError);
    const headers = error.headers ? [...error.headers] : [];
    const shown = `${error.stack} ${error.cause} ${JSON.stringify([error, headers])}`;
    if (shown.includes(apiKey)) throw new Error(`it shows the key: ${shown}`);
  },

  async "call() says why there is no connection"() {
    const client = createClient({ baseUrl: "http://127.0.0.1:9/", apiKey: "k1", retries: 0 });
    const error = await rejection(client.call("GET", "report"));
    assertInstance(error, NetworkError);
    const { message } = error.cause as Error;
    assertEquals(error.message, `"GET /report" got no response: ${message}`);
    if (!message || message === "fetch failed") throw new Error(`got the reason "${message}"`);
  },

  async "call() reads a custom fetch's response that is not a Response"() {
    const chunks = ["[1", "]"].map((text) => new TextEncoder().encode(text));
    const read = () => {
      const value = chunks.shift();
      return Promise.resolve(value ? { value, done: false } : { done: true });
    };
    const response = {
      status: 200,
      ok: true,
      headers: new Headers(),
      body: { getReader: () => ({ read, cancel() {} }) },
    };
    const fetch = () => Promise.resolve(response as unknown as Response);
    const client = createClient({ baseUrl: "https://service.example/", apiKey: "k1", fetch });
    assertEquals(await client.call("GET", "report"), [1]);
  },

  async "call() times out when a custom fetch's chunks never end"() {
    const read = () => Promise.resolve({ value: new Uint8Array(), done: false });
    const response = {
      status: 200,
      headers: { forEach() {} },
      body: { getReader: () => ({ read, cancel() {} }) },
    };
    const fetch = () => Promise.resolve(response as unknown as Response);
    const options = { baseUrl: "https://service.example/", apiKey: "k1", fetch, timeout: 200 };
    const error = await rejection(createClient({ ...options, retries: 0 }).call("GET", "report"));
    assertInstance(error, TimeoutError);
  },

  async "checkKey() rejects with what an async onRetry rejects with"({ client }) {
    const reason = new Error("enough");
    const onRetry = () => Promise.reject(reason);
    const error = await rejection(client("failing", { onRetry }).checkKey("valid-key"));
    if (error !== reason) throw new Error(`got ${error} instead of the reason`);
  },

  async "checkKey() refuses a key that is missing"({ client, hits }) {
    const { checkKey } = client("refused", { apiKey: "k1" });
    for (const key of [undefined, null, []] as unknown[]) {
      const error = await rejection(checkKey(key as string));
      assertInstance(error, ConfigurationError);
      assertEquals(error.option, "apiKey");
    }
    assertEquals(await hits("refused"), 0);
  },

  async "call() shows no key that the service sends back in another encoding"({ client }) {
    const apiKey = "k3y ~a/b+c";
    const error = await rejection(client("echoing", { apiKey }).call("GET", "report"));
    assertInstance(error, HttpError);
    assertEquals(error.body, {
      raw: "[redacted]",
      percent: "[redacted]",
      lowerCase: "[redacted]",
      form: "[redacted]",
      code: 400,
    });
  },

  async "calls that share a signal end when it is aborted"({ client }) {
    const controller = new AbortController();
    const { signal } = controller;
    const silent = client("silent", { apiKey: "k1" });
    const seen = client("silent", { apiKey: "k1" });
    seen.use({ onRequest: ({ request }) => request });
    const calls = Array.from(
      { length: 12 },
      (_, index) => rejection((index % 2 ? seen : silent).call("GET", "report", { signal })),
    );
    setTimeout(() => controller.abort("enough"), 200);
    assertEquals(await Promise.all(calls), Array(12).fill("enough"));
  },

  async "call() returns what the service sends when middleware has read it"({ client }) {
    const reading = client("failing", { apiKey: "k1", retries: 0 });
    reading.use({ onResponse: async ({ response }) => void await response.text() });
    const error = await rejection(reading.call("GET", "report"));
    assertInstance(error, HttpError);
    assertEquals([error.status, error.body], [500, { reason: "test" }]);
  },

  async "call() times out when middleware responds without end"({ client }) {
    const endless = client("failing", { apiKey: "k1", retries: 0, timeout: 1_000 });
    endless.use({ onResponse: () => new Response(new ReadableStream(), { status: 500 }) });
    assertInstance(await rejection(endless.call("GET", "report")), TimeoutError);
  },

  async "POST() times out when a body to send never pauses, and cancels it"({ client, hits }) {
    if (!("body" in Request.prototype)) return; // where requests cannot be streams
    let isCancelled = false;
    const bodySerializer = () =>
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(9)),
        cancel: () => void (isCancelled = true),
      });
    const init = { body: { apiKey: "k1" }, bodySerializer, duplex: "half", timeout: 200 };
    const call = client("unsent", { retries: 0 }).POST("/checkKey", init as never);
    assertInstance(await rejection(call), TimeoutError);
    assertEquals([isCancelled, await hits("unsent")], [true, 0]);
  },

  async "createSandbox() stands in for the service"() {
    const { fetch } = createSandbox({ keys: { "demo-key": 7 } });
    const client = createClient({ baseUrl: "https://service.example/", fetch });
    assertEquals(await client.checkKey("demo-key"), { apiKeyValid: true, data: { credits: 7 } });
  },
};

/** Runs all cases, one after the other, and reports to the server, whose address is given. */
export async function conform(server: string): Promise<void> {
  const context: Context = {
    client: (scenario, options) => createClient({ baseUrl: `${server}${scenario}`, ...options }),
    hits: async (scenario) => await (await fetch(`${server}hits/${scenario}`)).json(),
  };
  const results = [];
  for (const [name, test] of Object.entries(cases)) {
    const error = await test(context).then(() => undefined, String);
    results.push(error === undefined ? { name } : { name, error });
  }
  await fetch(`${server}report`, { method: "POST", body: JSON.stringify(results) });
}
