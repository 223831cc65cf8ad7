import { expect } from "@std/expect";

import {
  InvalidResponseError,
  NetworkError,
  RedirectError,
  type ScamAddressError,
  TimeoutError,
} from "../src/errors.ts";
import { redactor } from "../src/transport/redact.ts";
import { httpError, invalidResponse, rebuild, receive } from "../src/transport/response.ts";
import { caught, deferred, failure } from "./outcome.ts";
import { serve } from "./server.ts";
import { partialResponse, partialStream } from "./streams.ts";
import { reading } from "./transport.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** A body that waits to be cancelled. */
function openBody() {
  const { promise: cancelled, resolve: cancel } = deferred();
  return { body: new ReadableStream({ cancel }), cancelled };
}

/** A response to a `fetch` in a browser, which hides redirects. */
function opaqueRedirect(body: ReadableStream | null): Response {
  return Object.defineProperties(new Response(body), {
    type: { value: "opaqueredirect" },
    status: { value: 0 },
    ok: { value: false },
  });
}

Deno.test("receive() refuses redirects, and cancels their bodies", async () => {
  for (const status of [300, 301, 302, 303, 307, 308, 399, 0]) {
    const { body, cancelled } = openBody();
    const response = status
      ? new Response(body, { status, headers: { location: "/a?key=the%2Dkey" } })
      : opaqueRedirect(body);
    const redact = redactor("the-key");
    const call = receive({ ...reading, redact }, () => Promise.resolve(response));
    const error = await failure(RedirectError, call);
    expect(error.message).toBe(
      '"GET /report" got a redirect, which is not followed: check "baseUrl"',
    );
    expect(error.status).toBe(status);
    expect(error.location).toBe(status ? "/a?key=[redacted]" : undefined);
    expect("location" in error).toBe(status !== 0);
    await cancelled;
  }
  const empty = receive(reading, () => Promise.resolve(new Response(null, { status: 304 })));
  expect((await failure(RedirectError, empty)).status).toBe(304);
});

Deno.test("receive() cancels a response that comes after the time-out or an abort", async () => {
  const responses = [
    (body: ReadableStream) => new Response(body),
    (body: ReadableStream) => new Response(body, { status: 500 }),
    (body: ReadableStream) => new Response(body, { status: 307 }),
  ];
  for (const respond of responses) {
    for (const reason of [undefined, "stop"]) {
      const controller = new AbortController();
      const { body, cancelled } = openBody();
      const { promise, resolve } = deferred<Response>();
      const timeout = reason ? 30_000 : 5;
      const error = caught(
        receive({ ...reading, timeout, signals: [controller.signal] }, () => promise),
      );
      if (reason) controller.abort(reason);
      if (reason) expect(await error).toBe(reason);
      else expect(await error).toBeInstanceOf(TimeoutError);
      resolve(respond(body));
      await cancelled;
    }
  }
});

Deno.test("receive() cancels the body when the time is up or it is aborted", async () => {
  for (const status of [200, 500]) {
    const late = openBody();
    const response = new Response(late.body, { status });
    const call = receive({ ...reading, timeout: 5 }, () => Promise.resolve(response));
    await failure(TimeoutError, call);
    await late.cancelled;
    const controller = new AbortController();
    const aborted = openBody();
    const error = caught(
      receive(
        { ...reading, signals: [controller.signal] },
        () => Promise.resolve(new Response(aborted.body, { status })),
      ),
    );
    setTimeout(() => controller.abort("stop"), 1);
    expect(await error).toBe("stop");
    await aborted.cancelled;
  }
});

Deno.test("receive() has the same result whether or not the length is announced", async () => {
  await using server = await serve(({ url }, response) => {
    const [, form, size] = url.split("/");
    const body = new Uint8Array(Number(size)).map((_, index) => index * 7);
    if (form === "announced") response.setHeader("content-length", body.length);
    if (form === "short") response.setHeader("content-length", body.length + 1);
    if (form !== "short") return void response.end(body);
    response.write(body, () => setTimeout(() => response.socket!.destroy(), 5));
  });
  const limited = { ...reading, maxResponseBytes: 1_000 };
  const outcome = (form: string, size: number, isCopied: boolean) =>
    receive(limited, async (signal) => {
      const response = await fetch(`${server.url}${form}/${size}`, { signal });
      return isCopied ? new Response(response.body, response) : response; // which is read as a stream
    }).then(({ body }): unknown => body, ({ code }: ScamAddressError) => code);
  const cases: [number, unknown][] = [1, 999, 1_000].map((size) => [
    size,
    new Uint8Array(size).map((_, index) => index * 7),
  ]);
  cases.push([1_001, "invalid_response"], [100_000, "invalid_response"]);
  for (const [size, expected] of cases) {
    for (const isCopied of [false, true]) {
      for (const form of ["announced", "chunked"]) {
        expect(await outcome(form, size, isCopied)).toEqual(expected);
      }
    }
  }
  for (const isCopied of [false, true]) {
    expect(await outcome("short", 500, isCopied)).toBe("network");
  }
});

Deno.test("receive() refuses a body of 2xx that is too large, and cuts that of an error", async () => {
  const limited = { ...reading, maxResponseBytes: 4 };
  const receiveStatus = (status: number) =>
    receive(limited, () => Promise.resolve(new Response("123456", { status })));
  const error = await failure(InvalidResponseError, receiveStatus(200));
  expect(error.message)
    .toBe('"GET /report" got an invalid response (the body is larger than "maxResponseBytes")');
  expect(error.issues).toEqual([{ path: "", rule: "maxResponseBytes" }]);
  for (const status of [400, 500]) {
    expect((await receiveStatus(status)).body).toEqual(bytes("12345"));
  }
});

Deno.test("receive() trusts no length that a custom fetch announces", async () => {
  const limited = { ...reading, maxResponseBytes: 4 };
  const chunks = Array.from({ length: 9 }, () => new Uint8Array(1));
  const body = new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
  }, { highWaterMark: 0 });
  const response = new Response(body, { headers: { "content-length": "2" } });
  await failure(InvalidResponseError, receive(limited, () => Promise.resolve(response)));
  expect(chunks.length).toBe(4);
});

Deno.test("receive() keeps the status of an error that breaks off", async () => {
  const breakOff = (status: number) => {
    const chunks = [bytes("ab"), bytes("c")];
    const body = partialStream(() => chunks.shift() ?? Promise.reject(new Error("reset")));
    return receive(reading, () => Promise.resolve(partialResponse(status, body)));
  };
  const { response, body } = await breakOff(503);
  expect([response.status, body]).toEqual([503, bytes("abc")]);
  const error = await failure(NetworkError, breakOff(200));
  expect(error.message).toBe('"GET /report" got a response that broke off: reset');
});

Deno.test("receive() reads a response that is not a Response", async () => {
  for (const status of [200, 299, 400, 599, 600, 999]) {
    const chunks = [bytes("["), bytes("1]")];
    const response = partialResponse(status, partialStream(() => chunks.shift()));
    const received = await receive(reading, () => Promise.resolve(response));
    expect(received.response).toBe(response);
    expect(received.body).toEqual(bytes("[1]"));
  }
  const { body } = await receive(reading, () => Promise.resolve(partialResponse(200, null)));
  expect(body).toEqual(new Uint8Array());
});

Deno.test("receive() reports what cannot be read as a NetworkError", async () => {
  const throwing = Object.defineProperty(new Response("[]"), "status", {
    get() {
      throw new RangeError("no status");
    },
  });
  const read = new Response("[]");
  await read.text();
  const arrayBuffer = () => Promise.resolve(bytes("[1]").buffer);
  const failing = new ReadableStream({ pull: () => Promise.reject("boom") });
  const strings = new ReadableStream({ start: (controller) => controller.enqueue("[1]") });
  const responses: [unknown, RegExp][] = [
    [undefined, /got no response/],
    ["200 OK", /got no response/],
    [{}, /got no response: The response has the status undefined$/],
    [throwing, /got no response: no status$/],
    [Response.error(), /got no response: The response has the status 0$/],
    [partialResponse(0, null), /got no response: The response has the status 0$/],
    [partialResponse(101, null), /got no response: The response has the status 101$/],
    [partialResponse(1000, null), /got no response: The response has the status 1000$/],
    [partialResponse(NaN, null), /got no response: The response has the status NaN$/],
    [partialResponse(200, null, { headers: {} }), /The response must be a Response/],
    [partialResponse(200, null, { headers: undefined }), /got no response/],
    // as node-fetch has it
    [
      partialResponse(200, {}, { arrayBuffer }),
      /must be a Response, whose body is a ReadableStream$/,
    ],
    [read, /got a response that broke off/],
    [new Response(failing), /got a response that broke off: boom$/],
    [new Response(strings), /broke off: The body has a chunk that is not bytes$/],
  ];
  for (const [response, message] of responses) {
    const call = receive(reading, () => Promise.resolve(response as Response));
    const error = await failure(NetworkError, call);
    expect(error.message).toMatch(message);
    expect(error.cause).toBeInstanceOf(Error);
  }
});

// What is made of a response

Deno.test("invalidResponse() says what is wrong with the body", () => {
  const redact = redactor("the-key");
  const message = (rule: string, type?: string) => {
    const response = new Response("", {
      status: 203,
      ...type && { headers: { "content-type": type } },
    });
    if (!type) response.headers.delete("content-type");
    const error = invalidResponse({ name: "GET /a", redact }, response, [{ path: "", rule }]);
    expect([error.status, error.issues]).toEqual([203, [{ path: "", rule }]]);
    return /^"GET \/a" got an invalid response \((.*)\)$/.exec(error.message)![1];
  };
  for (const type of [undefined, "text/html", "application/json; charset=utf-8", "a/b+json", "?"]) {
    expect(message("json", type)).toBe('the body is not JSON, check "baseUrl"');
  }
  expect(message("json", "text/csv; charset=utf-8"))
    .toBe('the body is "text/csv" and not JSON; GET() and other methods read it with "parseAs"');
  expect(message("json", "text/the-key"))
    .toBe(
      'the body is "text/[redacted]" and not JSON; GET() and other methods read it with "parseAs"',
    );
  expect(message("empty")).toBe("the body is empty");
  expect(message("type")).toBe("the body: type");
});

Deno.test("invalidResponse() lists five issues, and the number of the others", () => {
  const issues = Array.from({ length: 7 }, (_, index) => ({ path: `/${index}`, rule: "type" }));
  const list = (count: number) =>
    invalidResponse(reading, new Response(), issues.slice(0, count)).message.split("(")[1];
  expect(list(5)).toBe("/0: type; /1: type; /2: type; /3: type; /4: type)");
  expect(list(7)).toBe("/0: type; /1: type; /2: type; /3: type; /4: type; and 2 more)");
  const named = [{ path: "/a", rule: "schema", message: "Expected a date" }];
  expect(invalidResponse(reading, new Response(), named).message).toContain(
    "(/a: Expected a date)",
  );
});

/** Headers with one that `Headers` refuses, as Node.js may have. */
function looseHeaders(entries: [string, string][]): Headers {
  const headers = new Headers();
  return Object.assign(headers, {
    forEach(visit: (value: string, name: string) => void) {
      for (const [name, value] of entries) visit(value, name);
    },
  });
}

Deno.test("rebuild() makes a Response of any status, text and headers", async () => {
  for (const status of [200, 201, 204, 205, 206, 400, 404, 500, 599, 600, 999]) {
    const headers = looseHeaders([["x-a", "1"], ["not a name", "2"], ["x-a", "3"]]);
    const statusText = "Größe €";
    const response = { ...partialResponse(status, null), statusText, headers, url: "http://a/" };
    const copy = rebuild({ response, body: bytes("text") });
    expect(copy).toBeInstanceOf(Response);
    expect([copy.status, copy.ok, copy.statusText, copy.url])
      .toEqual([status, status < 300, statusText, "http://a/"]);
    expect(copy.headers.get("x-a")).toBe("1, 3");
    expect(await copy.text()).toBe(status === 204 || status === 205 ? "" : "text");
  }
});

/** The error for a response with a body, by default with 401. */
function errorOf(body: string, redact = redactor("the-key"), headers = new Headers()) {
  const response = new Response(null, { status: 401, headers });
  if (headers.forEach !== Headers.prototype.forEach) {
    Object.defineProperty(response, "headers", { value: headers });
  }
  return httpError({ response, body: bytes(body) }, { name: "GET /a", redact });
}

Deno.test("httpError() has JSON or text, in which it replaces the key once", () => {
  const bodies: [string, unknown][] = [
    ["", ""],
    ["null", null],
    ["Unknown the-key", "Unknown [redacted]"],
    [' {"a":[1,true,null,"the-key"]} ', { a: [1, true, null, "[redacted]"] }],
    ['{"the-key":{"a the-key":"\\u0074he-key"}}', {
      "[redacted]": { "a [redacted]": "[redacted]" },
    }],
    ['{"a":"the-key"', '{"a":"[redacted]"'],
    ['"the-key"', "[redacted]"],
  ];
  for (const [body, expected] of bodies) {
    const error = errorOf(body);
    expect(error.body).toEqual(expected);
    expect([error.status, error.message])
      .toEqual([401, '"GET /a" got a response with the status 401']);
  }
  expect(errorOf('{"code":400,"400":"bad 400"}', redactor("400")).body)
    .toEqual({ code: 400, "[redacted]": "bad [redacted]" });
  expect(errorOf("bad key red", redactor("red")).body).toBe("bad key [redacted]");
});

Deno.test("httpError() drops headers whose name has the key, and replaces it in values", () => {
  const headers = looseHeaders([["x-the-key", "1"], ["x-b", "a the-key"], ["not a name", "2"]]);
  expect([...errorOf("", undefined, headers).headers]).toEqual([["x-b", "a [redacted]"]]);
});

Deno.test("httpError() has the time in Retry-After", () => {
  const retryAfter = (value: string) => {
    const error = errorOf("", undefined, new Headers({ "retry-after": value }));
    return "retryAfter" in error ? error.retryAfter : "absent";
  };
  expect(["7", "0", "soon"].map(retryAfter)).toEqual([7, 0, "absent"]);
  const date = new Date(Date.now() + 50_000).toUTCString();
  expect(retryAfter(date)).toBeGreaterThan(30);
});

Deno.test("httpError() leaves no part of a key where it cuts a body", () => {
  const long = "0123456789".repeat(200);
  for (const [key, filler] of [[long, long], ["abcdefgh", "x"], ["[", "["], ["]", "[redacted]"]]) {
    for (let offset = 0; offset < 12; offset += 3) {
      const text = `${"y".repeat(offset)}${filler!.repeat(300_000 / filler!.length)}${key}`;
      const body = errorOf(text, redactor(key)).body as string;
      expect(body.length).toBeLessThanOrEqual(2 ** 16);
      if (filler !== long) expect(body.length).toBeGreaterThan(2 ** 16 - 100);
      if (key!.length > 1) expect(body).not.toContain(key!.slice(0, 8));
    }
  }
});

Deno.test("httpError() has no part of a key where a body was cut or has broken off", async () => {
  const pull = (controller: ReadableStreamDefaultController) => controller.error(new Error("boom"));
  const start = (controller: ReadableStreamDefaultController) =>
    controller.enqueue(new TextEncoder().encode("Unknown some-k"));
  const texts = ["Unknown some-key", new ReadableStream({ start, pull }, { highWaterMark: 0 })];
  for (const text of texts) {
    const given = { ...reading, maxResponseBytes: 13, redact: redactor("some-key") };
    const response = new Response(text, { status: 401 });
    const received = await receive(given, () => Promise.resolve(response));
    expect(httpError(received, given).body).toBe("Unknown ");
  }
});
