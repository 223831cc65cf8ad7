// What errors say, what they are, and which of them methods reject with.
import { expect } from "@std/expect";

import {
  ConfigurationError,
  createClient,
  HttpError,
  InvalidResponseError,
  NetworkError,
  RedirectError,
  type ScamAddressClient,
  ScamAddressError,
  TimeoutError,
} from "../mod.ts";
import { apiKey, baseUrl, checkKeyPath, undocumented, unusedFetch } from "./client.ts";
import { failure, failures } from "./outcome.ts";
import { type AnyPath, serve } from "./server.ts";

Deno.test("GET() rejects with the package's errors where openapi-fetch throws others", async () => {
  await using server = await serve(({ url }, response) => {
    if (url === "/html") return void response.end("<h1>");
    if (url === "/reset") return void response.socket!.destroy();
    if (url !== "/cut") return; // it hangs
    response.writeHead(200, { "content-length": 9 });
    response.write("[", () => response.socket!.destroy());
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  await failure(InvalidResponseError, client.GET("/html"));
  await failure(NetworkError, client.GET("/reset"));
  const forms = ["json", "text", "stream", "blob", "arrayBuffer"] as const;
  await failures(NetworkError, forms.map((parseAs) => client.GET("/cut", { parseAs })));
  const hanging = forms.map((parseAs) => client.GET("/hang", { parseAs, timeout: 50 }));
  await failures(TimeoutError, hanging);
});

Deno.test("methods refuse arguments that make no valid request", async () => {
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  await failures(ConfigurationError, [
    client.GET("/a", { baseUrl: "not a URL" }),
    client.GET("/a", { baseUrl: 7 as never }),
    client.GET("/a", { headers: { "a b": "c" } }),
    client.GET("/a", { headers: { a: "\u20ac" } }),
    client.GET("/a", { mode: "bogus" as never }),
    client.GET("a"),
    client.GET("/a", { body: {} }),
    client.GET("/{a}", { params: { path: { a: "\ud800" } } }),
    client.GET("/{constructor}"),
    client.GET("/a", { params: { query: { a: "\ud800" } } }),
    client.POST("/a", { body: cyclic }),
    client.POST("/a", { body: 1n }),
    client.call("GET", "a", { headers: { a: "b\nc" } }),
  ]);
});

Deno.test("messages name the method and the address without the query", async () => {
  await using server = await serve(({ url }, response) => {
    const status = Number(/\d+/.exec(url));
    if (status === 0) return void response.socket!.destroy();
    response.writeHead(status, { location: "/", "content-type": "text/html" }).end("<h1>");
  });
  const options = { baseUrl: `${server.url}api`, apiKey, retries: 0 };
  const client = createClient<AnyPath>(options);
  const problems: Record<string, string> = {
    402: "a response with the status 402",
    404: 'a response with the status 404: check "baseUrl"',
    301: 'a redirect, which is not followed: check "baseUrl"',
    200: 'an invalid response: the body is not JSON, check "baseUrl"',
  };
  const start = (name: string) => `"POST ${server.url}api/${name}" got `;
  for (const [name, problem] of Object.entries(problems)) {
    const call = client.call("POST", name, { query: { q: "x" } });
    expect((await failure(ScamAddressError, call)).message).toBe(`${start(name)}${problem}`);
  }
  const reset = await failure(NetworkError, client.call("POST", "0", { query: { q: "x" } }));
  expect(reset.message).toBe(`${start("0")}no response: ${(reset.cause as Error).message}`);
  const late = failure(
    TimeoutError,
    client.GET("/0", { timeout: 1, fetch: () => new Promise(() => {}) }),
  );
  expect((await late).message).toBe(`"GET ${server.url}api/0" took more than 1 ms`);
  const { message } = await failure(NetworkError, client.checkOwnKey());
  expect(message).toContain(`"POST ${server.url}api${checkKeyPath}" got `);
});

Deno.test("messages show no key that is part of the address", async () => {
  const fetch = () => Promise.resolve(new Response("", { status: 400 }));
  const client = createClient({ baseUrl, apiKey: "some key", fetch });
  const error = await failure(HttpError, client.call("GET", "keys/some%20key"));
  expect(error.message).toContain(`"GET ${baseUrl}keys/[redacted]" got `);
});

type Call = (client: ScamAddressClient<AnyPath>, init: Record<string, unknown>) => Promise<unknown>;

/** Methods, called from functions whose names a stack has. */
const callers: Record<string, Call> = {
  checksAKey: async (client, init) => await client.checkKey("some-key", init),
  checksTheOwnKey: async (client, init) => await client.checkOwnKey(init),
  callsAnEndpoint: async (client, init) => await client.call("GET", undocumented, init),
  getsAnEndpoint: async (client, init) => await client.GET(`/${undocumented}`, init),
};

for (const [name, call] of Object.entries(callers)) {
  Deno.test(`the stack of an error names the caller, ${name}()`, async () => {
    const { stackTraceLimit } = Error as { stackTraceLimit?: number };
    // By default it is 10, and the runtime's own frames, of which there are more when it is busy,
    // count too.
    Object.assign(Error, { stackTraceLimit: 50 });
    using _restored = { [Symbol.dispose]: () => Object.assign(Error, { stackTraceLimit }) };
    await using server = await serve(({ headers }, response) => {
      const fault = headers["x-fault"];
      if (fault === "http") response.writeHead(400).end();
      if (fault === "invalid_response") response.end("<h1>");
      if (fault === "network") response.socket!.destroy();
      if (fault === "redirect") response.writeHead(302).end();
    });
    const faults = ["configuration", "invalid_response", "network", "redirect", "timeout"];
    if (name !== "getsAnEndpoint") faults.push("http");
    for (const fault of faults) {
      const options = { baseUrl: server.url, apiKey, headers: { "x-fault": fault }, retries: 0 };
      const client = createClient<AnyPath>(options);
      const more = fault === "configuration"
        ? { retries: -1 }
        : { timeout: fault === "timeout" ? 50 : 30_000 };
      for (const init of [more, { ...more, signal: new AbortController().signal }]) {
        const error = await failure(ScamAddressError, call(client, init));
        expect(error.code).toBe(fault);
        const frames = error.stack!.split("\n    at ").slice(1);
        const ours = frames.filter((frame) => !/\((node|ext):/.test(frame));
        expect(ours.slice(0, 10).join("\n")).toContain(name);
      }
    }
  });
}

const classes = [
  ScamAddressError,
  ConfigurationError,
  HttpError,
  InvalidResponseError,
  NetworkError,
  RedirectError,
  TimeoutError,
];

Deno.test("instanceof is true of an object with the prototype, as older compilers check it", () => {
  for (const errorClass of classes) {
    const unfinished = Object.create(errorClass.prototype); // before the constructor has run
    const matching = classes.filter((other) => unfinished instanceof other);
    expect(new Set(matching)).toEqual(new Set([ScamAddressError, errorClass]));
  }
});

Deno.test("instanceof is true of the errors of another copy, and of no others", () => {
  // tests/npm has real copies, an ES module and CommonJS, and classes turned into functions.
  const brand = Object.getOwnPropertySymbols(new TimeoutError("m", { timeout: 5 }));
  const error = Object.assign(new Error("m"), { [brand[0]!]: 1, code: "timeout" });
  expect(classes.filter((errorClass) => error instanceof errorClass)).toEqual([
    ScamAddressError,
    TimeoutError,
  ]);
  const others = [
    undefined,
    null,
    "TimeoutError",
    {},
    new Error("m"),
    new DOMException("m", "TimeoutError"),
    { name: "TimeoutError", code: "timeout", timeout: 5 },
    Object.create(null),
  ];
  for (const errorClass of classes) {
    expect(others.filter((other) => other instanceof errorClass)).toEqual([]);
  }
});

Deno.test("instanceof is false of a subclass made elsewhere", () => {
  class OwnError extends ConfigurationError {}
  const own = new OwnError("m", { option: "a" });
  expect(classes.filter((errorClass) => own instanceof errorClass)).toEqual([
    ScamAddressError,
    ConfigurationError,
  ]);
  expect(new ConfigurationError("m", {}) instanceof OwnError).toBe(false);
  expect([own.name, own.code, own.option]).toEqual(["ConfigurationError", "configuration", "a"]);
});

Deno.test("JSON.stringify() of an error has its name, code, message and fields", () => {
  const headers = new Headers([["x-id", "1"], ["set-cookie", "a=1"], ["set-cookie", "b=2"]]);
  const http = { status: 429, body: { a: 1 }, retryAfter: 2 };
  const redirect = { status: 301, location: "/b" };
  const invalid = { status: 200, issues: [{ path: "/a", rule: "type" }], body: [] };
  const cause = new Error("c");
  const cases: [ScamAddressError, string, object][] = [
    [new HttpError("m", { ...http, headers }), "HttpError", {
      ...http,
      code: "http",
      headers: { "x-id": "1", "set-cookie": ["a=1", "b=2"] },
    }],
    [new HttpError("m", { ...http, headers: new Headers() }), "HttpError", {
      ...http,
      code: "http",
      headers: {},
    }],
    [new NetworkError("m", {}, { cause }), "NetworkError", { code: "network" }],
    [new TimeoutError("m", { timeout: 5 }), "TimeoutError", { code: "timeout", timeout: 5 }],
    [new RedirectError("m", redirect), "RedirectError", { code: "redirect", ...redirect }],
    [new InvalidResponseError("m", invalid), "InvalidResponseError", {
      code: "invalid_response",
      ...invalid,
    }],
    [new ConfigurationError("m", {}), "ConfigurationError", { code: "configuration" }],
  ];
  for (const [error, name, expected] of cases) {
    expect(JSON.parse(JSON.stringify(error))).toEqual({ name, message: "m", ...expected });
  }
  expect(cases[2]![0].cause).toBe(cause);
});
