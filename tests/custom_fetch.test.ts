import { expect } from "@std/expect";

import { createClient, NetworkError } from "../mod.ts";
import { baseUrl, sendAll } from "./client.ts";
import { failures } from "./outcome.ts";
import { type AnyPath, validKey } from "./server.ts";

const apiKey = "key-of-the-client";

/** Responds with a body that a function gives the chunks of. */
function stream(pull: (controller: ReadableStreamDefaultController) => void): Response {
  return new Response(new ReadableStream({ pull }));
}

const brokenFetches: [string, () => unknown][] = [
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
  ["returns a body that fails", () =>
    stream(() => {
      throw new RangeError("boom");
    })],
  ["returns a body of strings", () =>
    stream((controller) => {
      controller.enqueue("[1,2]");
      controller.close();
    })],
];

for (const [kind, fetch] of brokenFetches) {
  Deno.test(`methods report a fetch that ${kind} as a NetworkError`, async () => {
    const client = createClient<AnyPath>({
      baseUrl,
      apiKey,
      fetch: fetch as () => Promise<Response>,
      retries: 0,
    });
    await failures(NetworkError, sendAll(client));
  });
}

Deno.test("createClient() looks the global fetch up when it is called", async () => {
  const client = createClient({ baseUrl });
  const original = globalThis.fetch;
  try {
    globalThis.fetch = () => Promise.resolve(Response.json(validKey));
    expect(await client.checkKey("some-key")).toEqual(validKey);
  } finally {
    globalThis.fetch = original;
  }
});
