import { expect } from "@std/expect";
import { gzipSync } from "node:zlib";

import { createClient, HttpError, InvalidResponseError, NetworkError } from "../mod.ts";
import { apiKey, isDeno } from "./client.ts";
import { deferred, failure } from "./outcome.ts";
import { serve, serveBytes } from "./server.ts";

Deno.test("call() reads a body of maxResponseBytes and no larger one", async () => {
  await using server = await serve(({ url }, response) => {
    const size = url.startsWith("/fits") ? 1000 : 1001;
    const body = JSON.stringify("x".repeat(size - 2));
    if (url.endsWith("/announced")) response.setHeader("content-length", size);
    if (url.endsWith("/zipped")) {
      const zipped = gzipSync(body); // announces less than the limit
      response.writeHead(200, { "content-encoding": "gzip", "content-length": zipped.length });
      return void response.end(zipped);
    }
    response.write(body.slice(0, 500));
    response.end(body.slice(500));
  });
  const client = createClient({ baseUrl: server.url, apiKey, maxResponseBytes: 1000 });
  for (const form of ["announced", "chunked", "zipped"]) {
    expect(await client.call("GET", `fits/${form}`)).toBe("x".repeat(998));
    const error = await failure(InvalidResponseError, client.call("GET", `exceeds/${form}`));
    expect(error.status).toBe(200);
    expect(error.issues).toEqual([{ path: "", rule: "maxResponseBytes" }]);
    expect(error.message).not.toContain("xxx");
  }
});

Deno.test("call() stops reading a body without end at maxResponseBytes", async () => {
  const { promise: closed, resolve } = deferred();
  await using server = await serve((_, response) => {
    response.on("close", resolve);
    const pour = () => {
      while (response.write(new Uint8Array(2 ** 16)));
    };
    response.on("drain", pour);
    pour();
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  await failure(InvalidResponseError, client.call("GET", "report"));
  await closed;
});

Deno.test("call() keeps the status of an error whose body is too large", async () => {
  await using server = await serve((_, response) => {
    response.writeHead(402);
    const pour = () => {
      while (response.write(new Uint8Array(2 ** 16).fill(65)));
    };
    response.on("drain", pour);
    pour();
  });
  const client = createClient({ baseUrl: server.url, apiKey, maxResponseBytes: 2 ** 20 });
  const error = await failure(HttpError, client.call("GET", "report"));
  expect(error.status).toBe(402);
  expect(error.body).toBe("A".repeat(2 ** 16));
});

const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n";

Deno.test("call() reads no further than the announced length", async () => {
  await using server = await serveBytes((socket) => {
    socket.end(`${head}\r\n42 and HTTP/1.1 200 OK\r\n\r\n`);
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  for (let round = 0; round < 5; round++) expect(await client.call("GET", "report")).toBe(42);
});

Deno.test("call() stops at maxResponseBytes when chunks are larger than announced", async () => {
  await using server = await serveBytes((socket) => {
    const chunk = "800\r\n" + `"${"x".repeat(2046)}"\r\n`;
    socket.end(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`);
  });
  const client = createClient({ baseUrl: server.url, apiKey, retries: 0, maxResponseBytes: 1000 });
  // Node refuses the combination of the two headers.
  const errorClass = isDeno ? InvalidResponseError : NetworkError;
  await failure<Error>(errorClass, client.call("GET", "report"));
});
