// Responses that no runtime's own fetch would give: a custom fetch may be a mock or a library.
import { expect } from "@std/expect";

import { createClient, HttpError, NetworkError, TimeoutError } from "../mod.ts";
import { caught } from "./outcome.ts";
import type { AnyPath } from "./server.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Creates a client whose fetch resolves to anything. */
function clientOf(respond: () => unknown, timeout = 5_000) {
  return createClient<AnyPath>({
    baseUrl: "https://service.example/",
    apiKey: "some-key",
    fetch: async () => await respond() as Response,
    retries: 0,
    timeout,
  });
}

/** A response of another make, with as little as the client needs. */
function foreign(status: number, body: unknown, more: object = {}) {
  const headers = { get: () => null, forEach() {} };
  return { status, headers, body, ok: status < 300, ...more };
}

/** A stream of another make, whose reader gives chunks and whose `cancel` returns nothing. */
function streamOf(...chunks: Uint8Array[]) {
  const read = () => {
    const value = chunks.shift();
    return Promise.resolve(value ? { value, done: false } : { value: undefined, done: true });
  };
  return { getReader: () => ({ read, cancel() {} }) };
}

Deno.test("call() reads a response of another make", async () => {
  const arrayBuffer = () => Promise.resolve(bytes("[1]").buffer);
  const responses = [
    () => foreign(200, streamOf(bytes("["), bytes("1]"))),
    () => foreign(200, {}, { arrayBuffer }), // as node-fetch has it
    () => foreign(299, streamOf(bytes("[1]")), { ok: false }),
    () => Object.defineProperty(new Response("[1]"), "url", { value: "https://a.example/" }),
  ];
  for (const respond of responses) {
    const client = clientOf(respond);
    expect(await client.call("GET", "report")).toEqual([1]);
    expect((await client.GET("/report")).data).toEqual([1]);
  }
});

Deno.test("call() reads a status of another make", async () => {
  const client = clientOf(() => foreign(700, streamOf(bytes("[1]"))));
  const error = await caught(client.call("GET", "report")) as HttpError;
  expect(error).toBeInstanceOf(HttpError);
  expect([error.status, error.body]).toEqual([700, [1]]);
  const { response, error: body } = await client.GET("/report");
  expect([response.status, response.ok, body]).toEqual([700, false, [1]]);
});

Deno.test("call() takes 204 for a success without content, also when it has a body", async () => {
  const client = clientOf(() => foreign(204, streamOf(bytes("[1]"))));
  expect(await client.call("GET", "report")).toBe(undefined);
  expect((await client.GET("/report")).data).toBe(undefined);
});

Deno.test("call() stops a stream of another make at maxResponseBytes and at the time-out", async () => {
  const endless = (chunk: Uint8Array) => ({
    getReader: () => ({ read: () => Promise.resolve({ value: chunk, done: false }), cancel() {} }),
  });
  const large = clientOf(() => foreign(200, endless(new Uint8Array(2 ** 20))));
  expect(await caught(large.call("GET", "report"))).toMatchObject({
    issues: [{ path: "", rule: "maxResponseBytes" }],
  });
  for (const chunk of [new Uint8Array(0), new Uint8Array(1)]) {
    const hanging = clientOf(() => foreign(200, endless(chunk)), 200); // never waits for anything
    expect(await caught(hanging.call("GET", "report"))).toBeInstanceOf(TimeoutError);
  }
});

Deno.test("methods report a response that is none as a NetworkError", async () => {
  const throwing = Object.defineProperty(new Response("[]"), "status", {
    get() {
      throw new RangeError("no status");
    },
  });
  const read = new Response("[]");
  await read.text();
  const responses: [() => unknown, RegExp][] = [
    [() => undefined, /got no response/],
    [() => "200 OK", /got no response/],
    [() => ({}), /got no response: The response has the status undefined/],
    [() => throwing, /got no response: no status/],
    [() => foreign(0, null), /got no response: The response has the status 0/],
    [() => foreign(101, null), /got no response: The response has the status 101/],
    [() => foreign(1000, null), /got no response: The response has the status 1000/],
    [() => foreign(NaN, null), /got no response: The response has the status NaN/],
    [() => foreign(200, streamOf(), { headers: {} }), /got no response/],
    [() => foreign(200, streamOf(), { headers: undefined }), /got no response/],
    [() => foreign(200, {}), /got a response that broke off/],
    [() => read, /got a response that broke off/],
    [() => new Response(new ReadableStream({ pull: () => Promise.reject("boom") })), /off: boom$/],
  ];
  for (const [respond, message] of responses) {
    const client = clientOf(respond);
    for (const call of [client.checkKey(), client.call("GET", "report"), client.GET("/report")]) {
      const error = await caught(call);
      expect(error).toBeInstanceOf(NetworkError);
      expect((error as Error).message).toMatch(message);
    }
  }
});
