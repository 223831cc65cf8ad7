// Connections that fail, break off or do not speak HTTP, and the reason that NetworkError has.
import { expect } from "@std/expect";

import { createClient, NetworkError } from "../mod.ts";
import { apiKey, baseUrl, isDeno, sendAll, testBothWays, undocumented } from "./support/client.ts";
import { rejection, rejections, shown } from "./support/rejection.ts";
import { serveBytes, serveSockets } from "./support/server.ts";

const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

testBothWays("methods name the address and the reason of a refused connection", async (create) => {
  const server = await serveSockets(() => {});
  await server[Symbol.asyncDispose]();
  const client = create({ baseUrl: server.url, apiKey, retries: 0 });
  for (const { code, message, cause } of await rejections(NetworkError, sendAll(client))) {
    expect(code).toBe("network");
    const reason = isDeno ? /Connection refused/ : /ECONNREFUSED/;
    expect(message).toMatch(/^"[A-Z]+ http:\/\/127.0.0.1:\d+\/[\w/]+" got no complete response: /);
    for (const text of [message, (cause as Error).message]) expect(text).toMatch(reason);
  }
});

const responses: Record<string, string> = {
  "nothing at all": "",
  "something that is not HTTP": "220 mail.example ESMTP\r\n",
  "another protocol": "HTTP/1.1 101 No\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
  "a body shorter than announced": `${head}Content-Length: 100\r\n\r\n[1,2]`,
  "chunks that are garbage": `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n[1,2]\r\n`,
  "gzip that is garbage": `${head}Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n[1,2]`,
};

for (const [kind, bytes] of Object.entries(responses)) {
  testBothWays(`methods report ${kind} as a NetworkError`, async (create) => {
    await using server = await serveBytes((socket) => void socket.end(bytes));
    const client = create({ baseUrl: server.url, apiKey, retries: 0 });
    for (const { cause, message } of await rejections(NetworkError, sendAll(client))) {
      expect(message).toMatch(/ got no complete response: ./);
      expect(cause).toBeInstanceOf(Error);
    }
  });
}

// The reason

/** Returns the error of a call whose custom `fetch` rejects. */
function failureOf(thrown: unknown, endpoint: string = undocumented): Promise<NetworkError> {
  const client = createClient({ baseUrl, apiKey, retries: 0, fetch: () => Promise.reject(thrown) });
  return rejection(NetworkError, client.call("GET", endpoint, { query: { address: "s3cret" } }));
}

const coded = (message: string, code: unknown, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code });
const missing = Object.assign(new Error("Requires net access"), { name: "NotCapable" });

/** What may be thrown, and the message and the code of its reason. */
const shapes: [thrown: unknown, message: string, code?: string][] = [
  ["boom", "boom"],
  [undefined, "undefined"],
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
  for (const [thrown, expected, code] of shapes) {
    const { cause, isTemporary, message } = await failureOf(thrown);
    expect(message.endsWith(`got no complete response: ${expected}`)).toBe(true);
    expect((cause as Error).message).toBe(expected);
    expect({ ...cause as Error }).toEqual(code ? { code } : {});
    expect(isTemporary).toBe(code !== "NotCapable");
  }
});

Deno.test("NetworkError keeps the stack of the reason, without the key and the query", async () => {
  const text = `${apiKey} at ${baseUrl}${undocumented}?address=s3cret: refused`;
  const thrown = Object.assign(new TypeError(text), { code: `E-${apiKey}`, request: apiKey });
  const error = await failureOf(thrown);
  const cause = error.cause as Error & { code: string };
  expect(cause.message).toBe(`[redacted] at ${baseUrl}${undocumented}: refused`);
  expect(cause.stack).toMatch(/^TypeError: \[redacted\] at .*: refused\n.*network_error/s);
  expect(cause.code).toBe("E-[redacted]");
  expect(shown(error)).not.toContain(apiKey);
  expect(shown(error)).not.toContain("s3cret");
});
