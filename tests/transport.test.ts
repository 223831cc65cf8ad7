import { expect } from "@std/expect";
import { gzipSync } from "node:zlib";

import {
  ConfigurationError,
  createClient,
  HttpError,
  InvalidResponseError,
  NetworkError,
  RedirectError,
  ScamAddressError,
  TimeoutError,
} from "../mod.ts";
import { caught, deferred, shown, withoutBackOff } from "./outcome.ts";
import { type AnyPath, json, serve, serveBytes, serveSockets, validKey } from "./server.ts";

const apiKey = "key-of-the-client";

/** Asserts that a rejection is a time-out, and that it came not long after the time was up. */
async function expectTimeout(timeout: number, call: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  const error = await caught(call()) as TimeoutError;
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error.code).toBe("timeout");
  expect(error.timeout).toBe(timeout);
  expect(performance.now() - start).toBeLessThan(10 * timeout + 5_000);
}

/** What calls reject with. */
function rejections<E>(...calls: Promise<unknown>[]): Promise<E[]> {
  return Promise.all(calls.map(caught)) as Promise<E[]>;
}

/** A body that brings the same chunk again and again, and tells when it is cancelled. */
function endless(chunk: Uint8Array, pause: number) {
  const state = { cancelled: false };
  let timer: ReturnType<typeof setInterval>;
  const body = new ReadableStream({
    start(controller) {
      timer = setInterval(() => controller.enqueue(chunk), pause);
    },
    cancel() {
      state.cancelled = true;
      clearInterval(timer);
    },
  });
  return { body, state };
}

// Time-outs

Deno.test("call() ends at the time-out when no answer comes", async () => {
  await using server = await serve(() => {});
  const client = createClient({ baseUrl: server.url, apiKey, timeout: 250, retries: 0 });
  await expectTimeout(250, () => client.call("GET", "report"));
});

Deno.test("call() ends at the time-out while it connects", async () => {
  await using server = await serveSockets((socket) => socket.resume(), "https");
  const client = createClient({ baseUrl: server.url, apiKey, timeout: 250, retries: 0 });
  await expectTimeout(250, () => client.call("GET", "report"));
});

Deno.test("call() ends at the time-out when the body does not come", async () => {
  await using server = await serve((_, response) => {
    response.writeHead(200, { "content-length": "100" }).flushHeaders();
  });
  const client = createClient({ baseUrl: server.url, apiKey, timeout: 250, retries: 0 });
  await expectTimeout(250, () => client.call("GET", "report"));
});

Deno.test("call() ends at the time-out when the body drips for ever", async () => {
  await using server = await serve((_, response) => {
    const timer = setInterval(() => response.write(" "), 50);
    response.on("close", () => clearInterval(timer));
  });
  const client = createClient({ baseUrl: server.url, apiKey, retries: 0 });
  await expectTimeout(300, () => client.call("GET", "report", { timeout: 300 }));
  await expectTimeout(300, () => client.checkKey("key", { timeout: 300 }));
});

Deno.test("call() ends at the time-out when the body of an error drips for ever", async () => {
  await using server = await serve((_, response) => {
    response.writeHead(500);
    const timer = setInterval(() => response.write(" "), 50);
    response.on("close", () => clearInterval(timer));
  });
  const client = createClient({ baseUrl: server.url, apiKey, timeout: 300, retries: 0 });
  await expectTimeout(300, () => client.call("GET", "report"));
});

Deno.test("call() ends at the time-out when a fetch of the caller's ignores its signal", async () => {
  const { body, state } = endless(new Uint8Array(1), 20);
  const fetches = [
    () => new Promise<Response>(() => {}),
    () => Promise.resolve(new Response(body)),
  ];
  for (const fetch of fetches) {
    const client = createClient({ baseUrl: "https://service.example", apiKey, fetch, retries: 0 });
    await expectTimeout(250, () => client.call("GET", "report", { timeout: 250 }));
  }
  expect(state.cancelled).toBe(true);
});

Deno.test("call() cancels an answer that comes after the time-out", async () => {
  const { body, state } = endless(new Uint8Array(1), 5);
  const { promise, resolve } = deferred<Response>();
  const fetch = () => promise;
  const client = createClient({ baseUrl: "https://service.example", apiKey, fetch, retries: 0 });
  await expectTimeout(50, () => client.call("GET", "report", { timeout: 50 }));
  resolve(new Response(body));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(state.cancelled).toBe(true);
});

Deno.test("call() gives each attempt the whole time", async () => {
  using _ = withoutBackOff();
  await using server = await serve((_, response, count) => {
    if (count === 3) json(response, { count });
  });
  const client = createClient({ baseUrl: server.url, apiKey, timeout: 1_000 });
  expect(await client.call("GET", "report")).toEqual({ count: 3 });
});

Deno.test("checkKey() ends at the time-out when the function for the key hangs", async () => {
  const client = createClient({
    baseUrl: "https://service.example",
    apiKey: () => new Promise(() => {}),
    fetch: () => Promise.reject(new Error("Nothing must be sent")),
  });
  await expectTimeout(250, () => client.checkKey(undefined, { timeout: 250 }));
  await expectTimeout(250, () => client.call("GET", "report", { timeout: 250 }));
});

// Aborts

const reasons: [string, (controller: AbortController) => void][] = [
  ["none", (controller) => controller.abort()],
  ["an error", (controller) => controller.abort(new RangeError("The user left"))],
  ["a string", (controller) => controller.abort("The user left")],
  ["null", (controller) => controller.abort(null)],
  ["one of our errors", (controller) => controller.abort(new NetworkError("Not from here"))],
];

for (const [kind, abort] of reasons) {
  Deno.test(`call() rejects with the signal's reason when it is ${kind}`, async () => {
    const controller = new AbortController();
    const { signal } = controller;
    await using server = await serve(() => abort(controller));
    let retries = 0;
    const client = createClient({ baseUrl: server.url, apiKey, onRetry: () => retries++ });
    const call = () => client.call("GET", "report", { signal });
    expect(await caught(call())).toBe(signal.reason); // under way
    expect(await caught(call())).toBe(signal.reason); // from the start
    expect(retries).toBe(0);
    expect(server.requests.length).toBe(1);
    if (kind === "none") expect(signal.reason.name).toBe("AbortError");
  });
}

Deno.test("methods send nothing and ask for no key when the signal is aborted", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const signal = AbortSignal.abort("stop");
  let asked = 0;
  const client = createClient<AnyPath>({
    baseUrl: server.url,
    apiKey() {
      asked++;
      return new Promise(() => {});
    },
  });
  expect(await caught(client.checkKey("key", { signal }))).toBe("stop");
  expect(await caught(client.checkKey(undefined, { signal }))).toBe("stop");
  expect(await caught(client.call("GET", "report", { signal }))).toBe("stop");
  expect(await caught(client.GET("/report", { signal }))).toBe("stop");
  expect(asked).toBe(0);
  expect(server.requests).toEqual([]);
});

Deno.test("call() rejects at once when it is aborted while it connects", async () => {
  const controller = new AbortController();
  await using server = await serveSockets((socket) => {
    socket.on("data", () => controller.abort("stop"));
  }, "https");
  const client = createClient({ baseUrl: server.url, apiKey });
  expect(await caught(client.call("GET", "report", { signal: controller.signal }))).toBe("stop");
});

Deno.test("call() rejects at once when it is aborted in the middle of the body", async () => {
  await using server = await serve((_, response) => void response.write("[1,"));
  const controller = new AbortController();
  const client = createClient({
    baseUrl: server.url,
    apiKey,
    async fetch(request) {
      const response = await fetch(request);
      setTimeout(() => controller.abort("stop"), 20);
      return response;
    },
  });
  expect(await caught(client.call("GET", "report", { signal: controller.signal }))).toBe("stop");
});

Deno.test("call() rejects at once when it is aborted while the key is asked for", async () => {
  const controller = new AbortController();
  const client = createClient({
    baseUrl: "https://service.example",
    apiKey() {
      setTimeout(() => controller.abort("stop"), 10);
      return new Promise(() => {});
    },
    fetch: () => Promise.reject(new Error("Nothing must be sent")),
  });
  const { signal } = controller;
  expect(await caught(client.call("GET", "report", { signal }))).toBe("stop");
});

Deno.test("call() closes the connection of a request that is aborted", async () => {
  const controller = new AbortController();
  const { promise: closed, resolve } = deferred();
  await using server = await serve((_, response) => {
    response.on("close", resolve);
    controller.abort("stop");
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  expect(await caught(client.call("GET", "report", { signal: controller.signal }))).toBe("stop");
  await closed;
});

Deno.test("methods leave no listener on a signal", async () => {
  using _ = withoutBackOff();
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  let added = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (type: string, listener: never, options?: never) => {
    added++;
    listeners.add(listener);
    addEventListener.call(signal, type, listener, options);
  };
  signal.removeEventListener = (type: string, listener: never, options?: never) => {
    listeners.delete(listener);
    removeEventListener.call(signal, type, listener, options);
  };
  await using server = await serve(({ url }, response, count) => {
    if (url === "/checkKey") return json(response, validKey);
    if (url === "/hang") return;
    if (url === "/reset" || count % 2) return void response.socket!.destroy();
    json(response, { url });
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey: () => apiKey });
  await client.checkKey(undefined, { signal });
  await client.call("GET", "again", { signal });
  await client.GET("/again", { signal });
  await caught(client.call("GET", "reset", { signal }));
  await caught(client.call("GET", "hang", { signal, timeout: 50, retries: 1 }));
  await caught(client.call("GET", "../up", { signal }));
  expect(added).toBeGreaterThan(0);
  expect(listeners.size).toBe(0);
});

// Redirects

for (const status of [300, 301, 302, 303, 304, 305, 307, 308, 399]) {
  for (const host of ["the same", "another"]) {
    Deno.test(`methods refuse a redirect with ${status} to ${host} host`, async () => {
      await using other = await serve((_, response) => json(response, validKey));
      let location = "";
      await using server = await serve(({ url }, response) => {
        if (url === "/target") return json(response, validKey);
        response.writeHead(status, { location, "retry-after": "0" }).end();
      });
      location = host === "another"
        ? `${other.url.replace("127.0.0.1", "localhost")}target`
        : `${server.url}target`;
      const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
      const calls = [
        client.call("GET", "report"),
        client.call("PUT", "report", { body: { a: 1 } }),
        client.checkKey(),
        client.GET("/report"),
        client.POST("/report", { body: {}, redirect: "follow" } as never),
      ];
      for (const error of await rejections<RedirectError>(...calls)) {
        expect(error).toBeInstanceOf(RedirectError);
        expect(error.code).toBe("redirect");
        expect(error.status).toBe(status);
        expect(error.location).toBe(location);
      }
      expect(server.requests.length).toBe(calls.length);
      expect(server.requests.filter(({ url }) => url === "/target")).toEqual([]);
      expect(other.requests).toEqual([]);
    });
  }
}

Deno.test("call() refuses a redirect without a location", async () => {
  await using server = await serve((_, response) => void response.writeHead(302).end());
  const client = createClient({ baseUrl: server.url, apiKey });
  const error = await caught(client.call("GET", "report")) as RedirectError;
  expect(error).toBeInstanceOf(RedirectError);
  expect("location" in error).toBe(false);
});

Deno.test("call() refuses a redirect in the form that browsers give it", async () => {
  const response = Object.defineProperties(new Response(null), {
    type: { value: "opaqueredirect" },
    status: { value: 0 },
    ok: { value: false },
  });
  let sent = 0;
  const fetch = (request: Request) => {
    sent++;
    expect(request.redirect).toBe("manual");
    return Promise.resolve(response);
  };
  const client = createClient({ baseUrl: "https://service.example", apiKey, fetch });
  const error = await caught(client.call("GET", "report")) as RedirectError;
  expect(error).toBeInstanceOf(RedirectError);
  expect(error.status).toBe(0);
  expect("location" in error).toBe(false);
  expect(sent).toBe(1);
});

// Size

Deno.test("call() reads a body of maxResponseBytes and no larger one", async () => {
  await using server = await serve(({ url }, response) => {
    const size = url.startsWith("/fits") ? 1000 : 1001;
    const body = JSON.stringify("x".repeat(size - 2));
    if (url.endsWith("/announced")) response.setHeader("content-length", size);
    if (url.endsWith("/zipped")) {
      const zipped = gzipSync(body); // announces less than the limit
      response.writeHead(200, { "content-encoding": "gzip", "content-length": zipped.length });
      return void response.end(zipped);
    }
    response.write(body.slice(0, 500));
    response.end(body.slice(500));
  });
  const client = createClient({ baseUrl: server.url, apiKey, maxResponseBytes: 1000 });
  for (const form of ["announced", "chunked", "zipped"]) {
    expect(await client.call("GET", `fits/${form}`)).toBe("x".repeat(998));
    const error = await caught(client.call("GET", `exceeds/${form}`)) as InvalidResponseError;
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.status).toBe(200);
    expect(error.issues).toEqual([{ path: "", rule: "maxResponseBytes" }]);
    expect(error.message).not.toContain("xxx");
  }
});

Deno.test("call() stops an answer without end at maxResponseBytes", async () => {
  const { promise: closed, resolve } = deferred();
  await using server = await serve((_, response) => {
    response.on("close", resolve);
    const pour = () => {
      while (response.write(new Uint8Array(2 ** 16)));
    };
    response.on("drain", pour);
    pour();
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  expect(await caught(client.call("GET", "report"))).toBeInstanceOf(InvalidResponseError);
  await closed;
});

Deno.test("call() keeps the status of an error whose body is too large", async () => {
  await using server = await serve((_, response) => {
    response.writeHead(402);
    const pour = () => {
      while (response.write(new Uint8Array(2 ** 16).fill(65)));
    };
    response.on("drain", pour);
    pour();
  });
  const client = createClient({ baseUrl: server.url, apiKey, maxResponseBytes: 2 ** 20 });
  const error = await caught(client.call("GET", "report")) as HttpError;
  expect(error).toBeInstanceOf(HttpError);
  expect(error.status).toBe(402);
  expect(error.body).toBe("A".repeat(2 ** 16));
});

// Wrong answers

const marker = "text-of-the-body";

const wrongBodies: [string, string | null, string?][] = [
  ["HTML", `<!doctype html><title>${marker}</title>`, "json"],
  ["JSON that is cut off", `{"apiKeyValid":true,"data":{"${marker}":1`, "json"],
  ["two values", `{"apiKeyValid":false} "${marker}"`, "json"],
  ["an empty body", "", "empty"],
  ["no content", null, "empty"],
  ["white space", " \n", "json"],
  ["null", "null"],
  ["an array", `["${marker}"]`],
  ["a string", `"${marker}"`],
  ["a number", "1"],
  ["an empty object", "{}"],
  ["a wrong type of apiKeyValid", `{"apiKeyValid":"true","data":{"credits":1}}`],
  ["apiKeyValid null", `{"apiKeyValid":null,"data":{"credits":1}}`],
  ["a valid key without data", `{"apiKeyValid":true}`],
  ["a valid key with data null", `{"apiKeyValid":true,"data":null}`],
  ["a valid key with an array as data", `{"apiKeyValid":true,"data":["${marker}"]}`],
  ["a valid key without credits", `{"apiKeyValid":true,"data":{"x":"${marker}"}}`],
  ["credits as a string", `{"apiKeyValid":true,"data":{"credits":"${marker}"}}`],
  ["fractional credits", `{"apiKeyValid":true,"data":{"credits":1.5}}`],
  ["credits beyond all numbers", `{"apiKeyValid":true,"data":{"credits":1e999}}`],
  ["its fields below __proto__", `{"__proto__":{"apiKeyValid":true,"data":{"credits":1}}}`],
];

for (const [kind, body, rule] of wrongBodies) {
  Deno.test(`checkKey() refuses ${kind}`, async () => {
    const status = body === null ? 204 : 200;
    await using server = await serve((_, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(body ?? undefined);
    });
    const client = createClient({ baseUrl: server.url });
    for (
      const call of [client.checkKey("k"), client.POST("/checkKey", { body: { apiKey: "k" } })]
    ) {
      const error = await caught(call) as InvalidResponseError;
      expect(error).toBeInstanceOf(InvalidResponseError);
      expect(error.code).toBe("invalid_response");
      expect(error.status).toBe(status);
      expect(error.issues.length).toBeGreaterThan(0);
      for (const issue of error.issues) {
        expect(Object.keys(issue).sort()).toEqual(["path", "rule"]);
        expect(issue.path).toMatch(/^(\/.*)?$/);
        expect(issue.rule).toMatch(/^\w+$/);
      }
      if (rule) expect(error.issues).toEqual([{ path: "", rule }]);
      expect(`${error.message}${error.stack}${error.cause}`).not.toContain(marker);
    }
    expect(server.requests.length).toBe(2); // a wrong answer is not asked for again
  });
}

const rightBodies: [string, string, string | undefined][] = [
  ["with a byte-order mark", "\ufeff" + JSON.stringify(validKey), "application/json"],
  ["labelled text/plain", JSON.stringify(validKey), "text/plain"],
  ["labelled text/html", JSON.stringify(validKey), "text/html; charset=iso-8859-1"],
  ["without a label", ` \n${JSON.stringify(validKey)}\r\n`, undefined],
  ["with credits as 1e2", `{"apiKeyValid":true,"data":{"credits":1e2}}`, undefined],
];

for (const [kind, body, contentType] of rightBodies) {
  Deno.test(`checkKey() reads JSON ${kind}`, async () => {
    await using server = await serve((_, response) => {
      if (contentType) response.setHeader("content-type", contentType);
      response.end(body);
    });
    expect(await createClient({ baseUrl: server.url }).checkKey("key")).toEqual(validKey);
  });
}

Deno.test("checkKey() reads JSON that comes byte by byte", async () => {
  const answer = { ...validKey, note: "größer als €100 – 😀" };
  await using server = await serve(async (_, response) => {
    for (const byte of new TextEncoder().encode(JSON.stringify(answer))) {
      response.write(Uint8Array.of(byte));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    response.end();
  });
  expect(await createClient({ baseUrl: server.url }).checkKey("key")).toEqual(answer);
});

Deno.test("checkKey() hands over fields that it does not know", async () => {
  const answer = { apiKeyValid: true, data: { credits: 0, plan: "x" }, note: [1, null] };
  await using server = await serve((_, response) => json(response, answer));
  expect(await createClient({ baseUrl: server.url }).checkKey("key")).toEqual(answer);
});

Deno.test("methods let __proto__ in JSON change nothing", async () => {
  const pollution = `"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}`;
  await using server = await serve(({ url }, response) => {
    response.statusCode = url === "/checkKey" ? 200 : 400;
    response.end(
      `{"apiKeyValid":true,"data":{"credits":1,${pollution}},"key":"${apiKey}",${pollution}}`,
    );
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const status = await client.checkKey() as unknown as Record<string, unknown>;
  const { body } = await caught(client.call("GET", "report")) as { body: Record<string, unknown> };
  const { error } = await client.GET("/report") as { error: Record<string, unknown> };
  for (const value of [status, body, error, {} as Record<string, unknown>]) {
    expect(value["polluted"]).toBe(undefined);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  }
});

for (const status of [200, 201, 202, 204, 205]) {
  Deno.test(`call() takes ${status} without content for a success`, async () => {
    await using server = await serve((_, response) => void response.writeHead(status).end());
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    expect(await client.call("POST", "report", { body: {} })).toBe(undefined);
    const { data, response } = await client.GET("/report");
    expect(data).toBe(undefined);
    expect(response.status).toBe(status);
    client.use({ onResponse: ({ response }) => response });
    expect(await client.call("GET", "report")).toBe(undefined);
  });

  Deno.test(`call() gives a value or an error for ${status} with content`, async () => {
    await using server = await serveBytes((socket) => {
      socket.end(`HTTP/1.1 ${status} OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n42`);
    });
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
    const expected = status < 204 ? [42] : [42, undefined]; // these two have no content in HTTP
    expect(expected).toContain(await client.call("GET", "report"));
    client.use({ onResponse: ({ response }) => response });
    expect(expected).toContain(await client.call("GET", "report"));
    expect(expected).toContain((await client.GET("/report")).data);
  });
}

Deno.test("HEAD() and call() take an answer to HEAD, which has no body", async () => {
  await using server = await serve(({ url }, response) => {
    response.writeHead(url === "/missing" ? 404 : 200, { "content-length": "100" }).end();
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  expect(await client.call("HEAD", "report")).toBe(undefined);
  const { data, response } = await client.request("head", "/report" as never);
  expect(data).toBe(undefined);
  expect(response.headers.get("content-length")).toBe("100");
  const error = await caught(client.call("HEAD", "missing")) as HttpError;
  expect(error).toBeInstanceOf(HttpError);
  expect(error.body).toBe("");
});

// Statuses

const errorBodies: [string, string, unknown][] = [
  ["JSON", `{"error":{"code":7}}`, { error: { code: 7 } }],
  ["JSON with a byte-order mark", `\ufeff{"a":1}`, { a: 1 }],
  ["null", "null", null],
  ["nothing", "", ""],
  ["HTML", "<h1>No</h1>", "<h1>No</h1>"],
  ["JSON that is cut off", `{"error":`, `{"error":`],
];

for (const status of [400, 401, 402, 403, 404, 405, 409, 410, 413, 418, 422, 451, 501, 505, 599]) {
  Deno.test(`call() keeps what came with status ${status}`, async () => {
    await using server = await serve(({ url }, response) => {
      const [, body] = errorBodies[Number(url.slice(1))]!;
      response.writeHead(status, { "x-request-id": "r1", "set-cookie": ["a=1", "b=2"] }).end(body);
    });
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    for (const [index, [, , body]] of errorBodies.entries()) {
      const error = await caught(client.call("POST", `${index}`, { body: {} })) as HttpError;
      expect(error).toBeInstanceOf(HttpError);
      expect(error.code).toBe("http");
      expect(error.status).toBe(status);
      expect(error.headers.get("x-request-id")).toBe("r1");
      expect(error.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
      expect(error.body).toEqual(body);
      expect("retryAfter" in error).toBe(false);
      const result = await client.POST(`/${index}`, { body: {} } as never);
      expect(result.response.status).toBe(status);
      expect(result.response.ok).toBe(false);
      expect(result.error || "").toEqual(body ?? "");
      expect(result.data).toBe(undefined);
    }
  });
}

Deno.test("call() keeps what came of an error that breaks off", async () => {
  await using server = await serve((_, response) => {
    response.writeHead(403, { "content-length": "100", "x-request-id": "r1" });
    response.write("<h1>No", () => setTimeout(() => response.socket!.destroy(), 20));
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const error = await caught(client.call("GET", "report")) as HttpError;
  expect(error).toBeInstanceOf(HttpError);
  expect(error.status).toBe(403);
  expect(error.headers.get("x-request-id")).toBe("r1");
  expect(error.body).toBe("<h1>No");
  const result = await client.GET("/report");
  expect(result.response.status).toBe(403);
  expect(result.error).toBe("<h1>No");
  expect(server.requests.length).toBe(2);
});

Deno.test("call() cuts the body of an error at 64 KiB", async () => {
  await using server = await serve(({ url }, response) => {
    const [name, size] = url.slice(1).split("/");
    const bodies: Record<string, string> = {
      text: "€".repeat(Number(size)),
      json: JSON.stringify(["x".repeat(Number(size) - 4)]),
    };
    response.writeHead(400).end(bodies[name!]);
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  const body = async (path: string) => (await caught(client.call("GET", path)) as HttpError).body;
  expect(await body(`text/${2 ** 20}`)).toBe("€".repeat(2 ** 16 / 3));
  expect(await body(`json/${2 ** 16}`)).toEqual(["x".repeat(2 ** 16 - 4)]);
  expect(await body(`json/${2 ** 16 + 1}`)).toBe(`["${"x".repeat(2 ** 16 - 3)}"`);
});

Deno.test("methods report a status that no Response can have", async () => {
  await using server = await serveBytes((socket) => {
    socket.end("HTTP/1.1 999 No\r\nContent-Length: 2\r\n\r\n[]");
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  const error = await caught(client.call("GET", "report")) as HttpError;
  expect(error).toBeInstanceOf(HttpError);
  expect(error.status).toBe(999);
  expect(error.body).toEqual([]);
  for (let round = 0; round < 2; round++) {
    const result = await client.GET("/report");
    expect(result.error).toEqual([]);
    expect(result.response.status).toBe(999);
    expect(result.response.ok).toBe(false);
    client.use({ onResponse: ({ response }) => response });
  }
});

Deno.test("methods take a reason phrase that no Response can have", async () => {
  await using server = await serveBytes((socket, count) => {
    const status = count % 2 ? 400 : 200;
    socket.end(`HTTP/1.1 ${status} Größe\u20ac\x80\r\nContent-Length: 2\r\n\r\n[]`);
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  for (let round = 0; round < 2; round++) {
    const { response, error } = await client.GET("/report");
    expect(response.status).toBe(400);
    expect(error).toEqual([]);
    expect((await client.GET("/report")).data).toEqual([]);
    client.use({ onResponse: ({ response }) => response });
  }
});

Deno.test("call() waits for the answer behind informational ones", async () => {
  await using server = await serveBytes((socket) => {
    socket.write("HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n");
    socket.write("HTTP/1.1 102 Processing\r\n\r\n");
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n42");
  });
  const client = createClient({ baseUrl: server.url, apiKey, retries: 0 });
  expect(await client.call("GET", "report")).toBe(42);
});

// Connections

Deno.test("methods keep the cause when nobody listens", async () => {
  const server = await serveSockets(() => {});
  await server[Symbol.asyncDispose]();
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  for (
    const error of await rejections<NetworkError>(
      client.checkKey(),
      client.call("GET", "report"),
      client.GET("/report"),
    )
  ) {
    expect(error).toBeInstanceOf(NetworkError);
    expect(error.code).toBe("network");
    expect(error.cause).toBeInstanceOf(Error);
    expect(shown(error.cause)).toMatch(/ECONNREFUSED|Connection refused/);
  }
});

const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
const brokenAnswers: [string, (string | Uint8Array)[]][] = [
  ["nothing at all", [""]],
  ["half a head", ["HTTP/1.1 200 OK\r\nContent-"]],
  ["something that is not HTTP", ["220 mail.example ESMTP\r\n"]],
  ["TLS", [Uint8Array.of(21, 3, 3, 0, 2, 2, 70)]],
  ["a status that is no number", ["HTTP/1.1 abc OK\r\n\r\n"]],
  ["a header that is too large", [`${head}X: ${"x".repeat(2 ** 20)}\r\n\r\n`]],
  ["an end without length", [`${head}Transfer-Encoding: chunked\r\n\r\n5\r\n[1,2,\r\n`]],
  ["a body shorter than announced", [`${head}Content-Length: 100\r\n\r\n[1,2]`]],
  ["chunks that are garbage", [`${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n[1,2]\r\n`]],
  ["gzip that is garbage", [`${head}Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n[1,2]`]],
];

for (const [kind, bytes] of brokenAnswers) {
  Deno.test(`methods report ${kind} as a NetworkError`, async () => {
    await using server = await serveBytes((socket) => {
      for (const part of bytes) socket.write(part);
      socket.end();
    });
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
    for (
      const error of await rejections<NetworkError>(
        client.checkKey(),
        client.call("GET", "report"),
        client.GET("/report"),
      )
    ) {
      expect(error).toBeInstanceOf(NetworkError);
      expect(error.cause).toBeInstanceOf(Error);
    }
  });
}

Deno.test("call() gives one of the package's errors where runtimes differ", async () => {
  const answers: [string | Uint8Array, RegExp][] = [
    // Node and Deno differ in whether the end of a stream has to be there.
    [gzipSync(JSON.stringify([..."0123456789".repeat(99)])).subarray(0, 40), /^(invalid|network)/],
    // They differ in whether fetch hands over a status that ends HTTP.
    ["HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", /^(http|network)$/],
    // Node does not hand over what asks a browser for the password of a proxy.
    ["HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", /^(http|network)$/],
  ];
  for (const [bytes, code] of answers) {
    await using server = await serveBytes((socket) => {
      if (typeof bytes !== "string") {
        socket.write(`${head}Content-Encoding: gzip\r\nConnection: close\r\n\r\n`);
      }
      socket.end(bytes);
    });
    const client = createClient({ baseUrl: server.url, apiKey, retries: 0 });
    const error = await caught(client.call("GET", "report")) as ScamAddressError;
    expect(error instanceof ScamAddressError).toBe(true);
    expect(error.code).toMatch(code);
  }
});

Deno.test("call() reads no further than the announced length", async () => {
  await using server = await serveBytes((socket) => {
    socket.end(`${head}Content-Length: 2\r\n\r\n42 and HTTP/1.1 200 OK\r\n\r\n`);
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  for (let round = 0; round < 5; round++) expect(await client.call("GET", "report")).toBe(42);
});

Deno.test("call() stops an answer that is longer than announced at maxResponseBytes", async () => {
  await using server = await serveBytes((socket) => {
    const chunk = "800\r\n" + `"${"x".repeat(2046)}"\r\n`;
    socket.end(`${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`);
  });
  const client = createClient({ baseUrl: server.url, apiKey, retries: 0, maxResponseBytes: 1000 });
  const error = await caught(client.call("GET", "report")) as ScamAddressError;
  expect(error instanceof ScamAddressError).toBe(true);
  expect(error.code).toMatch(/^(invalid_response|network)$/); // Node refuses the two headers
});

Deno.test("call() settles when the server closes the connections that it keeps", async () => {
  using _ = withoutBackOff();
  await using server = await serve((_, response, count) => {
    const { socket } = response;
    json(response, count);
    response.on("finish", () => setTimeout(() => socket!.destroy(), count % 3));
  });
  const client = createClient({ baseUrl: server.url, apiKey, retries: 5 });
  for (let round = 1; round <= 50; round++) {
    expect(await client.call("GET", "report")).toBeGreaterThanOrEqual(round);
    await new Promise((resolve) => setTimeout(resolve, round % 4));
  }
});

Deno.test("call() settles when the answer comes before the request has been read", async () => {
  await using server = await serveSockets((socket) => {
    socket.once("data", () => {
      socket.pause();
      socket.end("HTTP/1.1 413 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\n[]");
      socket.on("close", clearTimeout.bind(null, setTimeout(() => socket.destroy(), 100)));
    });
  });
  const client = createClient({ baseUrl: server.url, apiKey, retries: 0, timeout: 5_000 });
  const error = await caught(client.call("POST", "report", { body: "x".repeat(2 ** 24) }));
  expect((error as ScamAddressError).code).toMatch(/^(http|network)$/);
});

// A fetch of the caller's own

const junkFetches: [string, () => unknown][] = [
  ["throws", () => {
    throw new RangeError("boom");
  }],
  ["throws a string", () => {
    throw "boom";
  }],
  ["rejects with nothing", () => Promise.reject()],
  ["returns nothing", () => undefined],
  ["resolves to an empty object", () => Promise.resolve({})],
  ["resolves to a string", () => Promise.resolve("200 OK")],
  ["resolves to Response.error()", () => Promise.resolve(Response.error())],
  ["resolves to a response that has been read", async () => {
    const response = new Response("[]");
    await response.text();
    return response;
  }],
  ["resolves to a body that fails", () =>
    new Response(
      new ReadableStream({
        pull() {
          throw new RangeError("boom");
        },
      }),
    )],
];

for (const [kind, fetch] of junkFetches) {
  Deno.test(`methods report a fetch that ${kind} as a NetworkError`, async () => {
    const client = createClient<AnyPath>({
      baseUrl: "https://service.example",
      apiKey,
      fetch: fetch as () => Promise<Response>,
      retries: 0,
    });
    const calls = [client.checkKey(), client.call("GET", "report"), client.GET("/report")];
    for (const error of await rejections(...calls)) expect(error).toBeInstanceOf(NetworkError);
  });
}

Deno.test("methods report a body of strings as one of the package's errors", async () => {
  const fetch = () => {
    const strings = ["[1,", "2]"];
    const body = new ReadableStream({
      pull(controller) {
        const next = strings.shift();
        next ? controller.enqueue(next) : controller.close();
      },
    });
    return Promise.resolve(new Response(body));
  };
  const client = createClient({ baseUrl: "https://service.example", apiKey, fetch, retries: 0 });
  const error = await caught(client.call("GET", "report"));
  expect(error instanceof ScamAddressError).toBe(true);
});

// The methods of openapi-fetch

Deno.test("GET() rejects with the package's errors where openapi-fetch throws its platform's", async () => {
  await using server = await serve(({ url }, response) => {
    if (url === "/html") return void response.end("<h1>");
    if (url === "/announced") return void response.setHeader("content-length", 4).end("<h1>");
    if (url === "/reset") return void response.socket!.destroy();
    if (url === "/cut") {
      response.writeHead(200, { "content-length": 9 }).write("[");
      return void setTimeout(() => response.socket!.destroy(), 20);
    }
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  const get = (path: string, init = {}) => caught(client.GET(path, init as never));
  expect(await get("/html")).toBeInstanceOf(InvalidResponseError);
  expect(await get("/announced")).toBeInstanceOf(InvalidResponseError);
  expect(await get("/reset")).toBeInstanceOf(NetworkError);
  for (const parseAs of ["json", "text", "stream", "blob", "arrayBuffer"]) {
    expect(await get("/cut", { parseAs })).toBeInstanceOf(NetworkError);
    expect(await get("/hang", { parseAs, timeout: 250 })).toBeInstanceOf(TimeoutError);
  }
  expect(await get("/a", { baseUrl: "not a URL" })).toBeInstanceOf(ConfigurationError);
  expect(await get("/a", { baseUrl: 1 })).toBeInstanceOf(ConfigurationError);
  expect(await get("/a", { headers: { "a b": "c" } })).toBeInstanceOf(ConfigurationError);
  expect(await get("/a", { headers: { a: "\u20ac" } })).toBeInstanceOf(ConfigurationError);
  expect(await get("/a", { body: {} })).toBeInstanceOf(ConfigurationError);
  expect(await get("/{a}", { params: { path: { a: "\ud800" } } })).toBeInstanceOf(
    ConfigurationError,
  );
  expect(await get("/a", { params: { query: { a: "\ud800" } } })).toBeInstanceOf(
    ConfigurationError,
  );
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  for (const body of [cyclic, 1n]) {
    expect(await caught(client.POST("/a", { body } as never))).toBeInstanceOf(ConfigurationError);
  }
  expect(server.requests.filter(({ url }) => url.startsWith("/a?") || url === "/a")).toEqual([]);
});

Deno.test("GET() hands over a body in the form that parseAs names", async () => {
  await using server = await serve((_, response) => json(response, [1]));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const get = async (parseAs: string) =>
    (await client.GET("/a", { parseAs } as never)).data as unknown;
  expect(await get("json")).toEqual([1]);
  expect(await get("text")).toBe("[1]");
  expect(await (await get("blob") as Blob).text()).toBe("[1]");
  expect(new TextDecoder().decode(await get("arrayBuffer") as ArrayBuffer)).toBe("[1]");
  expect(await new Response(await get("stream") as ReadableStream).text()).toBe("[1]");
});

Deno.test("middleware can answer, replace an answer, and replace an error", async () => {
  await using server = await serve((_, response) => json(response, ["service"]));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  const get = (fetch?: () => Promise<Response>, ...middleware: object[]) =>
    client.GET("/a", { ...fetch && { fetch }, middleware } as never);
  const answer = { onRequest: () => Response.json(["middleware"]) };
  expect((await get(undefined, answer)).data).toEqual(["middleware"]);
  expect(server.requests).toEqual([]);
  const replace = { onResponse: () => Response.json(["replaced"], { status: 201 }) };
  const replaced = await get(undefined, replace);
  expect(replaced.data).toEqual(["replaced"]);
  expect(replaced.response.status).toBe(201);
  const mend = {
    onError({ error }: { error: unknown }) {
      expect(error).toBeInstanceOf(NetworkError);
      return Response.json(["mended"]);
    },
  };
  expect((await get(() => Promise.reject(new Error("boom")), mend)).data).toEqual(["mended"]);
  const wrong = { onResponse: () => new Response("<h1>") };
  expect(await caught(get(undefined, wrong))).toBeInstanceOf(InvalidResponseError);
  const failed = await get(undefined, { onResponse: () => Response.json(["no"], { status: 500 }) });
  expect(failed.error).toEqual(["no"]);
  client.use(wrong);
  expect(await caught(client.checkKey())).toBeInstanceOf(InvalidResponseError);
});

Deno.test("methods reject with what middleware throws", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const boom = new RangeError("boom");
  const hook = () => {
    throw boom;
  };
  for (const middleware of [{ onRequest: hook }, { onResponse: hook }]) {
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    client.use(middleware);
    expect(await caught(client.checkKey())).toBe(boom);
    expect(await caught(client.call("GET", "report"))).toBe(boom);
    expect(await caught(client.GET("/report"))).toBe(boom);
    client.eject(middleware);
    expect(await client.checkKey()).toEqual(validKey);
  }
});

Deno.test("methods bound the body of an answer that middleware gives", async () => {
  const onResponse = () => new Response(endless(new Uint8Array(10), 10).body);
  await using server = await serve((_, response) => json(response, validKey));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, maxResponseBytes: 100 });
  client.use({ onResponse });
  expect(await caught(client.GET("/report"))).toBeInstanceOf(InvalidResponseError);
  const controller = new AbortController();
  setTimeout(() => controller.abort("stop"), 10);
  expect(await caught(client.GET("/report", { signal: controller.signal }))).toBe("stop");
  await expectTimeout(50, () => client.GET("/report", { timeout: 50 }));
});

Deno.test("methods put a body of chunks of many sizes together again", async () => {
  const body = Uint8Array.from({ length: 100_000 }, (_, index) => index * 7);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let start = 0, size = 0; start < body.length; start += size++) {
        controller.enqueue(body.subarray(start, start + size)); // the first one is empty
      }
      controller.close();
    },
  });
  const client = createClient<AnyPath>({
    baseUrl: "https://service.example/",
    apiKey,
    maxResponseBytes: body.length,
    fetch: () => Promise.resolve(new Response(stream)),
  });
  const { data } = await client.GET("/report", { parseAs: "arrayBuffer" });
  expect(new Uint8Array(data as ArrayBuffer)).toEqual(body);
});
