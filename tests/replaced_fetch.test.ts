// Programs that replace the global `fetch`, as libraries for tests do.
import { expect } from "@std/expect";

import { HttpError, InvalidResponseError, RedirectError } from "../mod.ts";
import { apiKey, baseUrl, replaceFetch, testBothWays, undocumented } from "./support/client.ts";
import { rejection, rejections } from "./support/rejection.ts";
import { json, serve, validKey } from "./support/server.ts";

/** Wraps a response as fetch-mock does, with an address that cannot be changed. */
function mock(response: Response): Response {
  Object.defineProperty(response, "url", { value: "https://mock.example/" });
  return new Proxy(response, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

testBothWays("methods read a proxy of a response with a property of its own", async (create) => {
  await using server = await serve(({ url }, response) => {
    const status = Number(url.slice(1));
    if (status === 307) response.setHeader("location", "/other");
    if (status === 204) return void response.writeHead(status).end();
    if (status === 201) response.setHeader("transfer-encoding", "chunked");
    json(response, validKey, status);
  });
  using _fetch = replaceFetch((fetch) => async (...args) => mock(await fetch(...args)));
  const client = create({ baseUrl: server.url, apiKey, retries: 0 });
  for (const status of [200, 201, 204]) {
    const data = status === 204 ? undefined : validKey;
    expect((await client.call("GET", `${status}`)).data).toEqual(data);
    const { response, ...result } = await client.GET(`/${status}`);
    expect([response.status, result.data]).toEqual([status, data]);
  }
  for (const parseAs of ["text", "stream"] as const) {
    const { data } = await client.GET("/200", { parseAs });
    expect(await new Response(data as BodyInit).json()).toEqual(validKey);
  }
  expect((await rejection(HttpError, client.call("GET", "400"))).response.body).toEqual(validKey);
  expect(await client.GET("/400")).toMatchObject({ error: validKey });
  await rejections(RedirectError, [client.call("GET", "307"), client.GET("/307")]);
});

testBothWays("methods read a response that takes no property", async (create) => {
  await using server = await serve((_, response) => json(response, [1]));
  using _fetch = replaceFetch((fetch) => async (...args) =>
    Object.preventExtensions(await fetch(...args))
  );
  const client = create({ baseUrl: server.url, apiKey, retries: 0 });
  expect((await client.call("GET", undocumented)).data).toEqual([1]);
  expect((await client.GET(`/${undocumented}`)).data).toEqual([1]);
});

testBothWays("methods cancel a body that is longer than its response announces", async (create) => {
  let cancelled = 0;
  using _fetch = replaceFetch(() => () => {
    const pull = async (controller: ReadableStreamDefaultController) => {
      await new Promise((resolve) => setTimeout(resolve));
      controller.enqueue(new Uint8Array(1_000));
    };
    const body = new ReadableStream({ pull, cancel: () => void cancelled++ });
    return Promise.resolve(new Response(body, { headers: { "content-length": "50" } }));
  });
  const client = create({ baseUrl, apiKey, retries: 0, maxResponseBytes: 10_000 });
  await rejections(InvalidResponseError, [
    client.call("GET", undocumented),
    client.GET(`/${undocumented}`),
  ]);
  expect(cancelled).toBe(2);
});

testBothWays(
  "methods read a body that is no stream of bytes, whatever its type",
  async (create) => {
    using _fetch = replaceFetch(() => () => {
      const start = (controller: ReadableStreamDefaultController) => {
        controller.enqueue(new TextEncoder().encode("[1]"));
        controller.close();
      };
      const response = new Response(new ReadableStream({ start }));
      return Promise.resolve(Object.defineProperty(response, "type", { value: "basic" }));
    });
    const client = create({ baseUrl, apiKey, retries: 0 });
    expect((await client.call("GET", undocumented)).data).toEqual([1]);
    expect((await client.GET(`/${undocumented}`)).data).toEqual([1]);
  },
);
