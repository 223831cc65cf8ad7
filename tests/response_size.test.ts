import { expect } from "@std/expect";
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";

import { HttpError, InvalidResponseError, NetworkError } from "../mod.ts";
import { apiKey, isDeno, testBothWays, undocumented } from "./support/client.ts";
import { deferred } from "./support/deferred.ts";
import { rejection } from "./support/rejection.ts";
import { serve, serveBytes } from "./support/server.ts";

testBothWays("call() reads a body of maxResponseBytes and no larger one", async (create) => {
  await using server = await serve(({ url }, response) => {
    const size = url.startsWith("/fits") ? 1000 : 1001;
    const body = JSON.stringify("x".repeat(size - 2));
    if (url.endsWith("/announced")) response.setHeader("content-length", size);
    if (url.endsWith("/zipped")) {
      const zipped = gzipSync(body); // announces less than the limit
      response.writeHead(200, { "content-encoding": "gzip", "content-length": zipped.length });
      return void response.end(zipped);
    }
    if (url.endsWith("/closed")) {
      response.removeHeader("transfer-encoding"); // so that the end of the connection is the body's
      response.setHeader("connection", "close");
    }
    response.write(body.slice(0, 500));
    response.end(body.slice(500));
  });
  const client = create({ baseUrl: server.url, apiKey, maxResponseBytes: 1000 });
  for (const form of ["announced", "chunked", "closed", "zipped"]) {
    expect((await client.call("GET", `fits/${form}`)).data).toBe("x".repeat(998));
    const error = await rejection(InvalidResponseError, client.call("GET", `exceeds/${form}`));
    expect(error.issues).toEqual([{ path: "", rule: "maxResponseBytes" }]);
    expect(error.message).toMatch(/the body is larger than "maxResponseBytes"$/);
  }
});

/** Sends a body without an end, as fast as the client reads it. */
function pour(response: ServerResponse): void {
  const chunk = new Uint8Array(2 ** 16).fill(65);
  const write = () => {
    while (response.write(chunk));
  };
  response.on("drain", write);
  write();
}

testBothWays("call() keeps the start of a body without end, and stops reading", async (create) => {
  const { promise: closed, resolve } = deferred();
  await using server = await serve(({ url }, response) => {
    response.on("close", resolve).writeHead(Number(url.slice(1)));
    pour(response);
  });
  const client = create({ baseUrl: server.url, apiKey, maxResponseBytes: 2 ** 20 });
  const error = await rejection(InvalidResponseError, client.call("GET", "200"));
  await closed;
  const { response } = await rejection(HttpError, client.call("GET", "402"));
  expect(response.status).toBe(402);
  expect([response.body, error.response.body]).toEqual(Array(2).fill("A".repeat(2 ** 16)));
});

testBothWays("an error keeps no more of a body than maxResponseBytes", async (create) => {
  await using server = await serve((_, response) => void response.writeHead(400).end("AAAA"));
  const client = create({ baseUrl: server.url, apiKey, maxResponseBytes: 3 });
  const { response } = await rejection(HttpError, client.call("GET", undocumented));
  expect(response.body).toBe("AAA");
});

testBothWays("call() waits for no more than the first 64 KiB of an error", async (create) => {
  await using server = await serve((_, response) => {
    response.writeHead(503).write("A".repeat(2 ** 16)); // and no end
  });
  const client = create({ baseUrl: server.url, apiKey, retries: 0 });
  const { response } = await rejection(HttpError, client.call("GET", undocumented));
  expect(response.body).toBe("A".repeat(2 ** 16));
});

/** The heads of responses whose body is larger than announced, and has no end. */
const heads = {
  less: `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n`,
  nothing: "HTTP/1.0 200 OK\r\n\r\n",
};
for (const [announced, head] of Object.entries(heads)) {
  testBothWays(
    `call() stops at maxResponseBytes when ${announced} was announced`,
    async (create) => {
      await using server = await serveBytes((socket) =>
        void socket.write(head + "x".repeat(2_048))
      );
      const options = { retries: 0, maxResponseBytes: 1000, timeout: 3_000 };
      const client = create({ baseUrl: server.url, apiKey, ...options });
      // Node.js refuses a length beside chunks.
      const errorClass = isDeno || announced === "nothing" ? InvalidResponseError : NetworkError;
      const error = await rejection<Error>(errorClass, client.call("GET", undocumented));
      const issues = [{ path: "", rule: "maxResponseBytes" }];
      if (error instanceof InvalidResponseError) expect(error.issues).toEqual(issues);
    },
  );
}
