// What a custom fetch may do: it stands for the network, and may be a mock or of a library.
import { expect } from "@std/expect";
import { Readable } from "node:stream";

import {
  ConfigurationError,
  createClient,
  NetworkError,
  RedirectError,
  type RetryEvent,
} from "../mod.ts";
import { apiKey, baseUrl, isDeno, sendAll, undocumented, unsent } from "./support/client.ts";
import { replaceWaiting } from "./support/waiting.ts";
import { caught, rejections } from "./support/rejection.ts";
import { type AnyPath, checkKeyStatus, json, serve, validKey } from "./support/server.ts";

/** Creates a client whose custom fetch resolves to any value, and counts its calls. */
function clientOf(respond: () => unknown) {
  const counted = { sent: 0 };
  const fetch = (() => {
    counted.sent++;
    return respond();
  }) as () => Promise<Response>;
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch });
  return { client, counted };
}

/** A response that is not a `Response` but has its parts, as another realm's has. */
function partialResponse(status: number, body: unknown) {
  const ok = status < 300;
  return { status, statusText: "", ok, headers: new Headers(), body, bodyUsed: false };
}

const strings = () => {
  const start = (controller: ReadableStreamDefaultController) => controller.enqueue("[1,2]");
  return Promise.resolve(new Response(new ReadableStream({ start })));
};

Deno.test("methods reject with a NetworkError after retries when a custom fetch fails", async () => {
  using _waiting = replaceWaiting();
  const fetches: (() => unknown)[] = [
    () => JSON.parse("{"),
    () => Promise.reject(),
    () => Promise.resolve(Response.error()),
    () => Promise.resolve(partialResponse(700, null)), // a status that is none
    strings,
  ];
  for (const fetch of fetches) {
    const { client, counted } = clientOf(fetch);
    await rejections(NetworkError, sendAll(client));
    expect(counted.sent).toBe(9);
    client.use({ onRequest() {} });
    await rejections(NetworkError, sendAll(client));
  }
});

Deno.test("what a custom fetch throws is a NetworkError, even an error of the same call", async () => {
  using _waiting = replaceWaiting();
  let last: Error | undefined;
  const fetch = () =>
    last ? Promise.reject(last) : Promise.resolve(new Response(null, { status: 503 }));
  const onRetry = ({ error }: RetryEvent) => void (last = error);
  const client = createClient({ baseUrl, apiKey, fetch, onRetry, retries: 1 });
  const [error] = await rejections(NetworkError, [client.call("GET", undocumented)]);
  expect(error!.message).toMatch(
    / failed after 2 attempts: got no complete response: .* status 503$/,
  );
});

const valid = () => Response.json(validKey, { status: checkKeyStatus });

Deno.test("methods refuse what is not an unread Response, after one attempt", async () => {
  const [read, begun, locked] = [valid(), valid(), valid()];
  await read.text();
  const reader = begun.body!.getReader();
  await reader.read();
  reader.releaseLock();
  locked.body!.getReader();
  for (const value of [undefined, null, validKey, read, begun, locked]) {
    const { client, counted } = clientOf(() => value);
    for (const { message, option } of await rejections(ConfigurationError, sendAll(client))) {
      expect(message).toMatch(
        / must return a Response that nobody has read, such as new Response\(/,
      );
      expect(option).toBe("fetch");
    }
    expect(counted.sent).toBe(3);
  }
});

Deno.test("a custom fetch gets a request and no other argument", async () => {
  const seen: unknown[][] = [];
  function fetch(this: unknown, ...args: unknown[]) {
    expect(this).toBe(undefined); // Workers refuse to call their `fetch` with another.
    seen.push(args);
    return Promise.resolve(valid());
  }
  await Promise.all(sendAll(createClient<AnyPath>({ baseUrl, apiKey, fetch })));
  await createClient<AnyPath>({ baseUrl, apiKey }).GET("/a", { fetch });
  expect(seen).toEqual(Array(4).fill([expect.any(Request)]));
});

Deno.test({
  name: "the dispatcher of requestInitExt comes with the request that a custom fetch gets",
  ignore: isDeno, // which has no dispatchers
  async fn() {
    let count = 0;
    const dispatch = () => {
      count++;
      throw new Error("dispatched");
    };
    const requestInitExt = { dispatcher: { dispatch } };
    for (const fetch of [undefined, (request: Request) => globalThis.fetch(request)]) {
      const client = createClient({ baseUrl, apiKey, fetch, requestInitExt, retries: 0 });
      const [error] = await rejections(NetworkError, [client.call("GET", undocumented)]);
      expect(error!.message).toContain("dispatched");
    }
    expect(count).toBe(2);
  },
});

Deno.test("methods refuse a response that a custom fetch got by following a redirect", async () => {
  await using other = await serve((_, response) => json(response, validKey));
  await using server = await serve((_, response) => {
    response.writeHead(303, { location: other.url }).end();
  });
  const following = (request: Request) => fetch(new Request(request, { redirect: "follow" }));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, fetch: following });
  for (const error of await rejections(RedirectError, sendAll(client))) {
    expect(error.message).toMatch(
      /was redirected to ".*" by the custom "fetch", which must not follow/,
    );
    expect(error.location).toBe(other.url);
  }
  expect(server.requests.length).toBe(3);
});

// Responses of other classes

/** A body that is not a `ReadableStream`. */
function streamOf(...texts: string[]) {
  const read = () => {
    const done = texts.length === 0;
    return Promise.resolve({ value: new TextEncoder().encode(texts.shift()), done });
  };
  return { getReader: () => ({ read, cancel: () => Promise.resolve() }) };
}

Deno.test("call() and GET() read a response of another realm", async () => {
  const { client } = clientOf(() => partialResponse(200, streamOf("[", "1]")));
  expect((await client.call("GET", undocumented)).data).toEqual([1]);
  expect((await client.GET(`/${undocumented}`)).data).toEqual([1]);
});

Deno.test("methods change no response that a custom fetch returns", async () => {
  const response = Response.json([1]);
  expect((await clientOf(() => response).client.call("GET", undocumented)).data).toEqual([1]);
  expect(Object.hasOwn(response, "text")).toBe(false);
});

/** Streams of bytes as programs make them; on Deno, some of them never end a read into a buffer. */
const byteStreams: (() => ReadableStream<Uint8Array>)[] = [
  () => {
    let isClosing = false;
    return new ReadableStream({
      type: "bytes",
      pull(controller) {
        if (isClosing) return controller.close(); // without `respond(0)`
        controller.enqueue(new TextEncoder().encode("[1]"));
        isClosing = true;
      },
    });
  },
  () =>
    Readable.toWeb(
      Readable.from([new TextEncoder().encode("[1]")]),
      { type: "bytes" } as never,
    ) as never,
];

Deno.test("methods read a byte stream to its end, as a response and as a request's body", async () => {
  await using server = await serve(({ body }, response) => void response.end(body));
  const { signal } = new AbortController();
  for (const stream of byteStreams) {
    const { client } = clientOf(() => Promise.resolve(new Response(stream())));
    const sending = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    const init = { body: {}, bodySerializer: stream, duplex: "half" as const, signal };
    expect((await client.call("GET", undocumented)).data).toEqual([1]);
    expect((await client.GET("/a", { parseAs: "text", signal })).data).toBe("[1]");
    expect((await sending.POST("/a", init)).data).toEqual([1]);
  }
});

Deno.test("methods send nothing when a request's stream fails, with and without a signal", async () => {
  const bodySerializer = () => new ReadableStream({ pull: () => Promise.reject("boom") });
  for (const signal of [null, new AbortController().signal]) {
    const init = { body: {}, bodySerializer, duplex: "half" as const, signal };
    expect(await caught(unsent.POST("/a", init))).toBe("boom");
  }
});

Deno.test("the fetch of a call is used in place of the client's", async () => {
  const fetch = () => Promise.resolve(Response.json(1));
  expect((await unsent.GET("/a", { fetch })).data).toBe(1);
});
