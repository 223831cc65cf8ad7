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
import { apiKey, baseUrl, unusedFetch } from "./client.ts";
import { caught, failure, failures } from "./outcome.ts";
import { type AnyPath, serve } from "./server.ts";

Deno.test("GET() rejects with the package's errors where openapi-fetch throws others", async () => {
  await using server = await serve(({ url }, response) => {
    if (url === "/html") return void response.end("<h1>");
    if (url === "/announced") return void response.setHeader("content-length", 4).end("<h1>");
    if (url === "/reset") return void response.socket!.destroy();
    if (url === "/cut") {
      response.writeHead(200, { "content-length": 9 }).write("[");
      return void setTimeout(() => response.socket!.destroy(), 20);
    }
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  await failures(InvalidResponseError, [client.GET("/html"), client.GET("/announced")]);
  await failure(NetworkError, client.GET("/reset"));
  const forms = ["json", "text", "stream", "blob", "arrayBuffer"] as const;
  await failures(NetworkError, forms.map((parseAs) => client.GET("/cut", { parseAs })));
  const hanging = forms.map((parseAs) => client.GET("/hang", { parseAs, timeout: 100 }));
  await failures(TimeoutError, hanging);
});

Deno.test("methods refuse arguments that make no valid request", async () => {
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch: unusedFetch });
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  await failures(ConfigurationError, [
    client.GET("/a", { baseUrl: "not a URL" }),
    client.GET("/a", { baseUrl: 1 as never }),
    client.GET("/a", { headers: { "a b": "c" } }),
    client.GET("/a", { headers: { a: "\u20ac" } }),
    client.call("GET", "a", { headers: { "a b": "c" } }),
    client.call("GET", "a", { headers: { a: "b\nc" } }),
    client.GET("/a", { body: {} }),
    client.GET("/{a}", { params: { path: { a: "\ud800" } } }),
    client.GET("/a", { params: { query: { a: "\ud800" } } }),
    client.POST("/a", { body: cyclic }),
    client.POST("/a", { body: 1n }),
  ]);
});

// V8 adds the functions that await a promise to the stack of what it rejects with.
const callers: Record<string, (client: ScamAddressClient<AnyPath>) => Promise<unknown>> = {
  async checksTheKey(client) {
    return await client.checkKey();
  },
  async callsTheReport(client) {
    return await client.call("GET", "report");
  },
  async getsTheReport(client) {
    return await client.GET("/report");
  },
};

for (const [name, call] of Object.entries(callers)) {
  Deno.test(`the stack of an error names the caller, ${name}()`, async () => {
    await using server = await serve(({ headers }, response) => {
      if (headers["x-fail"] === "reset") response.socket!.destroy();
      if (headers["x-fail"] === "status") response.writeHead(400).end();
    });
    const attempt = async (fail: string) => {
      const options = { apiKey: () => apiKey, headers: { "x-fail": fail }, retries: 0 };
      const timeout = fail === "hang" ? 50 : 10_000;
      const client = createClient<AnyPath>({ baseUrl: server.url, ...options, timeout });
      return await caught(call(client)) as Error;
    };
    const expected: [string, string][] = [["reset", "NetworkError"], ["hang", "TimeoutError"]];
    if (name !== "getsTheReport") expected.push(["status", "HttpError"]);
    for (const [fail, errorName] of expected) {
      const error = await attempt(fail);
      expect(error.name).toBe(errorName);
      expect(error.stack).toContain(name);
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

Deno.test("instanceof is false of everything else, and of subclasses made elsewhere", () => {
  class OwnError extends ConfigurationError {}
  const own = new OwnError("m");
  const others = [
    undefined,
    null,
    7,
    "ConfigurationError",
    Symbol(),
    {},
    new Error("m"),
    new DOMException("m", "TimeoutError"),
    { name: "HttpError", code: "http", status: 404 },
    Object.create(null),
  ];
  for (const errorClass of classes) {
    expect(others.filter((other) => other instanceof errorClass)).toEqual([]);
  }
  expect(classes.filter((errorClass) => own instanceof errorClass)).toEqual([
    ScamAddressError,
    ConfigurationError,
  ]);
  expect(new ConfigurationError("m") instanceof OwnError).toBe(false);
  expect([own.name, own.code]).toEqual(["ConfigurationError", "configuration"]);
});

Deno.test("JSON.stringify() of an error has its name, code, message and fields", () => {
  const headers = new Headers({ "x-request-id": "r1" });
  const cases: [ScamAddressError, object][] = [
    [new HttpError("m", { status: 429, headers, body: { a: 1 }, retryAfter: 2 }), {
      name: "HttpError",
      code: "http",
      status: 429,
      headers: { "x-request-id": "r1" },
      body: { a: 1 },
      retryAfter: 2,
    }],
    [new NetworkError("m", { cause: new Error("c") }), { name: "NetworkError", code: "network" }],
    [new TimeoutError("m", { timeout: 5 }), { name: "TimeoutError", code: "timeout", timeout: 5 }],
    [new RedirectError("m", { status: 301, location: "/b" }), {
      name: "RedirectError",
      code: "redirect",
      status: 301,
      location: "/b",
    }],
    [new InvalidResponseError("m", { status: 200, issues: [{ path: "/a", rule: "type" }] }), {
      name: "InvalidResponseError",
      code: "invalid_response",
      status: 200,
      issues: [{ path: "/a", rule: "type" }],
    }],
    [new ConfigurationError("m"), { name: "ConfigurationError", code: "configuration" }],
    [new ConfigurationError("m", { option: "timeout" }), {
      name: "ConfigurationError",
      code: "configuration",
      option: "timeout",
    }],
  ];
  for (const [error, expected] of cases) {
    expect(JSON.parse(JSON.stringify(error))).toEqual({ message: "m", ...expected });
  }
});
