// Wrong options and arguments: a clear error before anything is sent.
import { expect } from "@std/expect";

import { type ClientOptions, ConfigurationError, createClient } from "../mod.ts";
import { apiKey, baseUrl, sendAll, undocumented, unusedFetch } from "./client.ts";
import { failure, shown } from "./outcome.ts";
import type { AnyPath } from "./server.ts";

const unsent = createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });

/** Returns the error that an attempt fails with, whose message begins with the option's name. */
async function refused(attempt: Promise<unknown> | (() => unknown)): Promise<ConfigurationError> {
  const error = await failure(ConfigurationError, attempt);
  expect(error.option).toBe(/^"([^"]*)" /.exec(error.message)?.[1]);
  return error;
}

/** Returns the error that createClient() throws. */
function refusal(options: unknown): Promise<ConfigurationError> {
  return refused(() => createClient(options as ClientOptions));
}

Deno.test("createClient() throws when baseUrl is missing or no absolute address of a service", async () => {
  const values = [
    ...[undefined, "", 7, "api/", "ftp://127.0.0.1", "blob:https://service.example"],
    ...["https://user:secret-pass@service.example/", "https://service.example/?key=secret-pass"],
    ...["https://service.example/#part", "https://service.example/#", "https://a.example/100%/"],
  ];
  for (const value of values) {
    const error = await refusal({ baseUrl: value, allowInsecureHttp: true });
    expect(error.message).toMatch(/^"baseUrl" (is missing|must be)/);
    expect(shown(error)).not.toContain("secret-pass");
  }
});

Deno.test("createClient() refuses http for hosts that are not loopback addresses", async () => {
  const hosts = ["service.example", "127.evil.example", "0.0.0.0", "[::ffff:8.8.8.8]"];
  const others = [...hosts.map((host) => `http://${host}`), "HTTP://SERVICE.EXAMPLE"];
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

const badNumbers: [keyof ClientOptions, unknown[], unknown[]][] = [
  ["timeout", [0, -1, 1.5, NaN, Infinity, 2 ** 31, "5", null], [1, 2 ** 31 - 1]],
  ["retries", [-1, 0.5, NaN, 101, "2", null], [0, 100]],
  ["maxResponseBytes", [0, -1, 0.5, NaN, 2 ** 53, "9", null], [1, 2 ** 53 - 1]],
];

for (const [name, values, limits] of badNumbers) {
  Deno.test(`createClient() and calls refuse a bad ${name}`, async () => {
    for (const value of values) {
      const options = { [name]: value };
      const errors = [await refusal({ baseUrl, ...options })];
      if (name !== "maxResponseBytes") {
        errors.push(...await Promise.all(sendAll(unsent, options).map(refused)));
      }
      for (const { message } of errors) {
        expect(message).toBe(`"${name}" must be a whole number from ${limits.join(" to ")}`);
      }
    }
    for (const value of limits) createClient({ baseUrl, [name]: value });
  });
}

Deno.test("createClient() and methods refuse headers that cannot be sent, without showing them", async () => {
  const bad: HeadersInit[] = [
    { authorization: "sec\nret" },
    { "x-a": "sec\u20acret" },
    { "sec ret": "x" },
    [["x-a", "sec\0ret"]],
    [["x-a"] as never],
    7 as never,
  ];
  for (const headers of bad as Record<string, string>[]) {
    const errors = [
      await refusal({ baseUrl, headers }),
      await refused(unsent.call("GET", undocumented, { headers })),
      await refused(unsent.GET("/a", { headers })),
      await refused(unsent.GET("/a", { params: { header: headers } })),
    ];
    expect(errors.map(({ option }) => option))
      .toEqual(["headers", "headers", "headers", "params.header"]);
    for (const error of errors) {
      expect(error.message).toMatch(/must be headers whose names and values can be sent$/);
      expect(shown(error)).not.toMatch(/sec\W.*ret/s);
    }
  }
});

Deno.test("methods refuse what no request can have, with and without middleware", async () => {
  const client = createClient<AnyPath>({ baseUrl, apiKey });
  for (const middleware of [[], [{ onRequest() {} }]]) {
    for (const fetch of [undefined, unusedFetch]) {
      const get = client.GET("/a", { mode: "bogus", middleware, fetch } as never);
      expect((await failure(ConfigurationError, get)).message)
        .toMatch(/^No request can have these options: .*bogus/);
    }
  }
});

// Messages

Deno.test("createClient() names the option that is wrong, and what to do", async () => {
  const cases: [object, string][] = [
    [{ baseUrl: undefined }, '"baseUrl" is missing: set it to the address of the service'],
    [{ apiKey: "" }, '"apiKey" must not be empty'],
    [{ apiKey: 7 }, '"apiKey" must be a string, not a number'],
    [{ fetch: {} }, '"fetch" must be a function, not an object'],
    [{ onRetry: [] }, '"onRetry" must be a function, not an array'],
    [{ Request: null }, '"Request" must be a function, not null'],
    [{ bodySerializer: 7 }, '"bodySerializer" must be a function, not a number'],
    [{ allowInsecureHttp: "false" }, '"allowInsecureHttp" must be a boolean, not a string'],
  ];
  for (const [options, expected] of cases) {
    expect((await refusal({ baseUrl, apiKey, ...options })).message).toBe(expected);
  }
  for (const options of [null, undefined, "x"]) {
    expect((await refusal(options)).message).toMatch(/^"options" must be an object, not /);
  }
});

Deno.test("methods name the argument that is wrong", async () => {
  const junk: never = Object.create(null) as never; // String(junk) throws
  const client = unsent;
  const { signal } = new AbortController();
  const cases: [option: string, problem: string, call: Promise<unknown>][] = [
    ["options", "must be an object, not a number", client.checkKey("key", 7 as never)],
    ["options", "must be an object, not a string", client.checkOwnKey("key" as never)],
    ["options", "must be an object, not an AbortSignal", client.checkKey("key", signal as never)],
    ["options", "must be an object, not an array", client.GET("/a", [] as never)],
    ["params", "must be an object, not a string", client.GET("/a", { params: "a" as never })],
    ["baseUrl", "must be an absolute https URL", client.GET("/a", { baseUrl: "blob:a" })],
    ["apiKey", "must be a string, not undefined", client.checkKey(undefined as never)],
    ["apiKey", "must be a string, not an object", client.checkKey({} as never)],
    ["apiKey", "must be a string, not an object", client.checkKey({ timeout: 5_000 } as never)],
    ["method", "must be one of DELETE, GET, HEAD", client.call(junk, "a")],
    ["method", "must be one of DELETE, GET, HEAD", client.TRACE("/a" as never)],
    ["endpoint", "must be a string, not a symbol", client.call("GET", Symbol() as never)],
    ["signal", "must be an AbortSignal, not an object", client.call("GET", "a", { signal: junk })],
    ["signal", "must be an AbortSignal, not an object", client.checkKey("k", { signal: junk })],
    ["schema", "must be a Standard Schema, such as", client.call("GET", "a", { schema: junk })],
    ["idempotent", "must be a boolean, not an", client.call("GET", "a", { idempotent: junk })],
    ["path", "must be a string, not an object", client.GET(junk)],
    ["path", "must begin with a slash", client.GET("a")],
    ["parseAs", "must be one of json, text", client.GET("/a", { parseAs: "xml" as never })],
    ["fetch", "must be a function, not an object", client.GET("/a", { fetch: junk })],
    ["body", "must be left out of a GET request", client.GET("/a", { body: {} })],
    ["Request", "must be a function, not an object", client.GET("/a", { Request: junk })],
    ["middleware", "must be a list, not an object", client.GET("/a", { middleware: junk })],
    ["onError", "must be a function", client.GET("/a", { middleware: [{ onError: junk }] })],
  ];
  const errors = await Promise.all(cases.map(([, , call]) => refused(call)));
  for (const [index, [option, problem]] of cases.entries()) {
    const { message } = errors[index]!;
    expect(message.slice(0, `"${option}" ${problem}`.length)).toBe(`"${option}" ${problem}`);
  }
});

Deno.test("methods list the options that there are when one is unknown", async () => {
  const common = "signal, timeout, retries";
  const ofCall = `${common}, body, query, headers, idempotent, schema`;
  const ofClient = "allowInsecureHttp, apiKey, baseUrl, bodySerializer, fetch, headers, " +
    "maxResponseBytes, onRetry, pathSerializer, querySerializer, Request, requestInitExt, " +
    "retries, timeout";
  const lists: [string, string, (options: object) => Promise<ConfigurationError>][] = [
    ["checkKey()", common, (options) => refused(unsent.checkKey("k", options))],
    ["checkOwnKey()", common, (options) => refused(unsent.checkOwnKey(options))],
    ["call()", ofCall, (options) => refused(unsent.call("GET", undocumented, options))],
    ["createClient()", ofClient, (options) => refusal({ baseUrl, ...options })],
  ];
  for (const [owner, names, refuse] of lists) {
    for (const name of ["timeOut", "", "constructor"]) {
      const { message, option } = await refuse({ [name]: 1 });
      expect(message).toBe(`"${name}" is not an option of ${owner}, which has ${names}`);
      expect(option).toBe(name);
    }
  }
});

Deno.test("createClient() takes inherited options, and reads each of them once", async () => {
  class Defaults {
    reads = 0;
    baseUrl = baseUrl;
    get apiKey() {
      return this.reads++ ? "not a key\n" : "some-key";
    }
  }
  Object.defineProperty(Defaults.prototype, "fetch", {
    value: () => Promise.resolve(Response.json([1])),
  });
  const options = Object.defineProperty(new Defaults(), "reads", { enumerable: false });
  expect(await createClient(options).call("GET", undocumented)).toEqual([1]);
});
