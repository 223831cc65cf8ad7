import { expect } from "@std/expect";

import { createClient, NetworkError } from "../mod.ts";
import { apiKey, baseUrl, sendAll } from "./client.ts";
import { failures } from "./outcome.ts";
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
