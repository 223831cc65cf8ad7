// The key goes to the base URL's origin only, in its header or in checkKey's body.
import { expect } from "@std/expect";

import { ConfigurationError, createClient, HttpError, InvalidResponseError } from "../mod.ts";
import {
  addGeneratedOperation,
  apiKey,
  baseUrl,
  bothWays,
  callEveryWay,
  checkKeyPath,
  clientAt,
  clientOf,
  keyHeader,
  undocumented,
  unusedFetch,
} from "./support/client.ts";
import { apiKeyHeader } from "./support/internals.ts";
import { rejections, shown } from "./support/rejection.ts";
import { type AnyPath, json, serve, serveValid, validKey } from "./support/server.ts";

const path = `/${undocumented}`;

// Which keys there are, and where they go

Deno.test("a key that a header cannot carry is refused and not shown", async () => {
  const ends = ["\n", "\r\nx-evil: 1", "\0", "\ty", "\x7f", "é", "\xa0", "€", "\ud83d", " "];
  const keys = ["", " ", " k3-y", ...ends.map((end) => `k3-y${end}`), "k3-".padEnd(4_097, "y")];
  for (const key of keys) {
    const errors = await rejections(ConfigurationError, [
      () => clientOf(unusedFetch, { apiKey: key }),
      clientOf(unusedFetch).checkKey(key),
      ...callEveryWay(clientOf(unusedFetch, { apiKey: () => Promise.resolve(key) })),
    ]);
    for (const error of errors) {
      expect(error.option).toBe("apiKey");
      expect(shown(error)).not.toMatch(/k3-/); // No folder in a stack has it.
    }
  }
});

Deno.test("a client without a key sends nothing that needs it, nor a header that has it", async () => {
  const headers = { [apiKeyHeader]: apiKey };
  const client = createClient<AnyPath>({ baseUrl, headers, fetch: unusedFetch });
  for (const error of await rejections(ConfigurationError, callEveryWay(client, { headers }))) {
    expect(error.option).toBe("apiKey");
    expect(shown(error)).not.toContain(apiKey);
  }
});

Deno.test("an optional key that the client lacks is sent in no header", async () => {
  await using server = await serveValid();
  using _operation = addGeneratedOperation(undocumented, { 200: undefined }, "optional");
  for (const options of [{}, { apiKey }]) {
    await createClient<AnyPath>({ baseUrl: server.url, ...options }).GET(path);
  }
  expect(server.requests.map(({ headers }) => headers[keyHeader])).toEqual([undefined, apiKey]);
});

Deno.test("the client's key is in a header, that of checkKey() in the body, and nowhere else", async () => {
  await using server = await serveValid();
  const longest = "a key~".padEnd(4_096, "!");
  for (const create of bothWays) {
    for (const [own, key] of [[apiKey, apiKey], [() => Promise.resolve(longest), longest]]) {
      const client = create({ baseUrl: server.url, apiKey: own });
      await client.checkKey("another-key", { headers: { [apiKeyHeader]: "stray" } });
      expect(server.requests.splice(0)).toMatchObject([{ body: '{"apiKey":"another-key"}' }]);
      await Promise.all(callEveryWay(client));
      for (const { url, headers, rawHeaders, body } of server.requests.splice(0)) {
        expect(headers[keyHeader]).toBe(url === checkKeyPath ? undefined : key);
        const places = [url, ...rawHeaders, body].filter((text) => text.includes(key as string));
        expect(places.length).toBe(1);
      }
    }
  }
});

Deno.test("a function for the key is called once for each call", async () => {
  await using server = await serve((_, response, count) => {
    if (count % 2) response.writeHead(503, { "retry-after": "0" }).end();
    else json(response, validKey);
  });
  let count = 0;
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey: () => `key-${++count}` });
  await client.call("GET", "a");
  await client.GET("/a");
  await client.checkKey("another-key");
  await client.checkOwnKey();
  const keys = server.requests.map(({ headers, body }) =>
    headers[keyHeader] ?? JSON.parse(body).apiKey
  );
  expect(keys).toEqual(["key-1", "key-2", "another-key", "key-3"].flatMap((key) => [key, key]));
});

Deno.test("middleware does not see the key", async () => {
  await using server = await serveValid();
  const client = clientAt(server);
  const seen: unknown[] = [];
  client.use({
    onRequest: ({ request, options, params }) => void seen.push(request, options, params),
    onResponse: ({ request, response }) => void seen.push(request, response),
  });
  await Promise.all([client.call("GET", undocumented), client.GET(path)]);
  expect(seen.length).toBe(10);
  expect(shown(seen)).not.toContain(apiKey);
});

// Other origins

Deno.test("methods refuse a baseUrl or a path of a call that leads to another origin", async () => {
  await using server = await serveValid();
  await using other = await serveValid();
  const { host } = new URL(other.url);
  const client = clientAt(server);
  const { port } = new URL(server.url);
  // deno-fmt-ignore
  const elsewhere = [
    other.url, other.url.slice(0, -1), `http://localhost:${port}/`, "ftp://127.0.0.1/",
    `https://127.0.0.1:${port}/`, "data:application/json,[]#",
  ];
  const send = (baseUrl: string) => [
    client.GET(path, { baseUrl }),
    client.POST(checkKeyPath, { baseUrl, body: { apiKey } }),
  ];
  for (const { option } of await rejections(ConfigurationError, elsewhere.flatMap(send))) {
    expect(option).toBe("path");
  }
  await rejections(TypeError, send(`//${host}/`)); // of the platform
  const written = [other.url, `http://localhost:${port}/`].map((url) =>
    client.GET(path, { pathSerializer: () => url, params: { path: { id: 1 } } })
  );
  for (const { option } of await rejections(ConfigurationError, written)) {
    expect(option).toBe("path");
  }
  expect(server.requests).toEqual([]);
  await client.GET(path, { baseUrl: `${server.url}v2/` });
  await client.GET(`//${host}/`);
  expect(server.requests.map(({ url }) => url)).toEqual([`/v2${path}`, `//${host}/`]);
  expect(other.requests).toEqual([]);
});

Deno.test("methods refuse a request that middleware sends to another origin", async () => {
  await using server = await serveValid();
  await using other = await serveValid();
  for (const url of [other.url, server.url.replace("127.0.0.1", "localhost")]) {
    const client = clientAt(server);
    client.use({ onRequest: ({ request }) => new Request(url, request) });
    await rejections(ConfigurationError, callEveryWay(client));
  }
  expect([...server.requests, ...other.requests]).toEqual([]);
});

// Redirects

Deno.test("methods follow no redirect, with any status, to any host", async () => {
  await using other = await serveValid();
  let [status, location] = [0, ""];
  await using server = await serve(({ url }, response) => {
    if (url === "/target") return json(response, validKey);
    response.writeHead(status, { location, "retry-after": "0" }).end();
  });
  const hosts = [server.url, other.url.replace("127.0.0.1", "localhost")];
  const requestInitExt = { redirect: "follow" };
  const clients = bothWays.map((create) => create({ baseUrl: server.url, apiKey, requestInitExt }));
  for (status of [300, 301, 302, 303, 305, 307, 308, 399]) {
    for (location of hosts.map((host) => `${host}target?a=b`)) {
      const calls = clients.flatMap((one) => [one.checkOwnKey(), one.call("GET", undocumented)]);
      for (const { message, response } of await rejections(HttpError, calls)) {
        expect(message).toContain(
          `${status} to "${location.replace("?a=b", "")}", which is not followed`,
        );
        expect(response.headers.get("location")).toBe(location);
      }
      for (const client of clients) {
        for (const call of [client.GET(path), client.POST(path, { body: {} })]) {
          expect((await call).response.status).toBe(status);
        }
      }
      const paths = server.requests.splice(0).map(({ url }) => url);
      expect(paths.sort()).toEqual([...Array(6).fill(path), checkKeyPath, checkKeyPath].sort());
    }
  }
  expect(other.requests).toEqual([]);
});

Deno.test("methods refuse a response that a custom fetch got by following a redirect", async () => {
  await using other = await serveValid();
  await using server = await serve((_, response) => {
    response.writeHead(303, { location: other.url }).end();
  });
  const following = (request: Request) => fetch(new Request(request, { redirect: "follow" }));
  const client = clientAt(server, { fetch: following });
  for (const { issues } of await rejections(InvalidResponseError, callEveryWay(client))) {
    expect(issues[0]!.rule).toBe("redirected");
  }
  expect(server.requests.length).toBe(3);
});
