// The error classes: when each is thrown, what it says and what it is.
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
import {
  apiKey,
  baseUrl,
  bothWays,
  clientAt,
  clientOf,
  schemaOf,
  sendAll,
  undocumented,
  unusedFetch,
} from "./support/client.ts";
import { caught, rejection, rejections, shown } from "./support/rejection.ts";
import { serve, serveBytes } from "./support/server.ts";

const path = `/${undocumented}`;

// Messages and stacks

Deno.test("messages name the method, the address without the query, the problem and what to do", async () => {
  const client = clientOf(({ url }) => {
    const [, status, seconds] = /(\d{3})-?(\d*)/.exec(url)!;
    const headers = { location: "https://b.example/a/long/path?d=e", "retry-after": seconds! };
    return new Response("<h1>", { status: Number(status), headers });
  }, { retries: 0 });
  const post = (name: string, retries = 0) =>
    client.call("POST", name, { query: { email: "a@b.example" }, idempotent: true, retries });
  const typed = { baseUrl: `${baseUrl}v2`, params: { path: { id: 200 }, query: { a: 1 } } };
  const hang = () => new Promise<never>(() => {});
  const followed = Object.defineProperties(new Response(), {
    redirected: { value: true },
    url: { value: "https://b.example/c?d=e" },
  });
  const schema = schemaOf(() => ({ issues: [{ message: "no", path: ["a"] }] }));
  const keyless = createClient({ baseUrl });
  const cases: [call: Promise<unknown>, message: string | RegExp][] = [
    // "$$" is a pattern of replace().
    [post("402$$"), /^"POST https:\/\/service\.example\/402\$\$" .* 402: <h1>$/],
    [post("429-7"), / 429 \(retry after 7 s\): <h1>$/],
    [post("503-0", 1), /\/503-0" failed after 2 attempts: .* 503 \(retry after 0 s\)/],
    [clientOf(() => new Response("x".repeat(500), { status: 402 })).checkKey("k"), /: x{200}…$/],
    [post("301"), 'got a redirect (301) to "https://b.example/a/long/path", which is not '],
    [client.POST("/{id}?a=b", typed), `"POST ${baseUrl}v2/{id}" got an invalid response: the body`],
    [
      clientOf(() => new Response('{"a":NaN}', { headers: { "content-type": "a/b+json" } })).GET(
        "/",
      ),
      /: the body is not JSON \(a\/b\+json\): [^]*\bN/, // the parser's reason, which quotes "N"
    ],
    [post("200"), /: the body is not JSON \(text.*\): check "baseUrl", or .* with "parseAs"$/],
    [clientOf(() => new Response("", { status: 404 })).checkKey("k"), / 404 \(check "baseUrl"\)$/],
    [post("404"), / 404: <h1>$/], // The endpoint may not exist.
    [clientOf(hang, { timeout: 5, retries: 0 }).GET("/a"), / took more than 5 ms$/],
    [clientOf(hang, { totalTimeout: 6 }).GET("/a"), / took more than 6 ms$/],
    [clientOf(hang, { apiKey: hang, totalTimeout: 7 }).GET("/a"), / 7 ms, and was not sent yet$/],
    [
      clientOf(() => followed).GET("/a"),
      / was redirected to "https:\/\/b.example\/c": the custom /,
    ],
    [
      clientOf(() => ({})).GET("/a"),
      /a" got no usable Response: the custom "fetch" must .*, such as/,
    ],
    [clientOf(() => new Response("ab"), { maxResponseBytes: 1 }).GET("/a"), /"maxResponseBytes"$/],
    [clientOf(() => Response.json(1)).call("GET", "a", { schema }), / response: \/a: no$/],
    [client.GET("/a", { baseUrl: "https://b.example/" }), /^"baseUrl" must have the same origin /],
    [keyless.call("GET", "a"), /^"apiKey" is missing: this request needs the client's key; /],
    [keyless.checkOwnKey(), /^"apiKey" is missing: the client has no key$/],
    [keyless.checkKey("\n"), /^"apiKey" must be .* printable ASCII characters/],
    [keyless.checkKey(""), /^"apiKey" is empty: set it to an API key$/],
  ];
  const errors = await rejections(ScamAddressError, cases.map(([call]) => call));
  for (const [index, [, expected]] of cases.entries()) {
    const { message } = errors[index]!;
    if (typeof expected === "string") expect(message).toContain(expected);
    else expect(message).toMatch(expected);
  }
});

Deno.test("messages are one line of at most 1,000 characters, without control characters", async () => {
  // C0, C1, a line separator, bidirectional, zero width
  const text = `a\n\x1b[2J\x9b\u2028\u202e\u200b${"x".repeat(2_000)}`;
  const schema = schemaOf(() => ({ issues: [{ message: text }] }));
  const failing = clientOf(() => Promise.reject(new Error(text)), { retries: 0 });
  const errors = await rejections(ScamAddressError, [
    clientOf(() => new Response(text, { status: 400 })).call("GET", "a"),
    clientOf(() => Response.json(1)).call("GET", "a", { schema }),
    failing.call("GET", "a"),
    failing.call("GET", "a", { [text]: 1 }),
  ]);
  for (const { message } of errors) {
    expect(message).toMatch(/a \[2J x/);
    expect(message).not.toMatch(/\p{C}|[^\S ]/u);
    expect(message.length).toBeLessThanOrEqual(1_000);
  }
});

Deno.test("stacks show who called", async () => {
  await using server = await serve(({ url }, response) => {
    if (url === "/late") return;
    if (url === "/network") return void response.socket!.destroy();
    response.writeHead(url === "/404" ? 404 : 200).end("<h1>");
  });
  const { signal } = new AbortController();
  async function whoCalls(call: () => Promise<unknown>) {
    await call();
  }
  const client = clientAt(server, { retries: 0, timeout: 50 });
  const calls = [
    () => client.call("POST", "a", { signal, body: new Map() }),
    () => client.GET("/{id}", { signal }),
  ];
  for (const init of [{}, { signal }]) {
    calls.push(() => client.call("GET", "404", init));
    for (const name of ["late", "network", "200"]) {
      calls.push(() => client.call("GET", name, init), () => client.GET(`/${name}`, init));
    }
  }
  for (const call of calls) {
    const { message, name, stack } = await rejection(ScamAddressError, whoCalls(call));
    expect(stack).toContain(`${name}: ${message}`);
    expect(stack).toContain("whoCalls");
  }
});

Deno.test("errors that a call did not make keep their stack", async () => {
  const other = clientOf(() => new Response("", { status: 404 }));
  const foreign = [
    new ConfigurationError("mine", {}),
    new TimeoutError("mine", { timeout: 1 }),
    await caught(other.call("GET", "a")),
    await caught(() => createClient({ baseUrl: "" })),
  ] as ScamAddressError[];
  for (const error of foreign) {
    const { stack } = error;
    const fail = () => Promise.reject(error);
    const signal = AbortSignal.abort(error);
    const unavailable = () => new Response("", { status: 503 });
    const calls = [
      clientOf(unusedFetch, { apiKey: fail }).call("GET", "a"),
      clientOf(unavailable, { onRetry: fail }).call("GET", "a"),
      clientOf(() => Response.json(1)).call("GET", "a", { schema: schemaOf(fail) }),
      clientOf(unusedFetch).checkOwnKey({ signal }),
    ];
    for (const end of await Promise.all(calls.map(caught))) expect(end).toBe(error);
    expect(error.stack).toBe(stack);
  }
});

// HttpError

const bodies: [string, unknown][] = [
  [`{"error":{"code":7}}`, { error: { code: 7 } }],
  [`\ufeff{"a":1}`, { a: 1 }],
  ['{"__proto__":{"a":1}}', JSON.parse('{"__proto__":{"a":1}}')], // It is a name as any other.
  ["null", null],
  ['"0"', "0"],
  ["", ""],
  ["<h1>No</h1>", "<h1>No</h1>"],
  [`{"error":`, `{"error":`],
];

Deno.test("methods keep status, headers and body of a 4xx or 5xx response, and of 304", async () => {
  await using server = await serve(({ url }, response) => {
    const [, status, index] = url.split("/").map(Number);
    const headers = { "x-request-id": "r1", "set-cookie": ["a=1", "b=2"] };
    response.writeHead(status!, headers).end(bodies[index!]![0]);
  });
  const client = clientAt(server);
  for (const [index, [, body]] of bodies.entries()) {
    const status = body === "" ? 304 : index % 2 ? 404 : 599;
    const error = await rejection(HttpError, client.call("POST", `${status}/${index}`));
    expect([error.code, error.response.status]).toEqual(["http", status]);
    expect(error.response.body).toEqual(body);
    expect(JSON.stringify(error.response.body)).toBe(JSON.stringify(body)); // This compares "__proto__", too.
    expect(error.response.headers.get("x-request-id")).toBe("r1");
    expect(error.response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect("retryAfter" in error).toBe(false);
    const { response, error: given, data } = await client.POST(`/${status}/${index}`);
    expect([response.status, given, data]).toEqual([status, body, undefined]);
  }
});

Deno.test("methods keep the part that was read of an error whose body is cut short", async () => {
  const client = clientOf(() => {
    const chunks = [new TextEncoder().encode("the <h1>No").subarray(4)]; // It is a part of a buffer.
    const body = new ReadableStream({
      pull(controller) {
        const chunk = chunks.pop();
        if (chunk) controller.enqueue(chunk);
        else controller.error(new Error("boom"));
      },
    });
    return new Response(body, { status: 403 });
  });
  const { response } = await rejection(HttpError, client.call("GET", undocumented));
  expect([response.status, response.body]).toEqual([403, "<h1>No"]);
  expect((await client.GET(path)).error).toBe("<h1>No");
});

Deno.test("HttpError has the body's first 64 KiB, as text when it is longer", async () => {
  const longer = JSON.stringify(["x".repeat(2 ** 16)]);
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  const cases: [string, unknown][] = [
    ["€".repeat(2 ** 20), `${"€".repeat(2 ** 16 / 3)}\ufffd`],
    ['["x"]'.padEnd(2 ** 16), ["x"]],
    [longer, longer.slice(0, 2 ** 16)],
    [nested(30_000), nested(30_000)], // JSON.stringify() may refuse it as a value.
    [nested(501), nested(501)],
    [nested(500), expect.any(Array)],
  ];
  for (const [text, body] of cases) {
    const client = clientOf(() => new Response(text, { status: 400 }));
    const error = await rejection(HttpError, client.call("GET", undocumented));
    expect(error.response.body).toEqual(body);
    expect(JSON.parse(JSON.stringify(error)).response.body).toEqual(body);
  }
});

Deno.test("a status that is not HTTP's is an HttpError, after one attempt", async () => {
  let count = 0;
  await using server = await serveBytes((socket) => {
    count++;
    socket.end("HTTP/1.1 999 No\r\nConnection: close\r\nContent-Length: 7\r\n\r\nblocked");
  });
  for (const create of bothWays) {
    const client = create({ baseUrl: server.url, apiKey });
    for (const call of [client.call("GET", "a"), client.checkOwnKey()]) {
      const { isTemporary, response } = await rejection(HttpError, call);
      expect([isTemporary, response.status, response.body]).toEqual([false, 999, "blocked"]);
    }
    const { response, error } = await client.GET("/a");
    expect([response.status, response.ok, error]).toEqual([999, false, "blocked"]);
  }
  expect(count).toBe(6);
});

Deno.test("the body of an error is parsed once, also where middleware sees the response", async () => {
  const client = clientOf(() => new Response('"123"', { status: 400 }));
  client.use({ onResponse() {} });
  expect((await rejection(HttpError, client.call("GET", "a"))).response.body).toBe("123");
});

// NetworkError

Deno.test("messages have no query, even one that the URL parser writes in another way", async () => {
  const server = await serve(() => {});
  await server[Symbol.asyncDispose]();
  const call = clientAt(server, { retries: 0 }).call("GET", "a b", {
    query: { of: "it's secret" },
  });
  expect(shown(await rejection(NetworkError, call))).not.toContain("secret");
});

const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
const noResponses: Record<string, string> = {
  "nothing at all": "",
  "something that is not HTTP": "220 mail.example ESMTP\r\n",
  "a body shorter than announced": `${head}Content-Length: 100\r\n\r\n[1,2]`,
  "chunks that are garbage": `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n[1,2]\r\n`,
  "gzip that is garbage": `${head}Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n[1,2]`,
};

for (const [kind, bytes] of Object.entries(noResponses)) {
  Deno.test(`methods report ${kind} as a NetworkError`, async () => {
    await using server = await serveBytes((socket) => void socket.end(bytes));
    const client = clientAt(server, { retries: 0 });
    for (const { cause, code, message } of await rejections(NetworkError, sendAll(client))) {
      expect(code).toBe("network");
      expect(cause).toBeInstanceOf(Error);
      expect(message.endsWith(`: ${(cause as Error).message}`)).toBe(true);
    }
  });
}

const coded = (message: string, code: unknown, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code });
const missing = Object.assign(new Error("Requires net access"), { name: "NotCapable" });

/** What may be thrown, and the message and the code of its reason. */
const reasons: [thrown: unknown, message: string, code?: string][] = [
  ["boom", "boom"],
  [new DOMException("boom", "NetworkError"), "boom"],
  [coded("boom", 7), "boom"],
  [new Error("boom", { cause: { status: 407 } }), "boom"],
  [new TypeError("fetch failed", { cause: new Error("expired") }), "expired"],
  [coded("outer", "OUTER", coded("inner", "INNER")), "inner", "INNER"],
  [coded("outer", "OUTER", new Error("inner")), "inner"],
  [new Error("fetch failed", { cause: coded("cancelled", 20, coded("403", "NO")) }), "403", "NO"],
  [new Error("", { cause: new AggregateError([coded("refused", "NO")]) }), "refused", "NO"],
  [new TypeError("fetch failed", { cause: missing }), "Requires net access", "NotCapable"],
];

Deno.test("NetworkError has the message and the code of the reason, and nothing else of it", async () => {
  for (const [thrown, expected, code] of reasons) {
    const client = clientOf(() => Promise.reject(thrown), { retries: 0 });
    const error = await rejection(NetworkError, client.call("GET", undocumented));
    expect((error.cause as Error).message).toBe(expected);
    expect({ ...error.cause as Error }).toEqual(code ? { code } : {});
    expect(error.isTemporary).toBe(code !== "NotCapable");
  }
});

// wasSent

Deno.test("wasSent says whether the client has called fetch", async () => {
  const hang = () => new Promise<never>(() => {});
  const ok = () => Response.json(1);
  const made = clientOf(unusedFetch);
  made.use({ onRequest: () => new Response("", { status: 404 }) });
  const elsewhere = clientOf(unusedFetch);
  elsewhere.use({ onRequest: ({ request }) => new Request("https://b.example/", request) });
  const retries = 0;
  const outcomes: [boolean, Promise<unknown>][] = [
    [false, clientOf(unusedFetch).call("GET", "")],
    [false, clientOf(unusedFetch).call("POST", "a", { body: new Map() })],
    [false, clientOf(unusedFetch, { apiKey: () => "" }).call("GET", "a")],
    [false, clientOf(unusedFetch, { apiKey: hang }).call("GET", "a", { totalTimeout: 5 })],
    [false, made.call("GET", "a")],
    [false, elsewhere.call("GET", "a")],
    [true, clientOf(hang).call("GET", "a", { retries, timeout: 5 })],
    [true, clientOf(hang).call("GET", "a", { totalTimeout: 5 })],
    [true, clientOf(() => new Response("", { status: 401 })).call("GET", "a")],
    [true, clientOf(() => new Response("", { status: 302 })).call("GET", "a")],
    [true, clientOf(() => new Response("<h1>")).call("GET", "a")],
    [true, clientOf(() => Promise.reject(new Error("reset"))).call("GET", "a", { retries })],
    [true, clientOf(() => ({})).call("GET", "a")],
    [true, clientOf(ok).call("GET", "a", { schema: schemaOf(() => undefined) })],
  ];
  const errors = await rejections(ScamAddressError, outcomes.map(([, call]) => call));
  expect(errors.map(({ wasSent }) => wasSent)).toEqual(outcomes.map(([wasSent]) => wasSent));
  const response = { status: 500, headers: new Headers(), body: "" };
  expect(new HttpError("m", { response }).wasSent).toBe(true);
  expect(new NetworkError("m", { wasSent: false }).wasSent).toBe(false);
  expect(new ConfigurationError("m", {}).wasSent).toBe(false);
});

// The classes

const headers = new Headers([["x-id", "1"], ["set-cookie", "a=1"], ["set-cookie", "b=2"]]);
const oneCookie = new Headers({ "set-cookie": "a=1" });
const response = { status: 429, headers, body: { a: 1 } };
const headersAsJson = { "x-id": "1", "set-cookie": ["a=1", "b=2"] };
const issues = [{ path: "/a", rule: "type" }];
const cause = Object.assign(new Error("c"), { code: "ECONNREFUSED", host: "h" });

/** An error of each class; its name, and its code and fields as JSON. */
// deno-fmt-ignore
const cases: [ScamAddressError, string, object][] = [
  [new HttpError("m", { response, retryAfter: 2 }), "HttpError",
    { code: "http", retryAfter: 2, response: { ...response, headers: headersAsJson } }],
  [new HttpError("m", { response: { ...response, headers: oneCookie } }), "HttpError",
    { code: "http", response: { ...response, headers: { "set-cookie": ["a=1"] } } }],
  [new NetworkError("m", {}, { cause }), "NetworkError",
    { code: "network", cause: { message: "c", code: "ECONNREFUSED" } }],
  [new NetworkError("m", {}), "NetworkError", { code: "network" }],
  [new TimeoutError("m", { timeout: 5 }), "TimeoutError", { code: "timeout", timeout: 5 }],
  [new RedirectError("m", { location: "/b" }), "RedirectError", { code: "redirect", location: "/b" }],
  [new InvalidResponseError("m", { response, issues }), "InvalidResponseError",
    { code: "invalid_response", issues, response: { ...response, headers: headersAsJson } }],
  [new ConfigurationError("m", {}), "ConfigurationError", { code: "configuration" }],
];

const classes = [
  ScamAddressError,
  ...new Set(cases.map(([error]) => error.constructor as typeof ScamAddressError)),
];

Deno.test("JSON.stringify() of an error has its name, code, message, isTemporary and fields", () => {
  for (const [error, name, expected] of cases) {
    const { isTemporary, wasSent } = error;
    expect(JSON.parse(JSON.stringify(error)))
      .toEqual({ name, message: "m", isTemporary, wasSent, ...expected });
  }
  expect(cases[2]![0].cause).toBe(cause);
});

Deno.test("HttpError has the seconds of Retry-After, unless its field is given", () => {
  const waiting = { response: { ...response, headers: new Headers({ "retry-after": "3" }) } };
  const errors = [new HttpError("m", waiting), new HttpError("m", { ...waiting, retryAfter: 0 })];
  expect(errors.map(({ retryAfter }) => retryAfter)).toEqual([3, 0]);
});

Deno.test("errors have no field that a web framework takes for its own response", () => {
  const ofFrameworks = ["status", "statusCode", "headers", "body", "expose"];
  for (const [error] of cases) {
    expect(ofFrameworks.filter((name) => name in error || name in error.toJSON())).toEqual([]);
  }
});

Deno.test("instanceof is true of the errors of another copy, and of no others", () => {
  // tests/npm has real copies, an ES module and CommonJS.
  const brand = Object.getOwnPropertySymbols(new TimeoutError("m", { timeout: 5 }));
  const error = Object.assign(new Error("m"), { [brand[0]!]: 1, code: "timeout" });
  expect(classes.filter((errorClass) => error instanceof errorClass)).toEqual([
    ScamAddressError,
    TimeoutError,
  ]);
  const named = { name: "TimeoutError", code: "timeout", timeout: 5 };
  const exception = new DOMException("m", "TimeoutError");
  const others = [undefined, null, "TimeoutError", {}, named, exception, Object.create(null)];
  for (const errorClass of classes) {
    expect(others.filter((other) => other instanceof errorClass)).toEqual([]);
  }
});

Deno.test("instanceof works with a subclass of the caller's, which may have a name", () => {
  class OwnError extends ConfigurationError {
    override readonly name = "OwnError";
  }
  const own = new OwnError("m", { option: "a" });
  expect([OwnError, ...classes].filter((errorClass) => own instanceof errorClass)).toEqual([
    OwnError,
    ScamAddressError,
    ConfigurationError,
  ]);
  expect(new ConfigurationError("m", {}) instanceof OwnError).toBe(false);
  expect([own.name, own.code, own.option]).toEqual(["OwnError", "configuration", "a"]);
  // Code compiled for old targets asks `this instanceof OwnError` before it calls `super()`.
  const unfinished = Object.create(OwnError.prototype);
  expect([unfinished instanceof OwnError, unfinished instanceof TimeoutError])
    .toEqual([true, false]);
});
