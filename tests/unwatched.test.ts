// What makes unwatched calls fast, counted: no time is asserted.
import { expect } from "@std/expect";

import { createClient } from "../mod.ts";
import { apiKey, isDeno, sendAll, undocumented } from "./support/client.ts";
import { type AnyPath, checkKeyStatus, json, serve, validKey } from "./support/server.ts";

/** Counts the requests and responses that are made, as long as the result is in use. */
function countMade(): Disposable & { made: string[] } {
  const made: string[] = [];
  const original = { Request, Response };
  for (const [name, value] of Object.entries(original)) {
    const construct = (target: typeof value, args: [], newTarget: typeof value) => {
      made.push(name);
      return Reflect.construct(target, args, newTarget);
    };
    Object.assign(globalThis, { [name]: new Proxy(value, { construct }) });
  }
  return { made, [Symbol.dispose]: () => void Object.assign(globalThis, original) };
}

Deno.test("an unwatched call makes no Request and no Response", async () => {
  await using server = await serve((_, response) => json(response, validKey, checkKeyStatus));
  const options = { baseUrl: server.url, apiKey };
  const { fetch } = globalThis;
  const post = createClient<AnyPath>(options).POST(`/${undocumented}`, { body: {} });
  const text = () => createClient<AnyPath>(options).GET(`/${undocumented}`, { parseAs: "text" });
  using counted = countMade();
  const madeBy = async (calls: Promise<unknown>[]) => {
    await Promise.all(calls);
    return counted.made.splice(0);
  };
  expect(await madeBy([post, ...sendAll(createClient<AnyPath>(options)), text()])).toEqual([]);
  const custom = createClient<AnyPath>({ ...options, fetch: (request) => fetch(request) });
  expect(await madeBy([custom.call("GET", undocumented)])).toEqual(["Request"]);
  const watched = createClient<AnyPath>(options);
  watched.use({ onRequest() {} });
  expect(await madeBy([watched.call("GET", undocumented)])).toEqual(["Request", "Response"]);
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
