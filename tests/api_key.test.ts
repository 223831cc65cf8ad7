// Which keys are refused, always before anything is sent and without being quoted.
import { expect } from "@std/expect";

import { ConfigurationError, createClient } from "../mod.ts";
import { baseUrl, sendAll, unusedFetch } from "./client.ts";
import { failures, shown } from "./outcome.ts";
import type { AnyPath } from "./server.ts";

const unusableKeys: Record<string, unknown> = {
  "empty": "",
  "a number": 7,
  "null": null,
  "an object": { secret: "k3y" },
  "with a line feed": "k3y\n",
  "with a carriage return": "k3\ry",
  "with a line break and a header": "k3y\r\nx-evil: 1",
  "with a null character": "k3y\0",
  "with a tab": "k3\ty",
  "with a control character": "k3y\x7f",
  "with a character beyond Latin-1": "k3y\u20ac",
  "with an emoji": "k3y\u{1f511}",
  "with a space in front": " k3y",
  "with a space behind": "k3y ",
};

for (const [kind, value] of Object.entries(unusableKeys)) {
  Deno.test(`a key that is ${kind} is refused and not shown`, async () => {
    const key = value as string;
    const create = (apiKey: string | (() => string | Promise<string>)) =>
      createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });
    const errors = await failures(ConfigurationError, [
      () => create(key),
      create("usable-key").checkKey(key, {}),
      ...sendAll(create(() => key)),
      ...sendAll(create(() => Promise.resolve(key))),
    ]);
    for (const error of errors) {
      expect(error.message).toMatch(/^"apiKey" /);
      expect(shown(error)).not.toMatch(/k3/);
    }
  });
}

Deno.test("methods that need the client's key are refused when it has none", async () => {
  const client = createClient<AnyPath>({ baseUrl, fetch: unusedFetch });
  for (const error of await failures(ConfigurationError, sendAll(client))) {
    expect(error.message).toMatch(/"apiKey"/);
  }
});

const boom = new Error("The vault is closed");
const failingFunctions: [string, () => unknown, Error | undefined][] = [
  ["throws", () => {
    throw boom;
  }, boom],
  ["rejects", () => Promise.reject(boom), boom],
  ["returns undefined", () => undefined, undefined],
  ["returns an object with toString()", () => ({ toString: () => "key" }), undefined],
];

for (const [kind, apiKey, cause] of failingFunctions) {
  Deno.test(`a function for the key that ${kind} is a ConfigurationError`, async () => {
    const client = createClient<AnyPath>({
      baseUrl,
      apiKey: apiKey as () => string,
      fetch: unusedFetch,
    });
    for (const error of await failures(ConfigurationError, sendAll(client))) {
      expect(error.message).toMatch(/"apiKey"/);
      expect(error.cause).toBe(cause);
    }
  });
}

Deno.test("POST() sends any JSON value as the key to check", async () => {
  const sent: unknown[] = [];
  const fetch = async (request: Request) => {
    sent.push((await request.json()).apiKey);
    return Response.json({ code: 7 }, { status: 400 });
  };
  const client = createClient({ baseUrl, fetch });
  const keys = ["", "\ud800", "\udc00k", "€", " \n", null, 7, ["a"], { a: null }];
  for (const apiKey of keys) {
    const { error } = await client.POST("/checkKey", { body: { apiKey: apiKey as string } });
    expect(error).toEqual({ code: 7 });
  }
  expect(sent).toEqual(keys);
});
