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
import { apiKey, changeOperation, checkKeyPath, testBothWays } from "./support/client.ts";
import { rejection, rejections } from "./support/rejection.ts";
import { type AnyPath, serve } from "./support/server.ts";

Deno.test("messages name the method, the address without the query, the problem and what to do", async () => {
  await using server = await serve(({ url }, response) => {
    const [, status, retryAfter] = /(\d+)-?(\d*)/.exec(url)!;
    if (retryAfter) response.setHeader("retry-after", retryAfter);
    response.writeHead(Number(status), { location: "https://b.example/c?d=e" }).end("<h1>");
  });
  const options = { baseUrl: `${server.url}api`, apiKey, retries: 0 };
  const client = createClient<AnyPath>(options);
  const query = { email: "a@b.example" };
  const problems: Record<string, string> = {
    "402$$": "the status 402: <h1>", // a pattern of replace()
    404: "the status 404: <h1>",
    "429-7": "the status 429 (retry after 7 s): <h1>",
    301: 'a redirect (301) to "https://b.example/c", which is not followed: check "baseUrl"',
    200:
      'an invalid response: the body is not JSON (no Content-Type): check "baseUrl", or use a typed method with "parseAs"',
  };
  const start = (name: string) => `"POST ${server.url}api/${name}" `;
  for (const [name, problem] of Object.entries(problems)) {
    const error = await rejection(ScamAddressError, client.call("POST", name, { query }));
    expect(error.message).toBe(`${start(name)}got ${problem}`);
  }
  const params = { query, path: { id: 200 } };
  const init = { params, baseUrl: `${server.url}other` }; // of this call only
  const typed = client.POST("/things/{id}?email=a@b.example", init);
  expect((await rejection(ScamAddressError, typed)).message)
    .toBe(`"POST ${server.url}other/things/{id}" got ${problems[200]}`);
  const missing = () => Promise.resolve(new Response("", { status: 404 }));
  const checks = createClient({ ...options, fetch: missing }).checkOwnKey();
  expect((await rejection(HttpError, checks)).message).toBe(
    `"POST ${server.url}api${checkKeyPath}" got the status 404 (check "baseUrl")`,
  );
  using _listed = changeOperation(`POST ${checkKeyPath}`, { has404: true });
  const listed = createClient({ ...options, fetch: missing }).checkOwnKey();
  expect((await rejection(HttpError, listed)).message).toMatch(/ the status 404$/);
});

Deno.test("messages are one line of at most 1,000 characters, without control characters", async () => {
  // C0, C1, a line separator, bidirectional, zero width
  const text = `a\n\x1b[2J\x9b\u2028\u202e\u200b${"x".repeat(2_000)}`;
  const validate = () => ({ issues: [{ message: text }] });
  const schema = { "~standard": { version: 1, vendor: "test", validate } } as const;
  const clientOf = (fetch: () => Promise<Response>) =>
    createClient({ baseUrl: "https://service.example/", apiKey, fetch, retries: 0 });
  const failing = clientOf(() => Promise.reject(new Error(text)));
  const errors = await rejections(ScamAddressError, [
    clientOf(() => Promise.resolve(new Response(text, { status: 400 }))).call("GET", "a"),
    clientOf(() => Promise.resolve(Response.json(1))).call("GET", "a", { schema }),
    failing.call("GET", "a"),
    failing.call("GET", "a", { [text]: 1 }),
  ]);
  for (const { message } of errors) {
    expect(message).toMatch(/a \[2J x/);
    expect(message).not.toMatch(/\p{C}|[^\S ]/u);
    expect(message.length).toBeLessThanOrEqual(1_000);
  }
});

testBothWays("stacks show who called", async (create) => {
  await using server = await serve(({ url }, response) => {
    if (url === "/late") return;
    if (url === "/network") return void response.socket!.destroy();
    response.writeHead(url === "/404" ? 404 : 200).end("<h1>");
  });
  const client = create({ baseUrl: server.url, apiKey, retries: 0, timeout: 50 });
  for (const signal of [null, new AbortController().signal]) {
    for (const path of ["late", "network", "404", "200"]) {
      const callOne = async () => await client.call("GET", path, { signal });
      const callOther = async () => await client.GET(`/${path}`, { signal });
      for (const caller of path === "404" ? [callOne] : [callOne, callOther]) {
        const { message, name, stack } = await rejection(ScamAddressError, caller());
        expect(stack).toContain(`${name}: ${message}`);
        expect(stack).toMatch(new RegExp(`\\b${caller.name}\\b`));
      }
    }
  }
});

Deno.test("the stack of a ConfigurationError reaches the caller, even with a signal", async () => {
  const client = createClient<AnyPath>({ baseUrl: "https://service.example/", apiKey });
  const { signal } = new AbortController();
  const init = { signal, body: new Map() };
  const callOne = async () => await client.call("POST", "a", init);
  const callOther = async () => await client.POST("/a", init);
  const callTyped = async () => await client.GET("/{id}", { signal });
  for (const caller of [callOne, callOther, callTyped]) {
    const { stack } = await rejection(ConfigurationError, caller());
    expect(stack).toMatch(new RegExp(`\\b${caller.name}\\b`));
  }
});

Deno.test("toJSON() has one set-cookie as a list, too", () => {
  const headers = new Headers({ "set-cookie": "a=1" });
  const error = new HttpError("m", { response: { status: 400, headers, body: "" } });
  expect(error.toJSON().response).toMatchObject({ headers: { "set-cookie": ["a=1"] } });
});

const headers = new Headers([["x-id", "1"], ["set-cookie", "a=1"], ["set-cookie", "b=2"]]);
const response = { status: 429, headers, body: { a: 1 } };
const headersAsJson = { "x-id": "1", "set-cookie": ["a=1", "b=2"] };
const issues = [{ path: "/a", rule: "type" }];
const cause = new Error("c");

/** An error of each class, its name, and its code and fields as JSON. */
const cases: [ScamAddressError, string, object][] = [
  [new HttpError("m", { response, retryAfter: 2 }), "HttpError", {
    ...{ code: "http", retryAfter: 2, response: { ...response, headers: headersAsJson } },
  }],
  [new HttpError("m", { response: { ...response, headers: new Headers() } }), "HttpError", {
    ...{ code: "http", response: { ...response, headers: {} } },
  }],
  [new NetworkError("m", {}, { cause }), "NetworkError", { code: "network" }],
  [new TimeoutError("m", { timeout: 5 }), "TimeoutError", { code: "timeout", timeout: 5 }],
  [new RedirectError("m", { location: "/b" }), "RedirectError", {
    ...{ code: "redirect", location: "/b" },
  }],
  [new InvalidResponseError("m", { response, issues }), "InvalidResponseError", {
    ...{ code: "invalid_response", issues, response: { ...response, headers: headersAsJson } },
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

Deno.test("errors have no field that a web framework takes for its own response", () => {
  const ofFrameworks = ["status", "statusCode", "headers", "body", "expose"];
  for (const [error] of cases) {
    expect(ofFrameworks.filter((name) => name in error || name in error.toJSON())).toEqual([]);
  }
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
