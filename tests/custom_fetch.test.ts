// What a custom fetch may do: it may be a mock, or a library with its own responses.
import { expect } from "@std/expect";

import { createClient, HttpError, NetworkError } from "../mod.ts";
import { apiKey, baseUrl, sendAll } from "./client.ts";
import { failure, failures } from "./outcome.ts";
import { type AnyPath, validKey } from "./server.ts";
import { partialResponse, partialStream } from "./streams.ts";

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

/** A body that is not a `ReadableStream`. */
function streamOf(...texts: string[]) {
  return partialStream(() => texts.length ? new TextEncoder().encode(texts.shift()) : undefined);
}

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

Deno.test("call() reads a response of another realm", async () => {
  const responses = [
    () => partialResponse(200, streamOf("[", "1]")),
    () => Object.defineProperty(new Response("[1]"), "url", { value: "https://a.example/" }),
  ];
  for (const respond of responses) {
    const client = clientOf(respond);
    expect(await client.call("GET", "report")).toEqual([1]);
    expect((await client.GET("/report")).data).toEqual([1]);
  }
});

Deno.test("call() reads a status that Response refuses", async () => {
  const client = clientOf(() => partialResponse(700, streamOf("[1]")));
  const error = await failure(HttpError, client.call("GET", "report"));
  expect([error.status, error.body]).toEqual([700, [1]]);
  const { response, error: body } = await client.GET("/report");
  expect([response.status, response.ok, body]).toEqual([700, false, [1]]);
});

Deno.test("call() takes 204 as a success without content, also when it has a body", async () => {
  const client = clientOf(() => partialResponse(204, streamOf("[1]")));
  expect(await client.call("GET", "report")).toBe(undefined);
  expect((await client.GET("/report")).data).toBe(undefined);
});
