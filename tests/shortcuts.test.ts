// What makes calls fast, counted: no time is asserted.
import { expect } from "@std/expect";

import { createClient } from "../mod.ts";
import { apiKey, isDeno, sendAll, undocumented } from "./support/client.ts";
import { type AnyPath, checkKeyStatus, json, serve, validKey } from "./support/server.ts";

Deno.test("a Response is made only for calls with middleware", async () => {
  await using server = await serve((_, response) => json(response, validKey, checkKeyStatus));
  const options = { baseUrl: server.url, apiKey };
  let made = 0;
  const { fetch, Response: original } = globalThis;
  const construct = (target: typeof Response, args: [], newTarget: typeof Response) => {
    made++;
    return Reflect.construct(target, args, newTarget);
  };
  globalThis.Response = new Proxy(original, { construct });
  try {
    for (const own of [{}, { fetch: (request: Request) => fetch(request) }]) {
      const client = createClient<AnyPath>({ ...options, ...own });
      await Promise.all([...sendAll(client), client.GET(`/${undocumented}`, { parseAs: "text" })]);
      expect(made).toBe(0);
    }
    const client = createClient<AnyPath>(options);
    client.use({ onRequest() {} });
    await Promise.all(sendAll(client));
    expect(made).toBe(3);
  } finally {
    globalThis.Response = original;
  }
});

Deno.test("bodies are read at once if their size is announced, else into one buffer on Deno", async () => {
  await using server = await serve(({ url }, response) => {
    const body = JSON.stringify("x".repeat(1_000));
    if (url === "/announced") response.setHeader("content-length", body.length);
    response.write(body.slice(0, 500));
    response.end(body.slice(500));
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const { getReader } = ReadableStream.prototype;
  const { arrayBuffer } = Response.prototype;
  const ways: string[] = [];
  ReadableStream.prototype.getReader = function (this: ReadableStream, ...args: []) {
    ways.push(...args.map(({ mode }) => mode));
    return getReader.apply(this, args);
  } as typeof getReader;
  Response.prototype.arrayBuffer = function () {
    ways.push("at once");
    return arrayBuffer.call(this);
  };
  try {
    for (
      const [endpoint, way] of [["announced", ["at once"]], ["chunked", isDeno ? ["byob"] : []]]
    ) {
      ways.length = 0;
      await client.call("GET", `${endpoint}`);
      expect(ways).toEqual(way);
    }
  } finally {
    ReadableStream.prototype.getReader = getReader;
    Response.prototype.arrayBuffer = arrayBuffer;
  }
});
