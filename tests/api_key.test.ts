// Which keys are taken, and what a function for the key may do.
import { expect } from "@std/expect";

import { ConfigurationError, createClient } from "../mod.ts";
import { apiKeyHeader } from "../src/generated/operations.ts";
import {
  addOperation,
  apiKey,
  baseUrl,
  checkKeyPath,
  keyHeader,
  sendAll,
  testBothWays,
  undocumented,
  unusedFetch,
} from "./support/client.ts";
import { caught, rejections, shown } from "./support/rejection.ts";
import { type AnyPath, checkKeyStatus, json, serve, validKey } from "./support/server.ts";

type KeyFunction = () => string | Promise<string>;

/** Creates a client that must send nothing. */
function createUnused(apiKey?: string | KeyFunction) {
  return createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });
}

Deno.test("a key that a header cannot carry is refused and not shown", async () => {
  const ends = ["\n", "\r\nx-evil: 1", "\0", "\ty", "\x7f", "é", "\xa0", "€", "\ud83d", " "];
  const keys = ["", " ", " k3-y", ...ends.map((end) => `k3-y${end}`), "k3-".padEnd(4_097, "y")];
  for (const key of keys) {
    const errors = await rejections(ConfigurationError, [
      () => createUnused(key),
      createUnused().checkKey(key),
      ...sendAll(createUnused(() => key)),
      ...sendAll(createUnused(() => Promise.resolve(key))),
    ]);
    for (const error of errors) {
      expect(error.message).toMatch(/^"apiKey" must be a string of 1 to 4,096 printable ASCII/);
      expect(error.option).toBe("apiKey");
      expect(shown(error)).not.toMatch(/k3-/); // which no folder in a stack has
    }
  }
});

Deno.test("methods without a key name the option, and say that a header is ignored", async () => {
  const headers = { [apiKeyHeader]: apiKey };
  const client = createClient<AnyPath>({ baseUrl, headers, fetch: unusedFetch });
  const [own, ...others] = await rejections(ConfigurationError, [
    client.checkOwnKey(),
    client.call("GET", "a", { headers }),
    client.GET("/a", { headers }),
  ]);
  expect(own!.message).toBe('"apiKey" is missing: the client has no key');
  for (const error of others) {
    expect(error.message).toBe(
      `"apiKey" is missing: this request needs the client's key; a header "${apiKeyHeader}" is ignored`,
    );
    expect(error.option).toBe("apiKey");
    expect(shown(error)).not.toContain(apiKey);
  }
});

testBothWays("an optional key that the client lacks is sent in no header", async (create) => {
  await using server = await serve((_, response) => json(response, 1));
  using _operation = addOperation(undocumented, {
    apiKey: "optional",
    responses: { 200: undefined },
  });
  for (const options of [{}, { apiKey }]) {
    await create({ baseUrl: server.url, ...options }).GET(`/${undocumented}`);
  }
  expect(server.requests.map(({ headers }) => headers[keyHeader])).toEqual([undefined, apiKey]);
});

testBothWays(
  "checkOwnKey() checks the client's own key, and checkKey() another",
  async (create) => {
    await using server = await serve((_, response) => json(response, validKey, checkKeyStatus));
    const longest = `a key~`.padEnd(4_096, "!");
    for (const own of [apiKey, longest, () => apiKey, () => Promise.resolve(longest)]) {
      const client = create({ baseUrl: server.url, apiKey: own });
      const key = typeof own === "string" ? own : await own();
      await client.checkOwnKey();
      await client.checkOwnKey({ headers: { [apiKeyHeader]: own as string } });
      await client.checkKey("another-key");
      const checked = server.requests.splice(0).map(({ body }) => JSON.parse(body).apiKey);
      expect(checked).toEqual([key, key, "another-key"]);
      await Promise.all(sendAll(client));
      for (const { url, headers, rawHeaders, body } of server.requests.splice(0)) {
        expect(headers[keyHeader]).toBe(url === checkKeyPath ? undefined : key);
        const places = [url, ...rawHeaders, body].filter((text) => text.includes(key));
        expect(places.length).toBe(1); // the header, or the body of checkKey()
      }
    }
  },
);

Deno.test("methods reject with the very value that a function for the key throws", async () => {
  for (const thrown of [new TypeError("The vault is closed"), "closed"]) {
    const fail = () => {
      throw thrown;
    };
    for (const apiKey of [fail, () => Promise.reject(thrown)]) {
      const client = createUnused(apiKey);
      const plain = await Promise.all(sendAll(client).map(caught));
      client.use({ onRequest: () => undefined });
      const seen = await Promise.all(sendAll(client).map(caught));
      expect([...plain, ...seen].map((error) => error === thrown)).toEqual(Array(6).fill(true));
    }
  }
});

testBothWays("a function for the key is called once for each call", async (create) => {
  await using server = await serve((_, response, count) => {
    if (count % 2) response.writeHead(503, { "retry-after": "0" }).end();
    else json(response, validKey, checkKeyStatus);
  });
  let count = 0;
  const client = create({ baseUrl: server.url, apiKey: () => `key-${++count}` });
  await client.call("GET", "a");
  await client.GET("/a");
  await client.checkKey("another-key");
  await client.checkOwnKey();
  expect(server.requests.map(({ headers }) => headers[keyHeader]))
    .toEqual(["key-1", "key-1", "key-2", "key-2", ...Array(4).fill(undefined)]);
  expect(server.requests.slice(6).map(({ body }) => JSON.parse(body)))
    .toEqual([{ apiKey: "key-3" }, { apiKey: "key-3" }]);
  expect(count).toBe(3);
});
