// The sandbox on a port: what arrives, what is sent, and how it ends.
import { expect } from "@std/expect";
import { once } from "node:events";
import { connect } from "node:net";
import { ConfigurationError, createClient, HttpError, NetworkError } from "../mod.ts";
import { createSandbox, DEMO_KEY, type SandboxRoute } from "../src/sandbox/service.ts";
import { serveSandbox } from "../src/sandbox/server.ts";
import { baseUrl, keyHeader, undocumented } from "./support/client.ts";
import { deferred } from "./support/deferred.ts";
import { rejection } from "./support/rejection.ts";
import { validKey } from "./support/server.ts";

/** Serves a sandbox with these routes. */
const serve = (routes: Record<string, SandboxRoute>) => serveSandbox(createSandbox({ routes }));

/** Sends a request with the demo key; resolves to what arrives. */
async function ask(url: string, init: RequestInit = {}) {
  const headers = { [keyHeader]: DEMO_KEY, ...init.headers as Record<string, string> };
  const response = await fetch(url, { ...init, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Sends bytes on a new connection; resolves to what arrives until the server closes it. */
async function raw(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let received = "";
  socket.setEncoding("latin1").on("data", (text) => received += text).on("error", () => {});
  socket.write(bytes, "latin1");
  await once(socket, "close");
  return received;
}

Deno.test("serveSandbox() serves a sandbox with the demo key by default, on any host", async () => {
  // deno-fmt-ignore
  const hosts = [
    [undefined, "127.0.0.1"], ["localhost", "localhost"], ["0.0.0.0", "127.0.0.1"],
    ["::1", "[::1]"], ["::", "[::1]"],
  ] as const;
  for (const [host, hostname] of hosts) {
    await using server = await serveSandbox(undefined, { host });
    expect(server.url).toMatch(/^http:\/\/[^/]+:[1-9]\d*\/$/);
    expect(new URL(server.url).hostname).toBe(hostname);
    const client = createClient({ baseUrl: `${server.url}any/base`, apiKey: DEMO_KEY });
    expect(await client.checkKey(DEMO_KEY)).toEqual(validKey);
    const { response } = await rejection(HttpError, client.call("GET", undocumented));
    expect(response.status).toBe(404);
  }
});

Deno.test("serveSandbox() streams response bodies", async () => {
  const { readable, writable } = new TransformStream<Uint8Array>();
  await using server = await serve({ "POST -chat": () => new Response(readable) });
  const headers = { [keyHeader]: DEMO_KEY };
  const signal = AbortSignal.timeout(10_000); // Without it, headers that do not come hang the test.
  const response = await fetch(`${server.url}-chat`, { method: "POST", headers, signal });
  const [reader, writer] = [response.body!.getReader(), writable.getWriter()];
  for (const text of ["one", "two"]) {
    await writer.write(new TextEncoder().encode(text));
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(text);
  }
  await writer.close();
  expect((await reader.read()).done).toBe(true);
});

Deno.test("serveSandbox() passes on requests and responses unchanged", async () => {
  await using server = await serve({
    "PUT -things/{id}": async (request, { params }) => {
      const { search } = new URL(request.url);
      const got = [params["id"], search, request.headers.get("x-sent"), await request.text()];
      const headers: [string, string][] = [["Set-Cookie", "a=1"], ["Set-Cookie", "b=2"]];
      return new Response(got.join(), { status: 418, headers });
    },
    "DELETE -things/{id}": () => undefined,
    "HEAD -things": () => new Response(null, { headers: { "X-Count": "3" } }),
  });
  const url = `${server.url}-things`;
  const init = { method: "PUT", headers: { "X-Sent": "café" }, body: "☂" };
  const put = await ask(`${url}/caf%C3%A9%2F1?a=b`, init);
  expect(put).toMatchObject({ status: 418, text: "café/1,?a=b,café,☂" });
  expect(put.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(await ask(`${url}/1`, { method: "DELETE" })).toMatchObject({ status: 204, text: "" });
  const head = await ask(url, { method: "HEAD" });
  expect([head.status, head.headers.get("x-count")]).toEqual([200, "3"]);
});

Deno.test("serveSandbox() survives requests that break off or cannot be read", async () => {
  const { promise: started, resolve: start } = deferred();
  await using server = await serve({
    async "POST -wait"() {
      start();
      return await new Promise(() => {});
    },
  });
  const { url } = server;
  const head = `Host: x\r\n${keyHeader}: ${DEMO_KEY}\r\nConnection: close\r\n`;
  for (const [target, status] of [["//other.example/-a", 404], ["/%zz", 501]] as const) {
    const received = await raw(url, `GET ${target} HTTP/1.1\r\n${head}\r\n`);
    expect(received.split(" ")[1]).toBe(`${status}`);
  }
  const body = `GET /-a HTTP/1.1\r\n${head}Content-Length: 2\r\n\r\n{}`;
  const badTarget = `GET http://other.example/-a HTTP/1.1\r\n${head}\r\n`;
  for (const bytes of [body, badTarget]) {
    expect(await raw(url, bytes)).toMatch(/^HTTP\/1\.1 501 [^]*\{"error":"TypeError: ./);
  }
  for (const [path, length] of [["wait", 1], ["read", 9]] as const) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`POST /-${path} HTTP/1.1\r\n${head}Content-Length: ${length}\r\n\r\n{`);
    await (path === "wait" ? started : once(socket, "connect"));
    socket.destroy();
  }
  expect((await createClient({ baseUrl: url }).checkKey(DEMO_KEY)).apiKeyValid).toBe(true);
});

Deno.test("a route that throws is called once, and the error says what it threw", async () => {
  let calls = 0;
  const read = new Response("read");
  await read.text();
  const routes: [SandboxRoute, reason: string][] = [
    [() => JSON.parse("{"), "SyntaxError: "],
    [() => Promise.reject(new RangeError("Too late")), "RangeError: Too late"],
    [() => read, "TypeError: The body of the route's Response is already used"],
    [() => 1n, "TypeError: "],
    [() => Promise.reject(Symbol("x")), "Symbol(x)"],
  ];
  for (const [route, reason] of routes) {
    const counted: SandboxRoute = (...args) => (calls++, route(...args));
    const sandbox = createSandbox({ routes: { "GET -a": counted } });
    await using server = await serveSandbox(sandbox);
    for (const options of [{ baseUrl, fetch: sandbox.fetch }, { baseUrl: server.url }]) {
      calls = 0;
      const call = createClient({ ...options, apiKey: DEMO_KEY }).call("GET", "-a");
      const { message, response } = await rejection(HttpError, call);
      expect(message).toContain(`: {"error":"The sandbox failed: `);
      expect(response.body).toEqual({ error: expect.stringContaining(reason) });
      expect([response.status, calls]).toEqual([501, 1]);
    }
  }
});

Deno.test("serveSandbox() breaks the connection off when a body does, and for Response.error()", async () => {
  const start = (stream: ReadableStreamDefaultController) => stream.enqueue(new Uint8Array(9));
  const pull = (stream: ReadableStreamDefaultController) => stream.error(new Error("It broke"));
  await using server = await serve({
    "GET -breaks": () => new Response(new ReadableStream({ start, pull })),
    "GET -fails": () => Response.error(),
  });
  const client = createClient({ baseUrl: server.url, apiKey: DEMO_KEY, retries: 0 });
  for (const endpoint of ["-breaks", "-fails"]) {
    await rejection(NetworkError, client.call("GET", endpoint));
  }
  expect((await client.checkOwnKey()).apiKeyValid).toBe(true);
});

Deno.test("close() ends open connections and may be called again", async () => {
  const { promise: running, resolve } = deferred();
  const server = await serve({
    "GET -hang": () => {
      resolve();
      return new Promise(() => {});
    },
  });
  const hung = expect(ask(`${server.url}-hang`)).rejects.toThrow();
  const kept = connect(Number(new URL(server.url).port), "127.0.0.1");
  const keptClosed = once(kept.on("error", () => {}), "close");
  kept.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await new Promise((resolve) => kept.on("data", resolve)); // It is kept for another request.
  await running;
  await Promise.all([server.close(), server.close(), hung, keptClosed]);
  await server[Symbol.asyncDispose]();
  await rejection(NetworkError, createClient({ baseUrl: server.url, retries: 0 }).checkKey("key"));
});

Deno.test("serveSandbox() refuses bad options and where it cannot listen, and says why", async () => {
  await using server = await serveSandbox();
  const port = Number(new URL(server.url).port);
  const bad: [option: string, options: object][] = [
    ["prot", { prot: 8080 }],
    ["port", { port }],
    ["port", { port: -1 }],
    ["port", { port: 65_536 }],
    ["host", { host: "no.such.host.invalid" }],
    ["host", { host: "203.0.113.1" }],
  ];
  for (const host of ["", "fe80::1%eth0", "[::1]", "127.0.0.1:80", "a b"]) {
    bad.push(["host", { host }]);
  }
  for (const [option, options] of bad) {
    const error = await rejection(ConfigurationError, serveSandbox(createSandbox(), options));
    expect([error.option, error.message]).toEqual([option, expect.stringMatching(/" .{20}/)]);
  }
});
