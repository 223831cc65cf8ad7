// Wrong options and arguments: a clear error before anything is sent.
import { expect } from "@std/expect";

import { type ClientOptions, ConfigurationError, createClient, type Method } from "../mod.ts";
import { apiKey, baseUrl, sendAll, unusedFetch } from "./client.ts";
import { failure, shown } from "./outcome.ts";
import type { AnyPath } from "./server.ts";

/** Returns the error that an attempt fails with, whose message begins with the option's name. */
async function refused(attempt: Promise<unknown> | (() => unknown)): Promise<ConfigurationError> {
  const error = await failure(ConfigurationError, attempt);
  expect(error.option).toBe(/^"([^"]+)" /.exec(error.message)?.[1]);
  return error;
}

/** Returns the error that createClient() throws. */
function refusal(options: unknown): Promise<ConfigurationError> {
  return refused(() => createClient(options as ClientOptions));
}

const badBaseUrls: Record<string, unknown> = {
  "missing": undefined,
  "empty": "",
  "not a string": 7,
  "relative": "api/",
  "without a scheme": "service.example/api",
  "of another scheme": "ftp://127.0.0.1",
  "for WebSockets": "ws://localhost",
  "a file": "file:///tmp/",
  "data": "data:,",
  "a blob": "blob:https://service.example",
  "with a user": "https://user@service.example/",
  "with a password": "https://user:secret-pass@service.example/",
  "with a query": "https://service.example/?key=secret-pass",
  "with an empty query": "https://service.example/?",
  "with a fragment": "https://service.example/#part",
  "with an empty fragment": "https://service.example/#",
};

for (const [kind, value] of Object.entries(badBaseUrls)) {
  Deno.test(`createClient() throws when baseUrl is ${kind}`, async () => {
    const error = await refusal({ baseUrl: value, allowInsecureHttp: true });
    expect(error.message).toMatch(/^"baseUrl" /);
    expect(shown(error)).not.toContain("secret-pass");
  });
}

Deno.test("createClient() refuses http for hosts that are not loopback addresses", async () => {
  const others = [
    "http://service.example",
    "http://localhost.example",
    "http://127.0.0.1.example",
    "http://127.evil.example",
    "http://128.0.0.1",
    "http://0.0.0.0",
    "http://10.0.0.1",
    "http://[::]",
    "http://[fe80::1]",
    "http://[::ffff:8.8.8.8]",
    "http://sub.localhost.example",
    "HTTP://SERVICE.EXAMPLE",
  ];
  for (const baseUrl of others) {
    for (const allowInsecureHttp of [undefined, false]) {
      const error = await refusal({ baseUrl, allowInsecureHttp });
      expect(error.message).toMatch(/"baseUrl" .*"allowInsecureHttp"/);
    }
    createClient({ baseUrl, allowInsecureHttp: true });
  }
  const own = ["localhost:1", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]:1", "127.1"];
  for (const host of own) createClient({ baseUrl: `http://${host}` });
});

const badNumbers: [keyof ClientOptions, unknown[]][] = [
  ["timeout", [0, -1, 1.5, NaN, Infinity, 2 ** 31, "5", null]],
  ["retries", [-1, 0.5, NaN, Infinity, "2", null]],
  ["maxResponseBytes", [0, -1, 0.5, NaN, Infinity, "9", null]],
];

for (const [name, values] of badNumbers) {
  Deno.test(`createClient() and calls refuse a bad ${name}`, async () => {
    const client = createClient<AnyPath>({ baseUrl, apiKey: "some-key", fetch: unusedFetch });
    for (const value of values) {
      const options = { [name]: value };
      const errors = [await refusal({ baseUrl, ...options })];
      if (name !== "maxResponseBytes") {
        errors.push(...await Promise.all(sendAll(client, options).map(refused)));
      }
      for (const { message } of errors) expect(message).toContain(`"${name}" must`);
    }
  });
}

Deno.test("createClient() refuses headers that cannot be sent, without showing them", async () => {
  const error = await refusal({ baseUrl, headers: { authorization: "sec\nret" } });
  expect(error.message).toMatch(/^"headers"/);
  expect(shown(error)).not.toMatch(/sec.*ret/s);
});

Deno.test("calls refuse a signal that is not an AbortSignal", async () => {
  const apiKey = () => "some-key";
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });
  for (const signal of ["x", new AbortController()]) {
    for (const { message } of await Promise.all(sendAll(client, { signal }).map(refused))) {
      expect(message).toMatch(/^"signal" must be an AbortSignal, not /);
    }
  }
});

// Messages

Deno.test("createClient() names the option that is wrong, and what to do", async () => {
  const cases: [object, string | RegExp][] = [
    [{ baseUrl: undefined }, /^"baseUrl" is missing/],
    [{ baseUrl: "https://a.example/%E9/" }, /^"baseUrl" must not contain .*stray "%"/],
    [{ baseUrl: "https://a.example/100%/" }, /^"baseUrl" must not contain .*stray "%"/],
    [{ apiKey: "" }, '"apiKey" must not be empty'],
    [{ apiKey: 7 }, '"apiKey" must be a string, not a number'],
    [{ fetch: {} }, '"fetch" must be a function, not an object'],
    [{ onRetry: [] }, '"onRetry" must be a function, not an array'],
    [{ Request: null }, '"Request" must be a function, not null'],
    [{ allowInsecureHttp: "false" }, '"allowInsecureHttp" must be a boolean, not a string'],
    [{ baseURL: "x" }, '"baseURL" is not an option; did you mean "baseUrl"?'],
    [{ timeOut: 1 }, '"timeOut" is not an option; did you mean "timeout"?'],
    [{ retry: 1 }, '"retry" is not an option of createClient()'],
  ];
  for (const [options, expected] of cases) {
    const { message } = await refusal({ baseUrl, apiKey, ...options });
    if (typeof expected === "string") expect(message).toBe(expected);
    else expect(message).toMatch(expected);
  }
  const { message } = await refusal(null);
  expect(message).toBe('"options" must be an object, not null');
});

Deno.test("calls name the argument that is wrong, and what to do", async () => {
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });
  const junk = {
    toString() {
      throw new Error("junk");
    },
  };
  const cases: [Promise<unknown>, RegExp][] = [
    [client.checkKey("key", 7 as never), /^"options" must be an object, not a number/],
    [client.call("GET", "a", "b" as never), /^"options" must be an object, not a string/],
    [client.call(Symbol() as never, "report"), /^"method" must be one of DELETE, GET/],
    [client.call(junk as never, "report"), /^"method" must be one of/],
    [client.call("GET", Symbol() as never), /^"endpoint" must be a string, not a symbol/],
    [client.call("GET", junk as never), /^"endpoint" must be a string, not an object/],
    [client.call("TRACE" as Method, "report"), /^"method" must be one of/],
    [client.call("GET", "report", { signal: {} as never }), /^"signal" must be an AbortSignal/],
    [client.GET(junk as never), /^"path" must be a string, not an object/],
    [client.GET("/a", { parseAs: "xml" } as never), /^"parseAs" must be one of json, text/],
    [client.GET("/a", { fetch: 7 } as never), /^"fetch" must be a function, not a number/],
    [client.GET("/a", { body: {} }), /^"body" must be left out of a GET request/],
    [client.GET("/{id}", { params: { path: { id: "" } } }), /^"params.path" must have a value/],
    [client.GET("/a/../b"), /^"path" must not contain/],
    [client.GET("/a", { baseUrl: "https://b.example/" }), /^"baseUrl" is at another origin/],
    [client.call("POST", "a", { body: 1n }), /^"body" must be a value that JSON can represent/],
    [client.call("GET", "a", { query: [] as never }), /^"query" must be an object of names/],
    [client.call("GET", "a", { schema: {} as never }), /^"schema" must be a Standard Schema/],
    [client.GET("/a", { Request: 7 } as never), /^"Request" must be a function, not a number/],
    [client.GET("/a", { middleware: {} } as never), /^"middleware" must be a list, not an object/],
    [
      client.GET("/a", { middleware: [{ onRequest: 7 }] } as never),
      /^"onRequest" must be a function, not a number/,
    ],
    [client.TRACE("/a" as never), /^"method" must be one of/],
  ];
  for (const [call, expected] of cases) {
    expect((await refused(call)).message).toMatch(expected);
  }
  const { message } = await refused(() => client.use({ onError: "x" } as never));
  expect(message).toBe('"onError" must be a function, not a string');
});

const misspelt: [string, string | undefined][] = [
  ["timeOut", "timeout"],
  ["timout", "timeout"],
  ["TIMEOUT", "timeout"],
  ["time", "timeout"],
  ["retires", "retries"],
  ["retry", undefined],
  ["Signal", "signal"],
  ["singal", "signal"],
  ["apikey", undefined],
  ["", undefined],
];

for (const [name, meant] of misspelt) {
  Deno.test(`calls refuse the option "${name}", and suggest the one that was meant`, async () => {
    const client = createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });
    const options = { [name]: 1 };
    const calls: [string, Promise<unknown>][] = [
      ["checkKey()", client.checkKey(options)],
      ["checkKey()", client.checkKey("some-key", options)],
      ["call()", client.call("GET", "report", options)],
    ];
    for (const [method, call] of calls) {
      const { message, option } = await failure(ConfigurationError, call);
      const rest = meant ? `; did you mean "${meant}"?` : ` of ${method}`;
      expect(message).toBe(`"${name}" is not an option${rest}`);
      expect(option).toBe(name);
    }
  });
}

Deno.test("openapi-fetch's methods refuse only what differs in case from an option", async () => {
  const fetch = () => Promise.resolve(Response.json([1]));
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch });
  for (const name of ["timeOut", "TIMEOUT", "Retries", "SIGNAL"]) {
    const { message, option } = await refused(client.GET("/a", { [name]: 1 } as never));
    expect(message).toBe(`"${name}" is not an option; did you mean "${name.toLowerCase()}"?`);
    expect(option).toBe(name);
  }
  const init = { keepalive: true, priority: "low", timout: 1, next: { revalidate: 1 } };
  expect((await client.GET("/a", init as never)).data).toEqual([1]);
});

Deno.test("createClient() takes inherited options, and reads each of them once", async () => {
  class Defaults {
    reads = 0;
    baseUrl = "https://service.example/";
    get apiKey() {
      return this.reads++ ? "not a key\n" : "some-key";
    }
  }
  Object.defineProperty(Defaults.prototype, "fetch", {
    value: () => Promise.resolve(Response.json([1])),
  });
  const options = Object.defineProperty(new Defaults(), "reads", { enumerable: false });
  expect(await createClient(options).call("GET", "report")).toEqual([1]);
});
