// Which keys are taken, and what a function for the key may do.
import { expect } from "@std/expect";

import { ConfigurationError, createClient } from "../mod.ts";
import {
  apiKey,
  baseUrl,
  checkKeyPath,
  keyHeader,
  sendAll,
  undocumented,
  unusedFetch,
} from "./client.ts";
import { caught, failure, failures, shown } from "./outcome.ts";
import { expectLinear } from "./growth.ts";
import { type AnyPath, checkKeyStatus, json, serve, validKey } from "./server.ts";

type KeyFunction = () => string | Promise<string>;

/** Creates a client that must send nothing. */
function createUnused(apiKey?: string | KeyFunction) {
  return createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });
}

const unusableKeys: Record<string, string> = {
  "empty": "",
  "with a line break at its end": "k3y\n",
  "with a line break and a header": "k3y\r\nx-evil: 1",
  "with a null character": "k3y\0",
  "with a tab": "k3\ty",
  "with a control character": "k3y\x7f",
  "with a character beyond Latin-1": "k3y\u20ac",
  "with half an emoji": "k3y\ud83d",
  "with a space in front": " k3y",
  "with a no-break space behind": "k3y\xa0",
};

for (const [kind, key] of Object.entries(unusableKeys)) {
  Deno.test(`a key that is ${kind} is refused and not shown`, async () => {
    const errors = await failures(ConfigurationError, [
      () => createUnused(key),
      createUnused().checkKey(key),
      ...sendAll(createUnused(() => key)),
      ...sendAll(createUnused(() => Promise.resolve(key))),
    ]);
    for (const error of errors) {
      expect(error.message).toMatch(/^"apiKey" must /);
      expect(error.option).toBe("apiKey");
      expect(shown(error)).not.toMatch(/k3/);
    }
  });
}

/** What a program may have in place of a user's key. */
const noStrings: [string, unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["a boolean", false],
  ["a number", 7],
  ["an object", {}],
  ["an object with options", { timeout: 5_000 }],
  ["an object with toString()", { toString: () => "some-key" }],
  ["an array", ["some-key"]],
  ["a String object", new String("some-key")],
  ["a promise", Promise.resolve("some-key")],
  ["a function", () => "some-key"],
];

for (const [kind, value] of noStrings) {
  Deno.test(`checkKey() refuses ${kind} before anything is sent`, async () => {
    const key = value as string;
    const returnKey = createUnused(() => key);
    const calls = [createUnused(apiKey).checkKey(key), createUnused(apiKey).checkKey(key, {})];
    if (kind !== "a promise") calls.push(...sendAll(returnKey) as typeof calls);
    for (const { message, option } of await failures(ConfigurationError, calls)) {
      expect(message).toMatch(/^"apiKey" must be a string, not (an? \w+|null|undefined)$/);
      expect(option).toBe("apiKey");
    }
  });
}

Deno.test("checkOwnKey() checks the client's own key, and checkKey() another", async () => {
  await using server = await serve((_, response) => json(response, validKey, checkKeyStatus));
  for (const own of [apiKey, () => apiKey, () => Promise.resolve(apiKey)]) {
    const client = createClient({ baseUrl: server.url, apiKey: own });
    expect(await client.checkOwnKey()).toEqual(validKey);
    await client.checkOwnKey({ timeout: 10_000 });
    await client.checkKey("another-key");
    const sent = server.requests.splice(0).map(({ body }) => JSON.parse(body));
    expect(sent).toEqual([{ apiKey }, { apiKey }, { apiKey: "another-key" }]);
  }
});

Deno.test("methods that need the client's key are refused when it has none", async () => {
  for (const { message, option } of await failures(ConfigurationError, sendAll(createUnused()))) {
    expect(message).toMatch(/^"apiKey" is missing/);
    expect(option).toBe("apiKey");
  }
});

Deno.test("methods reject with the very value that a function for the key throws", async () => {
  for (const thrown of [new TypeError("The vault is closed"), "closed", undefined, null, 0, ""]) {
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

Deno.test("checkOwnKey() checks its options before it asks for the key", async () => {
  const client = createUnused(() => new Promise(() => {}));
  for (const options of [{ timeout: -1 }, { retries: 0.5 }]) {
    const { option } = await failure(ConfigurationError, client.checkOwnKey(options));
    expect(option).toBe(Object.keys(options)[0]);
  }
});

Deno.test("a function for the key is called once for each call that needs the key", async () => {
  await using server = await serve((_, response, count) => {
    if (count % 2) response.writeHead(503, { "retry-after": "0" }).end();
    else json(response, validKey, checkKeyStatus);
  });
  let count = 0;
  const apiKey = () => `key-${++count}`;
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  await client.call("GET", undocumented);
  await client.GET(`/${undocumented}`);
  await client.checkKey("another-key");
  expect(server.requests.map(({ headers }) => headers[keyHeader]))
    .toEqual(["key-1", "key-1", "key-2", "key-2", undefined, undefined]);
  await client.checkOwnKey();
  expect(server.requests.slice(6).map(({ body }) => JSON.parse(body)))
    .toEqual([{ apiKey: "key-3" }, { apiKey: "key-3" }]);
  expect(count).toBe(3);
});

Deno.test("POST() sends any JSON value as the key to check", async () => {
  const sent: unknown[] = [];
  const fetch = async (request: Request) => {
    sent.push((await request.json()).apiKey);
    return Response.json({ code: 7 }, { status: 400 });
  };
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch });
  const keys = ["", "\ud800", "€", " \n", null, 7, ["a"]];
  for (const apiKey of keys) {
    const { error } = await client.POST(checkKeyPath, { body: { apiKey } });
    expect(error).toEqual({ code: 7 });
  }
  expect(sent).toEqual(keys);
});

Deno.test("a key is checked in time that is linear", async () => {
  await expectLinear(async (size) => {
    const key = `${"k".repeat(size)}\n`;
    await failure(ConfigurationError, createUnused().checkKey(key));
  }, 5_000);
});
