// No request, and so no key, leaves the origin of the base URL.
import { expect } from "@std/expect";

import { ConfigurationError, createClient } from "../mod.ts";
import { apiKey, sendAll } from "./client.ts";
import { failure, failures } from "./outcome.ts";
import { type AnyPath, json, serve, validKey } from "./server.ts";

Deno.test("methods refuse a baseUrl of a single call that is at another origin", async () => {
  await using other = await serve((_, response) => json(response, validKey));
  await using server = await serve((_, response) => json(response, validKey));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const { port } = new URL(server.url);
  const elsewhere = [
    other.url,
    other.url.slice(0, -1),
    `http://localhost:${port}/`,
    `https://127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}0/`,
    `http://127.0.0.1:${port}@${new URL(other.url).host}/`,
    `http://127.0.0.1:${port}\\@${new URL(other.url).host}/`,
    `//${new URL(other.url).host}/`,
    `data:application/json,{"apiKeyValid":false}#`,
    "ftp://127.0.0.1/",
  ];
  for (const baseUrl of elsewhere) {
    for (const middleware of [[], [{ onRequest() {} }]]) {
      const get = client.GET("/report", { baseUrl, middleware });
      await failure(ConfigurationError, get);
      const post = client.POST("/checkKey", { baseUrl, middleware, body: { apiKey } });
      await failure(ConfigurationError, post);
    }
  }
  expect(other.requests).toEqual([]);
  expect(server.requests).toEqual([]);
  await client.GET("/report", { baseUrl: `${server.url}v2/` });
  expect(server.requests[0]!.url).toBe("/v2/report");
});

Deno.test("methods refuse a path that leads to another origin", async () => {
  await using other = await serve((_, response) => json(response, validKey));
  await using server = await serve((_, response) => json(response, validKey));
  const { host } = new URL(other.url);
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const paths = [`@${host}/`, `.${host}/`, `:1@${host}/`, `0/`, `\\\\${host}/`, `/\\${host}/`];
  for (const path of paths) {
    await failure(ConfigurationError, client.GET(path));
    await failure(ConfigurationError, client.call("GET", path.replace(/^[^/\\]/, "//$&")));
  }
  await client.GET(`//${host}/`);
  await failure(ConfigurationError, client.GET(`http://${host}/`));
  expect(other.requests).toEqual([]);
});

Deno.test("methods refuse a request that middleware sends to another origin", async () => {
  await using other = await serve((_, response) => json(response, validKey));
  await using server = await serve((_, response) => json(response, validKey));
  for (const url of [other.url, server.url.replace("127.0.0.1", "localhost")]) {
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    client.use({ onRequest: ({ request }) => new Request(url, request) });
    await failures(ConfigurationError, sendAll(client));
  }
  expect(other.requests).toEqual([]);
  expect(server.requests).toEqual([]);
});

Deno.test("methods refuse what is no URL of theirs among the options", async () => {
  await using other = await serve((_, response) => json(response, validKey));
  await using server = await serve((_, response) => json(response, validKey));
  const client = createClient<AnyPath>({ baseUrl: `${server.url}api/`, apiKey });
  for (const middleware of [[], [{ onRequest() {} }]]) {
    const options = { url: `${other.url}stolen`, middleware };
    await client.GET("/report", options);
    await client.POST("/checkKey", { ...options, body: { apiKey } });
    for (const path of [false, "", 0]) {
      const params = { path: path as never };
      const get = client.GET("/report", { baseUrl: other.url, params, middleware });
      await failure(ConfigurationError, get);
      await failure(ConfigurationError, client.GET("/../report", { params, middleware }));
    }
  }
  const written = { startsWith: () => true, slice: () => "", toString: () => other.url };
  const pathSerializer = () => written as never;
  const params = { path: {} };
  await failure(ConfigurationError, client.GET("/report", { pathSerializer, params }));
  expect(other.requests).toEqual([]);
  expect(server.requests.map(({ url }) => url)).toEqual(
    ["/api/report", "/api/checkKey", "/api/report", "/api/checkKey"],
  );
});
