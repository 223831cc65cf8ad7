// Connections that fail, break off or do not speak HTTP.
import { expect } from "@std/expect";
import { gzipSync } from "node:zlib";

import { createClient, HttpError, NetworkError, type ScamAddressError } from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { apiKey, isDeno, sendAll } from "./client.ts";
import { createClock } from "./clock.ts";
import { caught, failure, failures, shown } from "./outcome.ts";
import { type AnyPath, json, serve, serveBytes, serveSockets } from "./server.ts";

const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

Deno.test("methods keep the cause when the connection is refused", async () => {
  const server = await serveSockets(() => {});
  await server[Symbol.asyncDispose]();
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  for (const error of await failures(NetworkError, sendAll(client))) {
    expect(error.code).toBe("network");
    expect(error.cause).toBeInstanceOf(Error);
    expect(shown(error.cause)).toMatch(isDeno ? /Connection refused/ : /ECONNREFUSED/);
  }
});

const brokenResponses: [string, string | Uint8Array][] = [
  ["nothing at all", ""],
  ["half a head", "HTTP/1.1 200 OK\r\nContent-"],
  ["something that is not HTTP", "220 mail.example ESMTP\r\n"],
  ["TLS", Uint8Array.of(21, 3, 3, 0, 2, 2, 70)],
  ["a status that is not a number", "HTTP/1.1 abc OK\r\n\r\n"],
  ["a header that is too large", `${head}X: ${"x".repeat(2 ** 20)}\r\n\r\n`],
  ["an end without length", `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n[1,2,\r\n`],
  ["a body shorter than announced", `${head}Content-Length: 100\r\n\r\n[1,2]`],
  ["chunks that are garbage", `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n[1,2]\r\n`],
  ["gzip that is garbage", `${head}Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n[1,2]`],
  [
    "a status that switches protocols",
    "HTTP/1.1 101 No\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
  ],
];

for (const [kind, bytes] of brokenResponses) {
  Deno.test(`methods report ${kind} as a NetworkError`, async () => {
    await using server = await serveBytes((socket) => void socket.end(bytes));
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
    for (const error of await failures(NetworkError, sendAll(client))) {
      expect(error.cause).toBeInstanceOf(Error);
    }
  });
}

const zipped = gzipSync(JSON.stringify([..."0123456789".repeat(99)])).subarray(0, 40);
const differingResponses: [string, (string | Uint8Array)[], string, string][] = [
  // Node's fetch does not need the end of a compressed body.
  ["gzip that is cut off", [`${head}Content-Encoding: gzip\r\n\r\n`, zipped], "network", "invalid"],
  // Node's fetch does not return the status with which a proxy asks for a password.
  ["the status 407", ["HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"], "http", "network"],
];

for (const [kind, parts, onDeno, onNode] of differingResponses) {
  Deno.test(`call() reports ${kind} as the runtime's fetch reports it`, async () => {
    await using server = await serveBytes((socket) => {
      for (const part of parts) socket.write(part);
      socket.end();
    });
    const client = createClient({ baseUrl: server.url, apiKey, retries: 0 });
    const { code } = await caught(client.call("GET", "report")) as ScamAddressError;
    expect(code.replace("_response", "")).toBe(isDeno ? onDeno : onNode);
  });
}

Deno.test("call() waits for the response after informational ones", async () => {
  await using server = await serveBytes((socket) => {
    socket.write("HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n");
    socket.write("HTTP/1.1 102 Processing\r\n\r\n");
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n42");
  });
  const client = createClient({ baseUrl: server.url, apiKey, retries: 0 });
  expect(await client.call("GET", "report")).toBe(42);
});

Deno.test("call() resolves when the server closes the connections that it keeps", async () => {
  await using server = await serve(({ url }, response, count) => {
    const { socket } = response;
    json(response, url);
    response.on("finish", () => setTimeout(() => socket!.destroy(), count % 3));
  });
  const client = createClientWith({ baseUrl: server.url, apiKey, retries: 5 }, createClock());
  for (let round = 1; round <= 30; round++) {
    expect(await client.call("GET", `${round}`)).toBe(`/${round}`);
    await new Promise((resolve) => setTimeout(resolve, round % 4));
  }
});

Deno.test("call() takes a response that comes before the request has been read", async () => {
  await using server = await serveSockets((socket) => {
    socket.once("data", () => {
      socket.pause();
      socket.end("HTTP/1.1 413 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\n[]");
      socket.on("close", clearTimeout.bind(null, setTimeout(() => socket.destroy(), 100)));
    });
  });
  const client = createClient({ baseUrl: server.url, apiKey, retries: 0, timeout: 5_000 });
  const call = client.call("POST", "report", { body: "x".repeat(2 ** 24) });
  expect((await failure(HttpError, call)).status).toBe(413);
});
