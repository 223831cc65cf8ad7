// What people read when something is wrong.
import { expect } from "@std/expect";

import {
  ConfigurationError,
  createClient,
  HttpError,
  InvalidResponseError,
  type Method,
  NetworkError,
  RedirectError,
  type ScamAddressError,
  TimeoutError,
} from "../mod.ts";
import { caught } from "./outcome.ts";
import type { AnyPath } from "./server.ts";

const baseUrl = "https://service.example/";

function create(options: object) {
  return createClient({ baseUrl, apiKey: "some-key", ...options });
}

function messageOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error("Nothing was thrown");
}

Deno.test("createClient() names the option that is wrong, and what to do", () => {
  const cases: [object, string | RegExp][] = [
    [{ baseUrl: undefined }, /^"baseUrl" is missing/],
    [{ baseUrl: "https://a.example/%E9/" }, /^"baseUrl" must not contain .*stray "%"/],
    [{ baseUrl: "https://a.example/100%/" }, /^"baseUrl" must not contain .*stray "%"/],
    [{ apiKey: "" }, '"apiKey" must not be empty'],
    [{ apiKey: 7 }, '"apiKey" must be a string, not a number'],
    [{ fetch: {} }, '"fetch" must be a function, not an object'],
    [{ onRetry: [] }, '"onRetry" must be a function, not an array'],
    [{ Request: null }, '"Request" must be a function, not null'],
    [{ baseURL: "x" }, '"baseURL" is not an option; did you mean "baseUrl"?'],
    [{ timeOut: 1 }, '"timeOut" is not an option; did you mean "timeout"?'],
    [{ retry: 1 }, '"retry" is not an option of createClient()'],
  ];
  for (const [options, expected] of cases) {
    const message = messageOf(() => create(options));
    if (typeof expected === "string") expect(message).toBe(expected);
    else expect(message).toMatch(expected);
  }
  expect(messageOf(() => createClient(null as never))).toBe(
    '"options" must be an object with a "baseUrl", not null',
  );
});

Deno.test("calls name the argument that is wrong, and what to do", async () => {
  const client = createClient<AnyPath>({ baseUrl, apiKey: "some-key" });
  const junk = {
    toString() {
      throw new Error("junk");
    },
  };
  const { signal } = new AbortController();
  const cases: [Promise<unknown>, RegExp][] = [
    [client.checkKey({ signal } as never), /^"apiKey" must be a string \(options go second/],
    [client.call(Symbol() as never, "report"), /^"method" must be one of DELETE, GET/],
    [client.call(junk as never, "report"), /^"method" must be one of/],
    [client.call("GET", Symbol() as never), /^"endpoint" must be a string, not a symbol/],
    [client.call("GET", junk as never), /^"endpoint" must be a string, not an object/],
    [client.call("TRACE" as Method, "report"), /^"method" must be one of/],
    [client.call("GET", "report", { signal: {} as never }), /^"signal" must be an AbortSignal/],
    [client.GET(junk as never), /^"path" must be a string, not an object/],
    [client.GET("/a", { parseAs: "xml" } as never), /^"parseAs" must be one of json, text/],
    [client.GET("/a", { Request: 7 } as never), /^"Request" must be a function, not a number/],
    [client.GET("/a", { middleware: {} } as never), /^"middleware" must be a list, not an object/],
    [
      client.GET("/a", { middleware: [{ onRequest: 7 }] } as never),
      /^"onRequest" must be a function, not a number/,
    ],
    [client.TRACE("/a" as never), /^"method" must be one of/],
  ];
  for (const [call, expected] of cases) {
    const error = await caught(call);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toMatch(expected);
  }
  expect(messageOf(() => client.use({ onError: "x" } as never))).toBe(
    '"onError" must be a function, not a string',
  );
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
  ];
  for (const [error, expected] of cases) {
    expect(JSON.parse(JSON.stringify(error))).toEqual({ message: "m", ...expected });
  }
});
