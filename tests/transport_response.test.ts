import { expect } from "@std/expect";

import {
  ConfigurationError,
  InvalidResponseError,
  type Issue,
  NetworkError,
  TimeoutError,
} from "../src/errors.ts";
import { redactor } from "../src/transport/redact.ts";
import { invalidResponse, type Reading, rebuild, receive } from "../src/transport/response.ts";
import { caught, deferred, failure } from "./outcome.ts";
import { partialResponse } from "./streams.ts";

const reading: Reading = {
  describe: () => "GET /report",
  timeout: 30_000,
  signals: [],
  maxResponseBytes: 2 ** 20,
  redact: redactor(),
};

/** Receives a response that is there, whatever it is. */
const receiveNow = (response: unknown, more: Partial<typeof reading> = {}) =>
  receive({ ...reading, ...more }, () => Promise.resolve(response as Response));

for (const isEarly of [true, false]) {
  const when = isEarly ? "that comes before" : "that comes after";
  Deno.test(`receive() cancels a response ${when} the time-out or an abort`, async () => {
    for (const status of [200, 500, 307]) {
      for (const reason of [undefined, "stop"]) {
        if (isEarly && status === 307) continue; // it is refused before
        const controller = new AbortController();
        const { promise: pulled, resolve: pull } = deferred();
        const { promise: cancelled, resolve: cancel } = deferred();
        const body = new ReadableStream({ pull: () => pull(), cancel }, { highWaterMark: 0 });
        const { promise, resolve } = deferred<Response>();
        const limits = { timeout: reason ? 30_000 : 5, signals: [controller.signal] };
        const ended = caught(receive({ ...reading, ...limits }, () => promise));
        const respond = () => resolve(new Response(body, { status }));
        if (isEarly) {
          respond();
          await pulled;
        }
        if (reason) controller.abort(reason);
        const error = await ended;
        if (reason) expect(error).toBe(reason);
        else expect(error).toBeInstanceOf(TimeoutError);
        if (!isEarly) respond();
        await cancelled;
      }
    }
  });
}

Deno.test("receive() trusts no length that a custom fetch announces", async () => {
  let count = 0;
  const { promise: cancelled, resolve: cancel } = deferred();
  const pull = (controller: ReadableStreamDefaultController) => {
    count++;
    controller.enqueue(new Uint8Array(1));
  };
  const body = new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  const response = new Response(body, { headers: { "content-length": "2" } });
  await failure(InvalidResponseError, receiveNow(response, { maxResponseBytes: 4 }));
  await cancelled;
  expect(count).toBe(5);
});

Deno.test("receive() refuses what is not a Response that nobody has read", async () => {
  const responses = [
    "200 OK",
    [],
    partialResponse(NaN, null, { status: "200" }),
    partialResponse(200, null, { statusText: undefined }),
    partialResponse(200, null, { headers: {} }),
    partialResponse(200, null, { headers: undefined }),
    partialResponse(200, null, { bodyUsed: undefined }),
    partialResponse(200, undefined),
    partialResponse(200, { pipe() {} }), // as node-fetch has it
  ];
  for (const response of responses) {
    const error = await failure(ConfigurationError, receiveNow(response));
    expect([error.option, error.message])
      .toEqual(["fetch", '"fetch" must return a Response whose body nobody has read']);
  }
});

Deno.test("receive() reports what is no response as a NetworkError", async () => {
  const failing = new ReadableStream({ pull: () => Promise.reject("boom the-key") });
  const strings = new ReadableStream({ start: (controller) => controller.enqueue("[1]") });
  const responses: [unknown, string][] = [
    ...[0, 101, 199, 600, NaN].map((status): [unknown, string] => [
      partialResponse(status, null),
      `no response: The response has the status ${status}`,
    ]),
    [new Response(failing), "a response that broke off: boom [redacted]"],
    [new Response(strings), "a response that broke off: The body has a chunk that is not bytes"],
  ];
  for (const [response, reason] of responses) {
    const call = receiveNow(response, { redact: redactor("the-key") });
    const error = await failure(NetworkError, call);
    expect(error.message).toBe(`"GET /report" got ${reason}`);
    expect(reason).toContain((error.cause as Error).message);
  }
  const { promise: cancelled, resolve: cancel } = deferred();
  const body = new ReadableStream({ cancel });
  await failure(NetworkError, receiveNow(partialResponse(600, body)));
  await cancelled;
});

Deno.test("invalidResponse() lists five issues, and the number of the others", () => {
  const issues: Issue[] = [
    { path: "/a", rule: "schema", message: "Expected a date" },
    { path: "", rule: "schema", message: "Expected a list" },
    ..."cdefg".split("").map((name) => ({ path: `/${name}`, rule: "type" })),
  ];
  const empty = { response: new Response(), bytes: new Uint8Array(), isComplete: true };
  const list = (count: number) => {
    const { message } = invalidResponse(empty, issues.slice(0, count), reading);
    return message.split("response: ")[1]!.split("; ");
  };
  expect(list(3)).toEqual([
    "/a: Expected a date",
    "the body: Expected a list",
    "/c does not match the document (type)",
  ]);
  expect(list(5).length).toBe(5);
  expect(list(7).slice(4)).toEqual(["/e does not match the document (type)", "and 2 more"]);
});

Deno.test("rebuild() makes a Response of what `Headers` and `Response` refuse", async () => {
  const headers = Object.assign(new Headers(), {
    forEach(visit: (value: string, name: string) => void) {
      for (const [value, name] of [["1", "x-a"], ["2", "not a name"], ["3", "x-a"]] as const) {
        visit(value, name);
      }
    },
  });
  for (const status of [200, 204, 205, 304, 404, 599]) {
    for (const [statusText, read] of [["Größe", "Größe"], ["€ \ufffda\x01\x7f", "? ?a??"]]) {
      const response = {
        ...partialResponse(status, null),
        statusText: statusText!,
        headers,
        url: "x:y",
      };
      const copy = rebuild({ response, bytes: new TextEncoder().encode("text"), isComplete: true });
      expect(copy).toBeInstanceOf(Response);
      expect([copy.status, copy.ok, copy.clone().statusText, copy.url])
        .toEqual([status, status < 300, read, "x:y"]);
      expect(copy.headers.get("x-a")).toBe("1, 3");
      expect(await copy.text()).toBe([204, 205, 304].includes(status) ? "" : "text");
    }
  }
});
