// What the caller's own functions throw rejects the call unchanged, except that a custom
// fetch stands for the network.
import { expect } from "@std/expect";

import {
  HttpError,
  InvalidResponseError,
  type Middleware,
  NetworkError,
  ScamAddressError,
  TimeoutError,
} from "../mod.ts";
import {
  apiKey,
  callEveryWay,
  checkKeyPath,
  clientOf,
  schemaOf,
  undocumented,
  unsent,
  unusedFetch,
} from "./support/client.ts";
import { caught, rejection, rejections } from "./support/rejection.ts";
import { validKey } from "./support/server.ts";
import { replaceWaiting } from "./support/waiting.ts";

const path = `/${undocumented}`;
const valid = () => Response.json(validKey);
const unavailable = () => new Response(null, { status: 503 });

// What they throw

/** Makes calls of a client with middleware. */
function callWith(middleware: Middleware, fetch: () => unknown = valid) {
  const client = clientOf(fetch, { retries: 0 });
  client.use(middleware);
  return [client.checkKey("some-key"), ...callEveryWay(client)];
}

/** Makes calls in which a function of the caller's fails. */
const startFailing = (fail: () => never) => [
  ...callEveryWay(clientOf(unusedFetch, { apiKey: fail })),
  ...callWith({ onRequest: fail }, unusedFetch),
  ...callWith({ onResponse: fail }),
  ...callWith({ onError: fail }, () => Promise.reject()),
  ...callEveryWay(clientOf(unavailable, { onRetry: fail })),
  clientOf(valid).call("GET", undocumented, { schema: schemaOf(fail) }),
];

/** Makes calls in which a serializer fails. */
const startFailingSerializers = (fail: () => never) => [
  unsent.POST(path, { body: {}, bodySerializer: fail }),
  unsent.POST(path, { body: { toJSON: fail } }),
  unsent.GET(path, { querySerializer: fail, params: { query: {} } }),
  unsent.GET(path, { pathSerializer: fail, params: { path: {} } }),
];

Deno.test("methods reject with the very value that a function of the caller's throws", async () => {
  const boom = new RangeError(`boom ${apiKey}`);
  const { stack } = boom;
  for (const thrown of [boom, "boom", { code: 7 }]) {
    const fail = () => {
      throw thrown;
    };
    const reject = (() => Promise.reject(thrown)) as unknown as () => never;
    const calls = [
      ...startFailing(fail),
      ...startFailing(reject),
      ...startFailingSerializers(fail),
    ];
    for (const end of await Promise.all(calls.map(caught))) expect(end).toBe(thrown);
  }
  expect(boom.stack).toBe(stack); // It shows where the caller's code threw it.
});

Deno.test("methods reject with what a body of the caller's fails with", async () => {
  const boom = new RangeError("boom");
  const stream = () => new ReadableStream({ pull: () => Promise.reject(boom) });
  const make = () => new Response(stream());
  const calls = [
    ...callWith({ onRequest: make }, unusedFetch),
    ...callWith({ onResponse: make }),
    ...callWith({ onError: make }, () => Promise.reject()),
    ...callWith({
      onRequest: ({ request: { url } }) =>
        new Request(url, { method: "POST", body: stream(), duplex: "half" } as RequestInit),
    }, unusedFetch),
  ];
  for (const end of await Promise.all(calls.map(caught))) expect(end).toBe(boom);
});

// Middleware

for (const hook of ["onRequest", "onResponse", "onError"] as const) {
  Deno.test(`methods check a response that ${hook} makes, without a limit of its size`, async () => {
    const fetches = {
      onRequest: unusedFetch,
      onResponse: unavailable,
      onError: () => Promise.reject(),
    };
    const making = (data: unknown, status = 200) => {
      const client = clientOf(fetches[hook], { retries: 0, maxResponseBytes: 100 });
      const make = () => new Response(data === null ? null : JSON.stringify(data), { status });
      client.use({ [hook]: make } as unknown as Middleware);
      return client;
    };
    const right = { ...validKey, more: "x".repeat(100) };
    expect(await making(right).checkOwnKey()).toEqual(right);
    expect((await making(right).call("GET", undocumented)).data).toEqual(right);
    const wrong = making({ other: 1 });
    const calls = [wrong.checkOwnKey(), wrong.POST(checkKeyPath, { body: { apiKey } })];
    for (const { issues, response } of await rejections(InvalidResponseError, calls)) {
      expect([issues[0]!.rule, response.body]).toEqual(["required", { other: 1 }]);
    }
    for (const [status, data, body] of [[304, null, ""], [404, { no: 1 }, { no: 1 }]] as const) {
      const failing = making(data, status);
      const { response } = await rejection(HttpError, failing.call("GET", undocumented));
      expect(response).toMatchObject({ status, body });
      const result = await failing.GET(path);
      expect([result.response.status, result.error]).toEqual([status, body]);
    }
  });
}

Deno.test("middleware of one call, or left after eject(), can read the response", async () => {
  const reading: Middleware = {
    async onResponse({ response }) {
      return Response.json([await response.clone().json(), await response.json()]);
    },
  };
  const client = clientOf(() => Response.json([1]));
  expect((await client.GET(path, { middleware: [reading] })).data).toEqual([[1], [1]]);
  const ejected = { onResponse() {} };
  client.use(ejected, reading);
  client.eject(ejected);
  expect((await client.GET(path)).data).toEqual([[1], [1]]);
});

Deno.test("middleware that is added while the key is awaited sees a Request and a Response", async () => {
  const seen: unknown[] = [];
  const client = clientOf(valid, {
    apiKey() {
      client.use({
        onRequest: ({ request }) => void seen.push(request),
        onResponse: ({ response }) => void seen.push(response),
      });
      return apiKey;
    },
  });
  await client.checkOwnKey();
  expect(seen).toEqual([expect.any(Request), expect.any(Response)]);
});

Deno.test("methods send nothing when middleware has read the request's body", async () => {
  const client = clientOf(unusedFetch);
  client.use({
    async onRequest({ request }) {
      const reader = request.body!.getReader();
      await reader.read(); // The rest would be sent.
      reader.releaseLock();
    },
  });
  const calls = [client.checkOwnKey(), client.POST(path, { body: {} })];
  for (const error of await rejections(TypeError, calls)) {
    expect(error instanceof ScamAddressError).toBe(false);
  }
});

// A custom fetch: it stands for the network, and may be a mock or of a library

/** A response that is not a `Response` but has its parts, as another realm's has. */
function partialResponse(status: number, body: unknown) {
  const ok = status < 300;
  return { status, statusText: "", ok, headers: new Headers(), body, bodyUsed: false };
}

/** A response with a chunk, which may be no bytes. */
function chunkOf(chunk: unknown) {
  const start = (controller: ReadableStreamDefaultController) => controller.enqueue(chunk);
  return new Response(new ReadableStream({ start }));
}

Deno.test("methods reject with a NetworkError after retries when a custom fetch fails", async () => {
  using _waiting = replaceWaiting();
  const fetches: (() => unknown)[] = [
    () => JSON.parse("{"),
    () => Promise.reject(),
    () => Response.error(),
    () => undefined, // A mock may return anything.
    () => ({ json: () => validKey }),
    () => ({ status: 503, body: new Response("").body }),
    () => chunkOf("[1,2]"),
    () => chunkOf(new DataView(new ArrayBuffer(4))),
    () => Promise.reject(new TimeoutError("late", { timeout: 1 })), // a reason as any other
  ];
  for (const fetch of fetches) {
    let sent = 0;
    const client = clientOf(() => (sent++, fetch()), { retries: 1 });
    await rejections(NetworkError, callEveryWay(client));
    expect(sent).toBe(6);
  }
});

Deno.test("a custom fetch, of the client or of a call, gets a request and no other argument", async () => {
  const seen: unknown[][] = [];
  function fetch(this: unknown, ...args: unknown[]) {
    expect(this).toBe(undefined); // Workers refuse to call their `fetch` with another.
    seen.push(args);
    return Promise.resolve(valid());
  }
  await Promise.all(callEveryWay(clientOf(fetch)));
  expect((await unsent.GET("/a", { fetch })).data).toEqual(validKey);
  expect(seen).toEqual(Array(4).fill([expect.any(Request)]));
});

/** A body that is not a `ReadableStream`. */
function streamOf(...texts: string[]) {
  const read = () => {
    const done = texts.length === 0;
    return Promise.resolve({ value: new TextEncoder().encode(texts.shift()), done });
  };
  return { getReader: () => ({ read, cancel: () => Promise.resolve() }) };
}

Deno.test("methods read a response of another realm, and change none", async () => {
  const client = clientOf(() => partialResponse(200, streamOf("[", "1]")));
  expect((await client.call("GET", undocumented)).data).toEqual([1]);
  expect((await client.GET(path)).data).toEqual([1]);
  const response = Response.json([1]);
  expect((await clientOf(() => response).call("GET", undocumented)).data).toEqual([1]);
  expect(Object.getOwnPropertyNames(response)).toEqual([]);
});

Deno.test("the status of a response counts, and not what a mock has as its ok", async () => {
  const withStatus = (status: number) =>
    Object.defineProperty(Response.json([1]), "status", { value: status });
  const failing = clientOf(() => withStatus(503), { retries: 0 });
  expect((await rejection(HttpError, failing.call("GET", "a"))).response.status).toBe(503);
  expect((await failing.GET("/a")).error).toEqual([1]);
});

Deno.test("methods read a byte stream of a custom fetch to its end", async () => {
  const client = clientOf(() => {
    let isClosing = false;
    const body = new ReadableStream({
      type: "bytes",
      pull(controller) {
        // Without `respond(0)`, a read into a buffer would never end.
        if (isClosing) return controller.close();
        controller.enqueue(new TextEncoder().encode("[1]"));
        isClosing = true;
      },
    });
    return new Response(body);
  }, { timeout: 5_000, retries: 0 });
  expect((await client.call("GET", undocumented)).data).toEqual([1]);
});

Deno.test("methods read a response that only looks like the runtime's own", async () => {
  const start = (controller: ReadableStreamDefaultController) => {
    controller.enqueue(new TextEncoder().encode("[1]"));
    controller.close();
  };
  const made = () => {
    const response = new Response(new ReadableStream({ start })); // It is no stream of bytes.
    return Object.defineProperty(response, "type", { value: "basic" });
  };
  expect((await clientOf(made).call("GET", undocumented)).data).toEqual([1]);
});

Deno.test("middleware before one that use() refuses sees a Request", async () => {
  const client = clientOf(() => Response.json([1]));
  const seen: unknown[] = [];
  const onRequest = ({ request }: { request: Request }) => void seen.push(request);
  expect(() => client.use({ onRequest }, "none" as never)).toThrow();
  await client.call("GET", undocumented);
  expect(seen).toEqual([expect.any(Request)]);
});
