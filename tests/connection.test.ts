// Connections that fail, break off or do not speak HTTP.
import { expect } from "@std/expect";

import { NetworkError } from "../mod.ts";
import { apiKey, isDeno, sendAll, testWatched } from "./client.ts";
import { failures } from "./outcome.ts";
import { serveBytes, serveSockets } from "./server.ts";

const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

testWatched("methods name the address and the reason of a refused connection", async (create) => {
  const server = await serveSockets(() => {});
  await server[Symbol.asyncDispose]();
  const client = create({ baseUrl: server.url, apiKey, retries: 0 });
  for (const { code, message, cause } of await failures(NetworkError, sendAll(client))) {
    expect(code).toBe("network");
    const reason = isDeno ? /Connection refused/ : /ECONNREFUSED/;
    expect(message).toMatch(/^"[A-Z]+ http:\/\/127.0.0.1:\d+\/[\w/]+" got no response: /);
    for (const text of [message, (cause as Error).message]) expect(text).toMatch(reason);
  }
});

const brokenResponses: [string, string][] = [
  ["nothing at all", ""],
  ["half a head", "HTTP/1.1 200 OK\r\nContent-"],
  ["something that is not HTTP", "220 mail.example ESMTP\r\n"],
  ["a status that is not a number", "HTTP/1.1 abc OK\r\n\r\n"],
  ["a header that is too large", `${head}X: ${"x".repeat(2 ** 20)}\r\n\r\n`],
  ["an end without length", `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n[1,2,\r\n`],
  ["a body shorter than announced", `${head}Content-Length: 100\r\n\r\n[1,2]`],
  ["chunks that are garbage", `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n[1,2]\r\n`],
  ["gzip that is garbage", `${head}Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n[1,2]`],
  ["another protocol", "HTTP/1.1 101 No\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
];

for (const [kind, bytes] of brokenResponses) {
  testWatched(`methods report ${kind} as a NetworkError`, async (create) => {
    await using server = await serveBytes((socket) => void socket.end(bytes));
    const client = create({ baseUrl: server.url, apiKey, retries: 0 });
    for (const { cause, message } of await failures(NetworkError, sendAll(client))) {
      expect(message).toMatch(/ got no (complete )?response: ./);
      expect(cause).toBeInstanceOf(Error);
    }
  });
}
