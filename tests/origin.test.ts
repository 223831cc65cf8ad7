// No request, and so no key, leaves the origin of the base URL.
import { expect } from "@std/expect";

import { ConfigurationError } from "../mod.ts";
import { apiKey, checkKeyPath, sendAll, testBothWays, undocumented } from "./support/client.ts";
import { rejection, rejections } from "./support/rejection.ts";
import { json, serve, validKey } from "./support/server.ts";

const path = `/${undocumented}`;

/** Starts the service and another server, which must get nothing. */
async function serveBoth() {
  const server = await serve((_, response) => json(response, validKey));
  const other = await serve((_, response) => json(response, validKey));
  return {
    server,
    other,
    host: new URL(other.url).host,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
      expect(other.requests).toEqual([]);
    },
  };
}

testBothWays("methods refuse a baseUrl of a call that is at another origin", async (create) => {
  await using both = await serveBoth();
  const { server, other, host } = both;
  const client = create({ baseUrl: server.url, apiKey });
  const { port } = new URL(server.url);
  const elsewhere = [
    ...[other.url, other.url.slice(0, -1), `http://localhost:${port}/`, "ftp://127.0.0.1/"],
    `https://127.0.0.1:${port}/`,
    "data:application/json,[]#",
  ];
  // The platform refuses these, too.
  const noUrls = [`//${host}/`, `http://127.0.0.1:${port}0/`, `http://127.0.0.1:${port}@${host}/`];
  const send = (baseUrl: string) => [
    client.GET(path, { baseUrl }),
    client.POST(checkKeyPath, { baseUrl, body: { apiKey } }),
  ];
  for (const error of await rejections(ConfigurationError, elsewhere.flatMap(send))) {
    expect(error.message).toMatch(
      /^"baseUrl" has another origin than the request, which was not sent/,
    );
  }
  await rejections(Error, noUrls.flatMap(send));
  expect(server.requests).toEqual([]);
  await client.GET(path, { baseUrl: `${server.url}v2/` });
  expect(server.requests[0]!.url).toBe(`/v2${path}`);
});

testBothWays("methods refuse a path that leads to another address", async (create) => {
  await using both = await serveBoth();
  const { server, other, host } = both;
  const client = create({ baseUrl: `${server.url}api/`, apiKey });
  for (const path of [`@${host}/`, `.${host}/`, `:1@${host}/`, "0"]) {
    await rejection(Error, create({ baseUrl: server.url, apiKey }).GET(path));
  }
  const init = { pathSerializer: () => other.url, params: { path: { id: 1 } } };
  await rejection(ConfigurationError, client.GET(path, init));
  expect(server.requests).toEqual([]);
  await client.GET(`//${host}/`);
  expect(server.requests.map(({ url }) => url)).toEqual([`/api//${host}/`]);
});

testBothWays("methods refuse a request that middleware sends to another origin", async (create) => {
  await using both = await serveBoth();
  const { server, other } = both;
  for (const url of [other.url, server.url.replace("127.0.0.1", "localhost")]) {
    const client = create({ baseUrl: server.url, apiKey });
    client.use({ onRequest: ({ request }) => new Request(url, request) });
    await rejections(ConfigurationError, sendAll(client));
  }
  expect(server.requests).toEqual([]);
});
