// No request, and so no key, leaves the origin of the base URL.
import { expect } from "@std/expect";

import { ConfigurationError, createClient } from "../mod.ts";
import { apiKey, checkKeyPath, sendAll, undocumented } from "./client.ts";
import { failure, failures } from "./outcome.ts";
import { type AnyPath, json, serve, validKey } from "./server.ts";

const path = `/${undocumented}`;
const observers = [[], [{ onRequest() {} }]];

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

Deno.test("methods refuse a baseUrl of a single call that is at another origin", async () => {
  await using both = await serveBoth();
  const { server, other, host } = both;
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const { port } = new URL(server.url);
  const elsewhere = [
    other.url,
    other.url.slice(0, -1),
    `http://localhost:${port}/`,
    `https://127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}0/`,
    `http://127.0.0.1:${port}@${host}/`,
    `//${host}/`,
    `data:application/json,{"apiKeyValid":false}#`,
    "ftp://127.0.0.1/",
  ];
  for (const baseUrl of elsewhere) {
    for (const middleware of observers) {
      await failure(ConfigurationError, client.GET(path, { baseUrl, middleware }));
      const post = client.POST(checkKeyPath, { baseUrl, middleware, body: { apiKey } });
      await failure(ConfigurationError, post);
    }
  }
  expect(server.requests).toEqual([]);
  await client.GET(path, { baseUrl: `${server.url}v2/` });
  expect(server.requests[0]!.url).toBe(`/v2${path}`);
});

Deno.test("methods refuse a path that leads to another address", async () => {
  await using both = await serveBoth();
  const { server, host } = both;
  const client = createClient<AnyPath>({ baseUrl: `${server.url}api/`, apiKey });
  const withoutSlash = [`@${host}/`, `.${host}/`, `:1@${host}/`, "-internal/x", "0", "", "//"];
  for (const path of [...withoutSlash, `\\\\${host}/`, `/\\${host}/`, `http://${host}/`]) {
    const error = await failure(ConfigurationError, client.GET(path === "//" ? "x//" : path));
    expect(error.option).toBe("path");
    await failure(ConfigurationError, client.call("GET", path.replace(/^[^/\\]/, "//$&")));
  }
  const { message } = await failure(ConfigurationError, client.GET("-internal/x"));
  expect(message).toBe('"path" must begin with a slash');
  for (const id of ["..", "..;", "..;a=b", "."]) {
    const get = client.GET("/a/{id}/b", { params: { path: { id } } });
    await failure(ConfigurationError, get);
  }
  expect(server.requests).toEqual([]);
  await client.GET(`//${host}/`);
  expect(server.requests.map(({ url }) => url)).toEqual([`/api//${host}/`]);
});

Deno.test("methods refuse a request that middleware sends to another origin", async () => {
  await using both = await serveBoth();
  const { server, other } = both;
  for (const url of [other.url, server.url.replace("127.0.0.1", "localhost")]) {
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    client.use({ onRequest: ({ request }) => new Request(url, request) });
    await failures(ConfigurationError, sendAll(client));
  }
  expect(server.requests).toEqual([]);
});

Deno.test("no option and no serializer stands in for the URL", async () => {
  await using both = await serveBoth();
  const { server, other } = both;
  const client = createClient<AnyPath>({ baseUrl: `${server.url}api/`, apiKey });
  for (const middleware of observers) {
    const options = { url: `${other.url}stolen`, middleware };
    await client.GET(path, options);
    await client.POST(checkKeyPath, { ...options, body: { apiKey } });
    for (const value of [false, "", 0]) {
      const params = { path: value };
      const get = client.GET(path, { baseUrl: other.url, params, middleware });
      await failure(ConfigurationError, get);
      await failure(ConfigurationError, client.GET("/../x", { params, middleware }));
    }
    const pathSerializer = () => other.url;
    await failure(ConfigurationError, client.GET(path, { pathSerializer, middleware }));
  }
  expect(server.requests.map(({ url }) => url)).toEqual(
    [`/api${path}`, `/api${checkKeyPath}`, `/api${path}`, `/api${checkKeyPath}`],
  );
});
