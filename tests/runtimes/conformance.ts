/**
 * What the package must do on every runtime, over real HTTP. This uses only web standards and the
 * server that `server.ts` starts.
 */

import {
  type ClientOptions,
  createClient,
  HttpError,
  InvalidResponseError,
  NetworkError,
  type ScamAddressClient,
  ScamAddressError,
  TimeoutError,
} from "@scam-address/client";
import { createSandbox } from "@scam-address/client/sandbox";

/** An endpoint that no OpenAPI document has. */
const undocumented = "undocumented";

/** A method of the client, for paths that the OpenAPI document does not have. */
type Post = (
  path: string,
  init: object,
) => Promise<{ data: { contentType: string; body: string }; response: Response }>;

interface Context {
  /** The address of the server. */
  server: string;
  /** Makes a client for one of the server's scenarios. */
  client(scenario: string, options?: Partial<ClientOptions>): ScamAddressClient;
  /** How many requests have reached a scenario. */
  hits(scenario: string): Promise<number>;
}

/** Checks a key. Stacks name it: Bun's do not name what is assigned to a variable. */
async function checkValidKey(client: ScamAddressClient): Promise<void> {
  await client.checkKey("valid-key");
}

function assertEquals<T>(actual: T, expected: NoInfer<T>): void {
  const [left, right] = [actual, expected].map((value) => JSON.stringify(value));
  if (left !== right) throw new Error(`got ${left} instead of ${right}`);
}

/** Returns the error that a call fails with, which must be of the class. */
async function rejection<T>(
  type: abstract new (...args: never[]) => T,
  promise: Promise<unknown>,
): Promise<T> {
  const error = await promise.then(() => undefined, (error) => error);
  if (error instanceof type) return error;
  throw new Error(`got ${error} instead of a ${type.name}`);
}

const cases: Record<string, (context: Context) => Promise<void>> = {
  async "call() sends authenticated requests, with and without a body"({ client }) {
    const { call } = client("service", { apiKey: () => "k1" });
    const common = { query: "?page=2", apiKey: "k1", contentType: "application/json" };
    const query = { page: 2 };
    const get = { method: "GET", ...common, body: "" };
    assertEquals((await call("GET", "echo", { query })).data, get);
    const post = { method: "POST", ...common, body: '{"text":"é ✓"}' };
    assertEquals((await call("POST", "echo", { query, body: { text: "é ✓" } })).data, post);
  },

  async "checkKey() retries after a 503"({ client, hits }) {
    assertEquals((await client("flaky").checkKey("valid-key")).apiKeyValid, true);
    assertEquals(await hits("flaky"), 2);
  },

  async "what may not be repeated is sent once, even if it breaks"({ client, hits }) {
    const kept = client("kept", { apiKey: "k1" });
    const form = new FormData();
    form.set("name", "value");
    const bytes = { body: {}, bodySerializer: () => new Uint8Array([1, 2]) };
    const binary = { ...bytes, headers: { "Content-Type": "application/octet-stream" } };
    const post = kept.POST as unknown as Post;
    const calls: Record<string, () => Promise<unknown>> = {
      "a POST of JSON": () => kept.call("POST", "a", { body: { a: "é" } }),
      "a POST of bytes": () => post("/a", binary),
      "a POST of a form": () => kept.call("POST", "a", { body: form }),
      "a PUT without retries": () => kept.call("PUT", "a", { body: {}, retries: 0 }),
      "a POST without a body": () => kept.call("POST", "a"),
      "a GET without retries": () => kept.call("GET", "a", { retries: 0 }),
    };
    const counts: Record<string, number> = {};
    for (const [name, call] of Object.entries(calls)) {
      await kept.call("GET", "warm");
      const before = await hits("kept");
      await call().catch(() => {});
      counts[name] = await hits("kept") - before;
    }
    // Nothing keeps Deno and workerd from repeating a GET.
    const isRepeated = /Deno|Cloudflare-Workers/.test(globalThis.navigator?.userAgent);
    const once = Object.fromEntries(Object.keys(calls).map((name) => [name, 1]));
    assertEquals(counts, { ...once, "a GET without retries": isRepeated ? 2 : 1 });
  },

  async "POSTs that are sent once keep their connection"({ client }) {
    const { call } = client("connection", { apiKey: "k1" });
    await call("POST", "a");
    for (const body of [{ a: 1 }, [], undefined]) {
      assertEquals((await call("POST", "a", { body })).data, true);
    }
  },

  async "requestInitExt reaches the fetch of the runtime"({ server }) {
    // deno-lint-ignore no-explicit-any -- what only some runtimes have
    const { Bun, Deno, process } = globalThis as any;
    if (!Bun && !Deno && !process?.versions?.undici) return; // workerd has no such options.
    const dispatch = () => {
      throw new Error("dispatched");
    };
    const requestInitExt = Bun
      ? { proxy: server }
      : Deno
      ? { client: Deno.createHttpClient({ proxy: { url: server } }) }
      : { dispatcher: { dispatch } };
    for (const custom of [{}, { fetch: (request: Request) => fetch(request) }]) {
      // Nothing listens there, but a proxy does not ask.
      const options = { baseUrl: "http://127.0.0.1:59999/service/", apiKey: "k1", retries: 0 };
      const client = createClient({ ...options, ...custom, requestInitExt });
      const outcome = await client.call("GET", "echo").catch(({ cause }) => cause.message);
      // Bun's `Request` does not keep these options for a custom fetch.
      if (Bun && custom.fetch) continue;
      assertEquals(outcome.data?.apiKey ?? outcome, Bun || Deno ? "k1" : "dispatched");
    }
  },

  async "a client of Deno's that keeps no connection sends a GET once"({ client, hits }) {
    // deno-lint-ignore no-explicit-any -- what only some runtimes have
    const { Deno } = globalThis as any;
    if (!Deno) return; // The others need none.
    const requestInitExt = { client: Deno.createHttpClient({ poolMaxIdlePerHost: 0 }) };
    const kept = client("kept", { apiKey: "k1", requestInitExt });
    await kept.call("GET", "warm");
    const before = await hits("kept");
    await kept.call("GET", "a", { retries: 0 });
    assertEquals(await hits("kept") - before, 1);
  },

  async "call() rejects a long error again and again"({ client }) {
    const broken = client("broken", { apiKey: "key-of-the-client", retries: 0 });
    for (let count = 0; count < 20; count++) {
      const error = await rejection(HttpError, broken.call("GET", undocumented));
      assertEquals([error.response.status, typeof error.response.body], [500, "string"]);
    }
  },

  async "createClient() takes the platform's own fetch"({ client }) {
    const service = client("service", { fetch: globalThis.fetch });
    assertEquals((await service.checkKey("valid-key")).apiKeyValid, true);
  },

  async "checkKey() times out when the body never ends"({ client }) {
    const options = { timeout: 300, retries: 0 };
    await rejection(TimeoutError, client("endless").checkKey("valid-key", options));
  },

  async "checkKey() refuses a redirect"({ client, hits }) {
    const error = await rejection(HttpError, client("redirect").checkKey("valid-key"));
    assertEquals(error.message.includes("got the status 307 to "), true);
    assertEquals([await hits("redirect"), await hits("target")], [1, 0]);
  },

  async "call() says why there is no connection, and where, and is not retried"() {
    const delays: number[] = [];
    const client = createClient({
      baseUrl: "http://127.0.0.1:59999/", // Nothing listens there.
      apiKey: "k1",
      retries: 1,
      onRetry: ({ delay }) => void delays.push(delay),
    });
    const error = await rejection(NetworkError, client.call("POST", undocumented));
    const [, address, reason] = /^"POST (\S+)" .+: (.+)$/.exec(error.message) ?? [];
    assertEquals(address, `http://127.0.0.1:59999/${undocumented}`);
    if (!reason || reason === "fetch failed") throw new Error(`got "${error.message}"`);
    assertEquals(delays.length, 0);
  },

  async "call() refuses a redirect that a custom fetch has followed"({ client, hits }) {
    const following = (request: Request) => fetch(new Request(request, { redirect: "follow" }));
    const moved = client("moved", { fetch: following });
    await rejection(InvalidResponseError, moved.checkKey("valid-key"));
    assertEquals(await hits("moved"), 1);
  },

  async "calls that share a signal end when it is aborted"({ client }) {
    const controller = new AbortController();
    const { signal } = controller;
    const clients = [client("silent", { apiKey: "k1" }), client("silent", { apiKey: "k1" })];
    clients[1]!.use({ onRequest: ({ request }) => request });
    const six = Array(6).fill(clients).flat() as typeof clients;
    const calls = six.map(({ call }) =>
      call("GET", undocumented, { signal }).catch((reason) => reason)
    );
    setTimeout(() => controller.abort("enough"), 200);
    assertEquals(await Promise.all(calls), Array(12).fill("enough"));
  },

  async "call() rejects an error status with its body, which middleware reads"({ client }) {
    const failing = client("failing", { apiKey: "k1", retries: 0 });
    const onResponse = async ({ response }: { response: Response }) =>
      void await response.clone().text();
    for (const middleware of [[], [{ onResponse }]]) {
      failing.use(...middleware);
      const error = await rejection(HttpError, failing.call("GET", undocumented));
      assertEquals([error.response.status, error.response.body], [500, { reason: "test" }]);
    }
  },

  async "POST() sends forms with fetch's content type"({ client }) {
    const body = new FormData();
    body.set("name", "value");
    for (
      const middleware of [[], [{ onRequest: ({ request }: { request: Request }) => request }]]
    ) {
      const post = client("service", { apiKey: "k1" }).POST as unknown as Post;
      const { data } = await post("/echo", { body, middleware });
      const isForm = /^multipart\/form-data; *boundary=/.test(data.contentType);
      if (!isForm) throw new Error(`got the content type "${data.contentType}"`);
    }
  },

  async "errors show who called"({ client }) {
    const badFetch = () => Promise.resolve({} as Response);
    const clients = [
      client("redirect"),
      client("service", { maxResponseBytes: 9 }),
      client("service", { fetch: badFetch }),
    ];
    for (const client of clients) {
      const { stack } = await rejection(ScamAddressError, checkValidKey(client));
      if (!stack?.includes("checkValidKey")) throw new Error(`got the stack ${stack}`);
    }
  },

  async "createSandbox() stands in for the service"() {
    const { fetch } = createSandbox({ keys: { "demo-key": 7 } });
    const client = createClient({ baseUrl: "https://service.example/", fetch });
    assertEquals(await client.checkKey("demo-key"), { apiKeyValid: true, data: { credits: 7 } });
  },
};

/** Runs all cases, one after the other, with the server at an address; throws if one fails. */
export async function conform(server: string): Promise<void> {
  const context: Context = {
    server,
    client: (scenario, options) => createClient({ baseUrl: `${server}${scenario}`, ...options }),
    hits: async (scenario) => await (await fetch(`${server}hits/${scenario}`)).json(),
  };
  const failures: string[] = [];
  for (const [name, test] of Object.entries(cases)) {
    await test(context).catch((error) => failures.push(`${name}: ${error}`));
  }
  if (failures.length > 0) throw new Error(failures.join("\n"));
  console.log(`All ${Object.keys(cases).length} cases pass`);
}
