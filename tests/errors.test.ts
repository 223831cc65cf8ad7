// The error classes: when each is thrown, what it says and what it is.
import { expect } from "@std/expect";

import {
  ConfigurationError,
  createClient,
  HttpError,
  InvalidResponseError,
  NetworkError,
  ScamAddressError,
  TimeoutError,
} from "../mod.ts";
import {
  addGeneratedOperation,
  baseUrl,
  callEveryWay,
  clientAt,
  clientOf,
  schemaOf,
  undocumented,
  unusedFetch,
} from "./support/client.ts";
import { caught, rejection, rejections, shown } from "./support/rejection.ts";
import { serve, serveBytes } from "./support/server.ts";

// Messages and stacks

Deno.test("messages name the method, the address without the query, the problem and what to do", async () => {
  const client = clientOf(({ url }) => {
    const [, status, seconds] = /(\d{3})-?(\d*)/.exec(url)!;
    const headers = { location: "https://b.example/a/long/path#f?d=e", "retry-after": seconds! };
    return new Response("<h1>", { status: Number(status), headers });
  }, { retries: 0 });
  const post = (name: string) => client.call("POST", name, { query: { email: "a@b.example" } });
  const typed = { baseUrl: `${baseUrl}v2`, params: { path: { id: 200 }, query: { a: 1 } } };
  const hang = () => new Promise<never>(() => {});
  const followed = Object.defineProperties(new Response(), {
    redirected: { value: true },
    url: { value: "https://b.example/c?d=e" },
  });
  const schema = schemaOf(() => ({ issues: [{ message: "no", path: ["a"] }] }));
  const keyless = createClient({ baseUrl });
  const cases: [call: Promise<unknown>, message: string | RegExp][] = [
    [post("402$$"), /^"POST https:\/\/service\.example\/402\$\$" .* 402: <h1>$/],
    [clientOf(() => new Response("x".repeat(500), { status: 402 })).checkKey("k"), /: x{200}…$/],
    [clientOf(() => new Response("x".repeat(200), { status: 402 })).checkKey("k"), /: x{200}$/],
    [clientOf(() => new Response(" \n", { status: 402 })).checkKey("k"), / 402$/],
    [post("301"), 'got the status 301 to "https://b.example/a/long/path", which is not '],
    [client.POST("/{id}", typed), `"POST ${baseUrl}v2/200" got an invalid response: the body`],
    [
      clientOf(() => new Response('{"a":NaN}', { headers: { "content-type": "a/b+json" } })).GET(
        "/",
      ),
      /: the body: is not JSON \(a\/b\+json\)$/,
    ],
    [post("200"), /: the body: is not JSON \(text.*\): check "baseUrl"$/],
    [post("404"), / 404: <h1>$/], // The endpoint may not exist.
    [clientOf(() => new Response("", { status: 404 })).checkKey("k"), / 404 \(check "baseUrl"\)$/],
    [
      client.call("PUT", "503-0", { retries: 1 }),
      /\/503-0" failed after 2 attempts: got the .* 503/,
    ],
    [clientOf(hang, { timeout: 5, retries: 0 }).GET("/a"), / took more than 5 ms$/],
    [clientOf(hang, { totalTimeout: 6 }).GET("/a"), / took more than 6 ms$/],
    [clientOf(hang, { apiKey: hang, totalTimeout: 7 }).GET("/a"), / took more than 7 ms$/],
    [clientOf(() => followed).GET("/a"), / comes from a redirect, which a custom "fetch" must not/],
    [clientOf(() => new Response("ab"), { maxResponseBytes: 1 }).GET("/a"), /"maxResponseBytes"$/],
    [clientOf(() => Response.json(1)).call("GET", "a", { schema }), / response: \/a: no$/],
    [
      client.GET("/a", { baseUrl: "https://b.example/" }),
      /^"path" must begin with .* below "baseUrl"/,
    ],
    [keyless.call("GET", "a"), /^"apiKey" is missing/],
    [keyless.checkOwnKey(), /^"apiKey" is missing: the client has no key$/],
    [keyless.checkKey(""), /^"apiKey" is empty$/],
    [keyless.checkKey("\n"), /^"apiKey" must be .* printable ASCII characters/],
  ];
  const errors = await rejections(ScamAddressError, cases.map(([call]) => call));
  for (const [index, [, expected]] of cases.entries()) {
    const { message } = errors[index]!;
    if (typeof expected === "string") expect(message).toContain(expected);
    else expect(message).toMatch(expected);
  }
});

Deno.test("a 404 of an address with parameters does not advise to check the base URL", async () => {
  using _operation = addGeneratedOperation(`${undocumented}/{id}`);
  const client = clientOf(() => new Response("", { status: 404 }));
  const get =
    (client as never as Record<string, (options: object) => Promise<unknown>>)["toString"]!;
  const { message } = await rejection(HttpError, get({ params: { path: { id: 7 } } }));
  expect(message).toBe(`"GET ${baseUrl}${undocumented}/7" got the status 404`);
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
    () => client.call("GET", "late", { totalTimeout: 20 }),
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
    expect(error.retryAfter).toBe(undefined);
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
});

Deno.test("an error has a body that is nested deeply as text, which JSON.stringify() takes", async () => {
  const text = "[".repeat(30_000) + "]".repeat(30_000);
  const client = clientOf(() => new Response(text, { status: 400 }));
  const watched = clientOf(() => new Response(text, { status: 400 }));
  watched.use({ onResponse() {} });
  const error = await rejection(HttpError, client.call("GET", undocumented));
  expect(JSON.parse(JSON.stringify(error)).response.body).toBe(text);
  await rejection(HttpError, watched.call("GET", undocumented)); // openapi-fetch has parsed its body.
});

Deno.test("a status that is not HTTP's is no temporary failure", () => {
  const response = { status: 999, headers: new Headers(), body: "blocked" };
  expect(new HttpError("m", { response }).isTemporary).toBe(false);
});

Deno.test("HttpError has the body's first 64 KiB, as text when it is longer", async () => {
  const longer = JSON.stringify(["x".repeat(2 ** 16)]);
  const cases: [string, unknown][] = [
    ["€".repeat(2 ** 20), "€".repeat(2 ** 16)],
    ['["x"]'.padEnd(2 ** 16), ["x"]],
    [longer, longer.slice(0, 2 ** 16)],
  ];
  for (const [text, body] of cases) {
    const client = clientOf(() => new Response(text, { status: 400 }));
    const error = await rejection(HttpError, client.call("GET", undocumented));
    expect(error.response.body).toEqual(body);
    expect(JSON.parse(JSON.stringify(error)).response.body).toEqual(body);
  }
});

Deno.test("messages have no query, even one that the URL parser writes in another way", async () => {
  const server = await serve(() => {});
  await server[Symbol.asyncDispose]();
  const query = { of: "it's secret" };
  const call = clientAt(server, { retries: 0 }).call("GET", "a", { query });
  expect(shown(await rejection(NetworkError, call))).not.toContain("secret");
});

// NetworkError

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
    for (const { cause, code, message } of await rejections(NetworkError, callEveryWay(client))) {
      expect(code).toBe("network");
      expect(cause).toBeInstanceOf(Error);
      expect(message.endsWith(`: ${(cause as Error).message}`)).toBe(true);
    }
  });
}

const coded = (message: string, code: unknown, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code });

/** What may be thrown, and the message and the code of its reason. */
const reasons: [thrown: unknown, message: string, code?: unknown][] = [
  ["boom", "boom"],
  [coded("boom", 7), "boom"],
  [new DOMException("boom", "NetworkError"), "boom"],
  [new Error("boom", { cause: { status: 407 } }), "boom"],
  [new TypeError("fetch failed", { cause: new Error("expired") }), "expired"],
  [coded("outer", "OUTER", coded("inner", "INNER")), "inner", "INNER"],
  [new Error("fetch failed", { cause: coded("cancelled", 20, coded("403", "NO")) }), "403", "NO"],
  [new Error("", { cause: new AggregateError([coded("refused", "NO")]) }), "refused", "NO"],
];

Deno.test("NetworkError has the message and the code of the reason, and nothing else of it", async () => {
  for (const [thrown, expected, code] of reasons) {
    const client = clientOf(() => Promise.reject(thrown), { retries: 0 });
    const { cause, message } = await rejection(NetworkError, client.call("GET", undocumented));
    expect(cause?.message).toBe(expected);
    expect({ ...cause }).toEqual(code ? { code } : {});
    expect(message.endsWith(`: ${expected}`)).toBe(true);
  }
});

// The classes

const response = { status: 429, headers: new Headers({ "retry-after": "2" }), body: { a: 1 } };
const responseAsJson = { ...response, headers: {} };
const issues = [{ path: "/a", rule: "type" }];
const cause = Object.assign(new Error("c"), { code: "ECONNREFUSED" });

/** An error of each class; its name, and its code and fields as JSON. */
// deno-fmt-ignore
const cases: [ScamAddressError, string, object][] = [
  [new HttpError("m", { response }), "HttpError",
    { code: "http", retryAfter: 2, response: responseAsJson }],
  [new NetworkError("m", {}, { cause }), "NetworkError", { code: "network" }],
  [new TimeoutError("m", { timeout: 5 }), "TimeoutError", { code: "timeout", timeout: 5 }],
  [new InvalidResponseError("m", { response, issues }), "InvalidResponseError",
    { code: "invalid_response", issues, response: responseAsJson }],
  [new ConfigurationError("m", {}), "ConfigurationError", { code: "configuration" }],
];

Deno.test("JSON.stringify() of an error has its name, code, message, isTemporary and fields", () => {
  for (const [error, name, expected] of cases) {
    const { isTemporary } = error;
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name,
      message: "m",
      isTemporary,
      ...expected,
    });
  }
  expect(cases[1]![0].cause).toBe(cause);
  const symbols = cases.map(([error]) => Object.getOwnPropertySymbols({ ...error }));
  expect(symbols).toEqual(cases.map(() => []));
});

Deno.test("errors have no field that a web framework takes for its own response", () => {
  const ofFrameworks = ["status", "statusCode", "headers", "body", "expose"];
  for (const [error] of cases) {
    expect(ofFrameworks.filter((name) => name in error || name in error.toJSON())).toEqual([]);
  }
});

const classes = [
  ScamAddressError,
  ...cases.map(([error]) => error.constructor as typeof ScamAddressError),
];

Deno.test("instanceof is true of the errors of another copy, and of no others", () => {
  // tests/npm has real copies, an ES module and CommonJS.
  const brand = Object.getOwnPropertySymbols(new TimeoutError("m", { timeout: 5 }));
  const error = Object.assign(new Error("m"), { [brand[0]!]: true, code: "timeout" });
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
