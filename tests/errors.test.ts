// What errors say and what they are.
import { expect } from "@std/expect";

import {
  ConfigurationError,
  createClient,
  HttpError,
  InvalidResponseError,
  NetworkError,
  RedirectError,
  ScamAddressError,
  TimeoutError,
} from "../mod.ts";
import { createSandbox } from "../src/sandbox/service.ts";
import { apiKey, baseUrl, checkKeyPath, undocumented } from "./client.ts";
import { failure, failures, shown } from "./outcome.ts";
import { type AnyPath, serve, serveSockets } from "./server.ts";

Deno.test("messages name the method, the address without the query, the problem and what to do", async () => {
  await using server = await serve(({ url }, response) => {
    const [, status, retryAfter] = /(\d+)-?(\d*)/.exec(url)!;
    if (status === "0") return void response.socket!.destroy();
    if (retryAfter) response.setHeader("retry-after", retryAfter);
    response.writeHead(Number(status), { location: "https://b.example/c?d=e" }).end("<h1>");
  });
  const options = { baseUrl: `${server.url}api`, apiKey, retries: 0 };
  const client = createClient<AnyPath>(options);
  const query = { email: "a@b.example" };
  const problems: Record<string, string> = {
    402: "a response with the status 402",
    404: "a response with the status 404",
    "429-7": "a response with the status 429, Retry-After: 7",
    301: 'a redirect to "https://b.example/c", which is not followed: check "baseUrl"',
    200: 'an invalid response: the body is not JSON, check "baseUrl"',
  };
  const start = (name: string) => `"POST ${server.url}api/${name}" `;
  for (const [name, problem] of Object.entries(problems)) {
    const error = await failure(ScamAddressError, client.call("POST", name, { query }));
    expect(error.message).toBe(`${start(name)}got ${problem}`);
  }
  const reset = await failure(NetworkError, client.call("POST", "0", { query }));
  expect(reset.message).toBe(`${start("0")}got no response: ${(reset.cause as Error).message}`);
  const params = { query, path: { id: "some-id" } };
  const hang = () => new Promise<Response>(() => {});
  const late = client.POST("/things/{id}?email=a@b.example", { params, timeout: 1, fetch: hang });
  expect((await failure(TimeoutError, late)).message)
    .toBe(`${start("things/{id}")}took more than 1 ms`);
  const missing = () => Promise.resolve(new Response("", { status: 404 }));
  const checks = createClient({ ...options, fetch: missing }).checkOwnKey();
  expect((await failure(HttpError, checks)).message).toBe(
    `"POST ${server.url}api${checkKeyPath}" got a response with the status 404: check "baseUrl"`,
  );
});

Deno.test("errors have no query, even where the runtime's reason repeats the address", async () => {
  const server = await serveSockets(() => {});
  await server[Symbol.asyncDispose]();
  const reason = (request: Request) => Promise.reject(new Error(`Cannot get (${request.url})!`));
  for (const fetch of [undefined, reason]) {
    const client = createClient({ baseUrl: server.url, apiKey, retries: 0, fetch });
    const call = client.call("GET", "report", { query: { email: "a@b.example", q: "(x) 'y'" } });
    const error = await failure(NetworkError, call);
    expect(error.message).toContain(`"GET ${server.url}report" got no response: `);
    if (fetch) expect(error.message).toMatch(/: Cannot get \(http:\S+\/report\)!$/);
    expect(`${shown(error)} ${error.stack} ${(error.cause as Error).stack}`)
      .not.toMatch(/email|example|q=/);
  }
});

Deno.test("NetworkError keeps the stack of what a custom fetch throws, cut and without the key", async () => {
  const { fetch } = createSandbox({
    keys: { [apiKey]: 1 },
    routes: {
      "GET report": function makeReport() {
        throw new TypeError(`No report for ${apiKey}`);
      },
    },
  });
  const client = createClient({ baseUrl, apiKey, fetch, retries: 0 });
  const { cause } = await failure(NetworkError, client.call("GET", "report"));
  const { message, stack } = cause as Error;
  expect(message).toBe("No report for [redacted]");
  expect(stack).toMatch(/^TypeError: No report for \[redacted\]\n.*makeReport/);
  const long = () => {
    throw Object.assign(new Error("x".repeat(9_000)), { stack: `${apiKey}\n`.repeat(9_000) });
  };
  const failed = createClient({ baseUrl, apiKey, fetch: long, retries: 0 });
  const error = await failure(NetworkError, failed.call("GET", undocumented));
  expect((error.cause as Error).message).toBe("x".repeat(2_000));
  expect((error.cause as Error).stack).toBe("[redacted]\n".repeat(200).slice(0, 2_000));
});

const headers = new Headers([["x-id", "1"], ["set-cookie", "a=1"], ["set-cookie", "b=2"]]);
const http = { status: 429, body: { a: 1 }, retryAfter: 2 };
const redirect = { status: 301, location: "/b" };
const invalid = { status: 200, issues: [{ path: "/a", rule: "type" }], body: [] };
const cause = new Error("c");

/** An error of each class, its name, and its code and fields as JSON. */
const cases: [ScamAddressError, string, object][] = [
  [new HttpError("m", { ...http, headers }), "HttpError", {
    ...{ code: "http", ...http },
    headers: { "x-id": "1", "set-cookie": ["a=1", "b=2"] },
  }],
  [new HttpError("m", { ...http, headers: new Headers() }), "HttpError", {
    ...{ code: "http", ...http, headers: {} },
  }],
  [new NetworkError("m", {}, { cause }), "NetworkError", { code: "network" }],
  [new TimeoutError("m", { timeout: 5 }), "TimeoutError", { code: "timeout", timeout: 5 }],
  [new RedirectError("m", redirect), "RedirectError", { code: "redirect", ...redirect }],
  [new InvalidResponseError("m", invalid), "InvalidResponseError", {
    ...{ code: "invalid_response", ...invalid },
  }],
  [new ConfigurationError("m", {}), "ConfigurationError", { code: "configuration" }],
];

const classes = [
  ScamAddressError,
  ...new Set(cases.map(([error]) => error.constructor as typeof ScamAddressError)),
];

Deno.test("JSON.stringify() of an error has its name, code, message, isTemporary and fields", () => {
  for (const [error, name, expected] of cases) {
    const { isTemporary } = error;
    expect(JSON.parse(JSON.stringify(error)))
      .toEqual({ name, message: "m", isTemporary, ...expected });
  }
  expect(cases[2]![0].cause).toBe(cause);
});

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
    ...[undefined, null, "TimeoutError", {}, new Error("m"), Object.create(null)],
    new DOMException("m", "TimeoutError"),
    { name: "TimeoutError", code: "timeout", timeout: 5 },
  ];
  for (const errorClass of classes) {
    expect(others.filter((other) => other instanceof errorClass)).toEqual([]);
  }
});

Deno.test("instanceof is false of a subclass made elsewhere, which may have a name", () => {
  class OwnError extends ConfigurationError {
    override readonly name = "OwnError";
  }
  const own = new OwnError("m", { option: "a" });
  expect(classes.filter((errorClass) => own instanceof errorClass)).toEqual([
    ScamAddressError,
    ConfigurationError,
  ]);
  expect(new ConfigurationError("m", {}) instanceof OwnError).toBe(false);
  expect([own.name, own.code, own.option]).toEqual(["OwnError", "configuration", "a"]);
});

Deno.test("GET() rejects with a NetworkError or a TimeoutError in each form of the body", async () => {
  await using server = await serve(({ url }, response) => {
    response.writeHead(200, { "content-length": 9 });
    response.write("[", () => url === "/cut" && response.socket!.destroy());
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  const forms = ["json", "text", "stream", "blob", "arrayBuffer"] as const;
  await failures(NetworkError, forms.map((parseAs) => client.GET("/cut", { parseAs })));
  const hanging = forms.map((parseAs) => client.GET("/hang", { parseAs, timeout: 50 }));
  await failures(TimeoutError, hanging);
});
