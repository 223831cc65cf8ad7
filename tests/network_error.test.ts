// Connections that fail, break off or do not speak HTTP, and the reason that NetworkError has.
import { expect } from "@std/expect";

import { createClient, NetworkError } from "../mod.ts";
import { createSandbox } from "../src/sandbox/service.ts";
import { toCause } from "../src/transport/cause.ts";
import { Secrets } from "../src/transport/secrets.ts";
import { apiKey, baseUrl, isDeno, sendAll, testBothWays, undocumented } from "./support/client.ts";
import { rejection, rejections } from "./support/rejection.ts";
import { serveBytes, serveSockets } from "./support/server.ts";

const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

testBothWays("methods name the address and the reason of a refused connection", async (create) => {
  const server = await serveSockets(() => {});
  await server[Symbol.asyncDispose]();
  const client = create({ baseUrl: server.url, apiKey, retries: 0 });
  for (const { code, message, cause } of await rejections(NetworkError, sendAll(client))) {
    expect(code).toBe("network");
    const reason = isDeno ? /Connection refused/ : /ECONNREFUSED/;
    expect(message).toMatch(/^"[A-Z]+ http:\/\/127.0.0.1:\d+\/[\w/]+" got no response: /);
    for (const text of [message, (cause as Error).message]) expect(text).toMatch(reason);
  }
});

const noResponses: Record<string, string> = {
  "nothing at all": "",
  "something that is not HTTP": "220 mail.example ESMTP\r\n",
  "another protocol": "HTTP/1.1 101 No\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
};

const incomplete: Record<string, string> = {
  "a body shorter than announced": `${head}Content-Length: 100\r\n\r\n[1,2]`,
  "chunks that are garbage": `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n[1,2]\r\n`,
  "gzip that is garbage": `${head}Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n[1,2]`,
};

for (const [kind, bytes] of Object.entries({ ...noResponses, ...incomplete })) {
  testBothWays(`methods report ${kind} as a NetworkError`, async (create) => {
    await using server = await serveBytes((socket) => void socket.end(bytes));
    const client = create({ baseUrl: server.url, apiKey, retries: 0 });
    // Where a response begins, runtimes differ.
    const problem = kind in incomplete
      ? / got no complete response: ./
      : / got no (complete )?response: ./;
    for (const { cause, message } of await rejections(NetworkError, sendAll(client))) {
      expect(message).toMatch(problem);
      expect(cause).toBeInstanceOf(Error);
    }
  });
}

// The reason

Deno.test("the message of a NetworkError does not end in white space", async () => {
  const messages = { "Failed to fetch. \n": "Failed to fetch.", " \n": "unknown reason" };
  for (const [message, reason] of Object.entries(messages)) {
    const fetch = () => Promise.reject(new Error(message));
    const client = createClient({ baseUrl, apiKey, retries: 0, fetch });
    const error = await rejection(NetworkError, client.call("GET", undocumented));
    expect(error.message).toBe(`"GET ${baseUrl}${undocumented}" got no response: ${reason}`);
    expect((error.cause as Error).message).toBe(reason);
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
  const { cause } = await rejection(NetworkError, client.call("GET", "report"));
  const { message, stack } = cause as Error;
  expect(message).toBe("No report for [redacted]");
  expect(stack).toMatch(/^TypeError: No report for \[redacted\]\n.*makeReport/);
  const long = () => {
    throw Object.assign(new Error("x".repeat(9_000)), { stack: `${apiKey}\n`.repeat(9_000) });
  };
  const failed = createClient({ baseUrl, apiKey, fetch: long, retries: 0 });
  const error = await rejection(NetworkError, failed.call("GET", undocumented));
  expect((error.cause as Error).message).toBe("x".repeat(2_000));
  expect((error.cause as Error).stack).toBe("[redacted]\n".repeat(200).slice(0, 2_000));
});

const coded = (message: string, code: unknown, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code });
const missing = Object.assign(new Error("Requires net access"), { name: "NotCapable" });
const circular: { cause?: unknown } = {};
circular.cause = circular;

/** What may be thrown, and the message and the code of its reason. */
const shapes: [unknown, string, string?][] = [
  ["boom", "boom"],
  [new DOMException("boom", "NetworkError"), "boom"],
  ...[undefined, null, "", 0, 7, {}, Object.create(null), new Error(), { message: {} }, circular]
    .map((thrown): [unknown, string] => [thrown, "unknown reason"]),
  [coded("", "ENOTFOUND"), "ENOTFOUND", "ENOTFOUND"],
  [coded("boom", 7), "boom"],
  [new Error("boom", { cause: { status: 407 } }), "boom"],
  [new TypeError("fetch failed", { cause: new Error("expired") }), "expired"],
  [coded("outer", "OUTER", coded("inner", "INNER")), "inner", "INNER"],
  [coded("outer", "OUTER", new Error("inner")), "inner"],
  [new Error("fetch failed", { cause: coded("cancelled", 20, coded("403", "NO")) }), "403", "NO"],
  [new AggregateError([coded("refused", "ECONNREFUSED")]), "refused", "ECONNREFUSED"],
  [new Error("", { cause: new AggregateError([new Error("refused")]) }), "refused"],
  [new AggregateError([new Error("refused")], "all failed"), "all failed"],
  [new TypeError("fetch failed", { cause: missing }), "Requires net access", "NotCapable"],
];

Deno.test("toCause() has the message and the code of the cause, and nothing else", () => {
  for (const [thrown, message, code] of shapes) {
    const reason: Error & { code?: unknown } = toCause(thrown, new Secrets());
    expect([reason instanceof Error, reason.message, reason.cause, "code" in reason, reason.code])
      .toEqual([true, message, undefined, code !== undefined, code]);
  }
  const thrown = Object.assign(coded("Bad some-key", "no-some-key"), { request: "some-key" });
  const secrets = new Secrets();
  secrets.add("some-key");
  const reason = toCause(thrown, secrets);
  expect([reason.message, { ...reason }]).toEqual(["Bad [redacted]", { code: "no-[redacted]" }]);
});

Deno.test("toCause() has no queries of addresses", () => {
  const texts = {
    "for url (http://a.example:80/b?c=d&e#g): refused": "for url (http://a.example:80/b): refused",
    "for url (http://a.example/b?c=(d)&e=f): refused": "for url (http://a.example/b): refused",
    'get "https://a.example/b?c" or HTTP://A.EXAMPLE?c, why?':
      'get "https://a.example/b" or HTTP://A.EXAMPLE, why?',
    "https://a.example/b#c": "https://a.example/b",
    "(https://a.example/o'b?c='d'&e=f): no": "(https://a.example/o'b): no",
    "What? a?b=c (file:///a?b)": "What? a?b=c (file:///a?b)",
  };
  for (const [text, shown] of Object.entries(texts)) {
    expect(toCause(new Error(text), new Secrets()).message).toBe(shown);
  }
});
