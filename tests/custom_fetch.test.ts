// What a custom fetch may do: it may be a mock, or a library with its own responses.
import { expect } from "@std/expect";

import {
  createClient,
  HttpError,
  InvalidResponseError,
  NetworkError,
  TimeoutError,
} from "../mod.ts";
import { apiKey, baseUrl, sendAll } from "./client.ts";
import { failure, failures } from "./outcome.ts";
import { type AnyPath, validKey } from "./server.ts";

const brokenFetches: [string, () => unknown][] = [
  ["throws", () => {
    throw new RangeError("boom");
  }],
  ["throws a string", () => {
    throw "boom";
  }],
  ["rejects with nothing", () => Promise.reject()],
  ["resolves to Response.error()", () => Promise.resolve(Response.error())],
  ["resolves to a body of strings", () => {
    const start = (controller: ReadableStreamDefaultController) => controller.enqueue("[1,2]");
    return Promise.resolve(new Response(new ReadableStream({ start })));
  }],
];

for (const [kind, fetch] of brokenFetches) {
  Deno.test(`methods report a custom fetch that ${kind} as a NetworkError`, async () => {
    const client = createClient<AnyPath>({
      baseUrl,
      apiKey,
      fetch: fetch as () => Promise<Response>,
      retries: 0,
    });
    await failures(NetworkError, sendAll(client));
  });
}

Deno.test("createClient() looks up the global fetch for each call", async () => {
  const client = createClient({ baseUrl });
  const original = globalThis.fetch;
  try {
    globalThis.fetch = () => Promise.resolve(Response.json(validKey));
    expect(await client.checkKey("some-key")).toEqual(validKey);
  } finally {
    globalThis.fetch = original;
  }
});

// Responses

const bytes = (text: string) => new TextEncoder().encode(text);

/** Creates a client whose custom fetch resolves to any value. */
function clientOf(respond: () => unknown, timeout = 5_000) {
  return createClient<AnyPath>({
    baseUrl,
    apiKey,
    fetch: async () => await respond() as Response,
    retries: 0,
    timeout,
  });
}

/** A response that is not a `Response` but has its parts, as another realm's has. */
function partialResponse(status: number, body: unknown, more: object = {}) {
  const headers = { get: () => null, has: () => false, forEach() {} };
  return { status, headers, body, ok: status < 300, ...more };
}

/** A stream that is not a `ReadableStream`; its reader's `cancel` returns no promise. */
function streamOf(...chunks: Uint8Array[]) {
  const read = () => {
    const value = chunks.shift();
    return Promise.resolve(value ? { value, done: false } : { value: undefined, done: true });
  };
  return { getReader: () => ({ read, cancel() {} }) };
}

Deno.test("call() reads a response of another realm", async () => {
  const responses = [
    () => partialResponse(200, streamOf(bytes("["), bytes("1]"))),
    () => Object.defineProperty(new Response("[1]"), "url", { value: "https://a.example/" }),
  ];
  for (const respond of responses) {
    const client = clientOf(respond);
    expect(await client.call("GET", "report")).toEqual([1]);
    expect((await client.GET("/report")).data).toEqual([1]);
  }
});

Deno.test("call() reads a status that Response refuses", async () => {
  const client = clientOf(() => partialResponse(700, streamOf(bytes("[1]"))));
  const error = await failure(HttpError, client.call("GET", "report"));
  expect([error.status, error.body]).toEqual([700, [1]]);
  const { response, error: body } = await client.GET("/report");
  expect([response.status, response.ok, body]).toEqual([700, false, [1]]);
});

Deno.test("call() takes 204 as a success without content, also when it has a body", async () => {
  const client = clientOf(() => partialResponse(204, streamOf(bytes("[1]"))));
  expect(await client.call("GET", "report")).toBe(undefined);
  expect((await client.GET("/report")).data).toBe(undefined);
});

Deno.test("call() stops an endless stream at maxResponseBytes and at the time-out", async () => {
  const endless = (chunk: Uint8Array) => ({
    getReader: () => ({ read: () => Promise.resolve({ value: chunk, done: false }), cancel() {} }),
  });
  const large = clientOf(() => partialResponse(200, endless(new Uint8Array(2 ** 20))));
  const { issues } = await failure(InvalidResponseError, large.call("GET", "report"));
  expect(issues).toEqual([{ path: "", rule: "maxResponseBytes" }]);
  for (const chunk of [new Uint8Array(0), new Uint8Array(1)]) {
    const hanging = clientOf(() => partialResponse(200, endless(chunk)), 200); // never waits for anything
    await failure(TimeoutError, hanging.call("GET", "report"));
    const error = clientOf(() => partialResponse(500, endless(chunk)), 200);
    await failure(TimeoutError, error.call("GET", "report"));
  }
});

Deno.test("methods report a custom fetch's invalid response as a NetworkError", async () => {
  const throwing = Object.defineProperty(new Response("[]"), "status", {
    get() {
      throw new RangeError("no status");
    },
  });
  const read = new Response("[]");
  await read.text();
  const arrayBuffer = () => Promise.resolve(bytes("[1]").buffer);
  const responses: [() => unknown, RegExp][] = [
    [() => undefined, /got no response/],
    [() => "200 OK", /got no response/],
    [() => ({}), /got no response: The response has the status undefined/],
    [() => throwing, /got no response: no status/],
    [() => partialResponse(0, null), /got no response: The response has the status 0/],
    [() => partialResponse(101, null), /got no response: The response has the status 101/],
    [() => partialResponse(1000, null), /got no response: The response has the status 1000/],
    [() => partialResponse(NaN, null), /got no response: The response has the status NaN/],
    [
      () => partialResponse(200, streamOf(), { headers: {} }),
      /The response must be a Response/,
    ],
    [() => partialResponse(200, streamOf(), { headers: undefined }), /got no response/],
    // as node-fetch has it
    [
      () => partialResponse(200, {}, { arrayBuffer }),
      /must be a Response, whose body is a ReadableStream/,
    ],
    [() => read, /got a response that broke off/],
    [() => new Response(new ReadableStream({ pull: () => Promise.reject("boom") })), /off: boom$/],
  ];
  for (const [respond, message] of responses) {
    const client = clientOf(respond);
    for (const error of await failures(NetworkError, sendAll(client))) {
      expect(error.message).toMatch(message);
    }
  }
});
