// Wrong options and arguments: a clear error before anything is sent.
import { expect } from "@std/expect";

import { type ClientOptions, ConfigurationError, createClient } from "../mod.ts";
import { apiKey, baseUrl, replaceFetch, sendAll, undocumented, unsent } from "./support/client.ts";
import { rejection, shown } from "./support/rejection.ts";
import type { AnyPath } from "./support/server.ts";

/** Returns the error that an attempt fails with, whose message begins with the option's name. */
async function refused(attempt: Promise<unknown> | (() => unknown)): Promise<ConfigurationError> {
  const error = await rejection(ConfigurationError, attempt);
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
    ...["https://service.example/#part", "https://service.example/#"],
  ];
  for (const value of values) {
    const error = await refusal({ baseUrl: value, allowInsecureHttp: true });
    expect(error.message).toMatch(/^"baseUrl" (is missing|must be)/);
    expect(shown(error)).not.toContain("secret-pass");
  }
});

Deno.test("createClient() refuses http for hosts that are not loopback addresses", async () => {
  const hosts = [
    ...["service.example", "127.evil.example", "0.0.0.0", "[::ffff:8.8.8.8]"],
    ...["localhost.evil.example", "127.0.0.1.evil.example", "localhost-evil.example"],
  ];
  for (const baseUrl of [...hosts.map((host) => `http://${host}`), "HTTP://SERVICE.EXAMPLE"]) {
    for (const allowInsecureHttp of [undefined, false]) {
      const error = await refusal({ baseUrl, allowInsecureHttp });
      expect(error.message).toMatch(/"baseUrl" .*"allowInsecureHttp"/);
    }
    createClient({ baseUrl, allowInsecureHttp: true });
  }
  const own = ["localhost:1", "LOCALHOST", "127.0.0.1", "127.10.20.30", "[::1]:1", "127.1"];
  for (const host of own) createClient({ baseUrl: `http://${host}` });
});

Deno.test("createClient() and calls refuse numbers that are out of range", async () => {
  const cases: [string, unknown[], unknown[]][] = [
    ["timeout", [0, -1, 1.5, NaN, Infinity, 2 ** 31, "5", null], [1, 2 ** 31 - 1]],
    ["retries", [-1, 0.5, NaN, 101, "2", null], [0, 100]],
    ["maxResponseBytes", [0, -1, 0.5, NaN, 2 ** 53, "9", null], [1, 2 ** 53 - 1]],
  ];
  for (const [name, values, limits] of cases) {
    for (const value of values) {
      const options = { [name]: value };
      const calls = name === "maxResponseBytes" ? [] : sendAll(unsent, options);
      const errors = await Promise.all([refusal({ baseUrl, ...options }), ...calls.map(refused)]);
      for (const { message } of errors) {
        expect(message).toBe(`"${name}" must be a whole number from ${limits.join(" to ")}`);
      }
    }
    for (const value of limits) createClient({ baseUrl, [name]: value });
  }
});

Deno.test("createClient() reads the headers, and does not see what comes later", async () => {
  const seen: (string | null)[] = [];
  const fetch = ({ headers }: Request) => {
    seen.push(headers.get("x-a"));
    return Promise.resolve(Response.json(1));
  };
  const given = { "x-a": "first" };
  const headers = new Headers(given);
  const clients = [given, headers].map((headers) =>
    createClient({ baseUrl, apiKey, fetch, headers })
  );
  given["x-a"] = "second";
  headers.set("x-a", "second");
  for (const client of clients) await client.call("GET", undocumented);
  expect(seen).toEqual(["first", "first"]);
});

// Messages

// Names

Deno.test("methods list the options that there are when one is unknown", async () => {
  const body = { apiKey };
  const owners: Record<string, (options: Record<string, unknown>) => Promise<unknown>> = {
    "checkKey()": (options) => unsent.checkKey("k", options),
    "checkOwnKey()": (options) => unsent.checkOwnKey(options),
    "call()": (options) => unsent.call("GET", undocumented, options),
    "GET()": (options) => unsent.GET("/a", options),
    "POST()": (options) => unsent.POST("/checkKey", { body, ...options }),
    "PUT()": (options) => unsent.request("put", "/a", options),
    "createClient()": async (options) => await createClient({ baseUrl, ...options }),
  };
  const expectUnknown = async (owner: string, options: Record<string, unknown>) => {
    const { message, option } = await refused(owners[owner]!(options));
    const [start, list] = message.split(", which has ");
    expect(start).toBe(`"${Object.keys(options)[0]}" is not an option of ${owner}`);
    expect(list!.split(", ")).toContain("timeout");
    expect(list!.split(", ")).not.toContain(option);
  };
  for (const owner of Object.keys(owners)) {
    for (const name of ["timeOut", "retires", "url", "", "constructor"]) {
      await expectUnknown(owner, { [name]: 1 });
    }
  }
  for (const name of ["apiKey", "schema", "query", "maxResponseBytes", "client", "dispatcher"]) {
    await expectUnknown("GET()", { [name]: undefined });
  }
});

Deno.test("typed methods take the options that the standard of fetch has, and hand them on", async () => {
  const seen: Request[] = [];
  using _fetch = replaceFetch(() => (...args) => {
    seen.push(new Request(...args));
    return Promise.resolve(Response.json(1));
  });
  const client = createClient<AnyPath>({ baseUrl, apiKey });
  const visible = { cache: "no-store", credentials: "omit", keepalive: true } as const;
  const options: RequestInit & Record<string, unknown> = {
    ...visible,
    ...{ duplex: "half", integrity: "", method: "PUT", mode: "cors", priority: "high" },
    ...{ redirect: "error", referrer: "", referrerPolicy: "no-referrer", window: null },
  };
  expect((await client.GET("/a", options)).data).toBe(1);
  for (const [name, value] of Object.entries(options)) await client.GET("/a", { [name]: value });
  expect(seen.map(({ method, redirect }) => `${method} ${redirect}`))
    .toEqual(Array(13).fill("GET manual"));
  for (const [index, [name, value]] of Object.entries(visible).entries()) {
    const requests = [seen[0]!, seen[index + 1]!]; // with all options, and with this one
    expect([name, ...requests.map((request) => request[name as "cache"])])
      .toEqual([name, value, value]);
  }
  client.use({ onRequest: ({ request }) => new Request(request, { credentials: "include" }) });
  await client.checkKey("some-key").catch(() => {}); // as RECIPES sets one for all calls
  expect(seen.at(-1)!.credentials).toBe("include");
});
