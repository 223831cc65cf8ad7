import { expect } from "@std/expect";
import { once } from "node:events";
import { connect } from "node:net";
import { ConfigurationError, createClient } from "../mod.ts";
import { createSandbox, DEMO_KEY, type SandboxRoute } from "../src/sandbox/service.ts";
import { type SandboxResponse, serveSandbox } from "../src/sandbox/server.ts";
import { checkKeyPath, keyHeader, undocumented } from "./support/client.ts";
import { deferred } from "./support/deferred.ts";
import { rejection } from "./support/rejection.ts";
import { validKey } from "./support/server.ts";

/** Serves a sandbox with these routes, and records the calls of `onResponse`. */
async function serve(routes: Record<string, SandboxRoute>) {
  const responses: SandboxResponse[] = [];
  const onResponse = (response: SandboxResponse) => void responses.push(response);
  return { ...await serveSandbox(createSandbox({ routes }), { onResponse }), responses };
}

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
  for (const host of [undefined, "0.0.0.0", "localhost"]) {
    await using server = await serveSandbox(undefined, { host });
    const name = host === "localhost" ? host : "127.0.0.1";
    expect(server.url).toMatch(new RegExp(`^http://${name}:\\d+/$`));
    for (const baseUrl of [server.url, `${server.url}any/base`]) {
      const client = createClient({ baseUrl, apiKey: DEMO_KEY });
      expect(await client.checkKey(DEMO_KEY)).toEqual(validKey);
      await expect(client.call("GET", undocumented)).rejects.toMatchObject({
        response: { status: 404 },
      });
    }
  }
});

Deno.test("serveSandbox() streams response bodies", async () => {
  let stream!: ReadableStreamDefaultController<Uint8Array>;
  await using server = await serve({
    "POST -chat": () =>
      new Response(new ReadableStream({ start: (given) => void (stream = given) })),
  });
  const headers = { [keyHeader]: DEMO_KEY };
  const response = await fetch(`${server.url}-chat`, { method: "POST", headers });
  const reader = response.body!.getReader();
  for (const text of ["one", "two"]) {
    stream.enqueue(new TextEncoder().encode(text));
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(text);
  }
  stream.close();
  expect((await reader.read()).done).toBe(true);
});

Deno.test("serveSandbox() passes on requests and responses unchanged, and reports them to onResponse", async () => {
  const requests: Request[] = [];
  await using server = await serve({
    "PUT -things/{id}": async (request, { params }) => {
      requests.push(request);
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
  await ask(`${server.url}/-a/100%/?key=value`);
  expect(server.responses).toEqual([
    { method: "PUT", path: "/-things/caf%C3%A9%2F1", status: 418 },
    { method: "DELETE", path: "/-things/1", status: 204 },
    { method: "HEAD", path: "/-things", status: 200 },
    { method: "GET", path: "//-a/100%/", status: 404 },
  ]);
  expect(requests.map(({ signal }) => signal.aborted)).toEqual([false]); // no client has gone away
});

Deno.test("serveSandbox() survives requests that break off or cannot be read", async () => {
  const aborted: Promise<unknown>[] = [];
  await using server = await serve({
    "POST -wait": (request) => {
      const reason = new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      aborted.push(reason);
      return reason;
    },
    "POST -read": (request) => request.text(),
  });
  const { url, responses } = server;
  const head = `Host: x\r\n${keyHeader}: demo-key\r\nConnection: close\r\n`;
  for (const target of [`http://other.example/${undocumented}`, "//other.example/-a", "/%zz/%00"]) {
    expect(await raw(url, `GET ${target} HTTP/1.1\r\n${head}\r\n`)).toMatch(/^HTTP\/1\.1 404 /);
  }
  expect(await raw(url, `TRACE /-a HTTP/1.1\r\n${head}\r\n`)).toMatch(/^HTTP\/1\.1 40[04] /);
  const body = `GET /-a HTTP/1.1\r\n${head}Content-Length: 2\r\n\r\n{}`;
  expect(await raw(url, body)).toMatch(/\r\n\{"error":"The request cannot be read"\}/);
  const count = responses.length;

  for (const [path, length] of [["wait", 1], ["read", 9]] as const) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`POST /-${path} HTTP/1.1\r\n${head}Content-Length: ${length}\r\n\r\n{`);
    await once(socket, "connect");
    while (path === "wait" && aborted.length === 0) await new Promise((go) => setTimeout(go, 5));
    socket.destroy();
  }
  await Promise.all(aborted);
  const client = createClient({ baseUrl: url });
  expect((await client.checkKey(DEMO_KEY)).apiKeyValid).toBe(true);
  const checked = { method: "POST", path: checkKeyPath, status: expect.any(Number) };
  expect(responses.slice(count)).toEqual([checked]);
});

Deno.test("serveSandbox() responds with 500 when a route throws, and passes the error to onResponse", async () => {
  const error = new Error("S3CRET");
  const read = new Response("read");
  await read.text();
  const start = (stream: ReadableStreamDefaultController) => stream.enqueue(new Uint8Array(9));
  const pull = (stream: ReadableStreamDefaultController) => stream.error(error);
  await using server = await serve({
    "GET -throws": () => {
      throw error;
    },
    "GET -rejects": () => Promise.reject(error),
    "GET -used": () => read,
    "GET -bigint": () => 1n,
    "GET -breaks": () => new Response(new ReadableStream({ start, pull })),
    "GET -fails": () => Response.error(),
  });
  const text = '{"error":"A route of the sandbox threw an error"}';
  const [used, bigint] = [expect.any(TypeError), expect.any(TypeError)];
  for (const [path, thrown] of Object.entries({ throws: error, rejects: error, used, bigint })) {
    expect(await ask(`${server.url}-${path}`)).toMatchObject({ status: 500, text });
    const report = { method: "GET", path: `/-${path}`, status: 500, error: thrown };
    expect(server.responses.pop()).toEqual(report);
  }
  await expect(ask(`${server.url}-breaks`)).rejects.toThrow();
  const client = createClient({ baseUrl: server.url, apiKey: DEMO_KEY, retries: 0 });
  await expect(client.call("GET", "-fails")).rejects.toMatchObject({ code: "network" });
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
  await new Promise((resolve) => kept.on("data", resolve)); // it is kept for another request
  await running;
  await Promise.all([server.close(), server.close(), hung, keptClosed]);
  await server[Symbol.asyncDispose]();
  await expect(createClient({ baseUrl: server.url, retries: 0 }).checkKey("key")).rejects
    .toMatchObject({ code: "network" });
});

Deno.test("serveSandbox() refuses bad arguments and where it cannot listen, and says why", async () => {
  await using server = await serveSandbox();
  const sandbox = createSandbox();
  const port = Number(new URL(server.url).port);
  const isHost = /^"host" must be a host name or an IP address, without a zone$/;
  const isPort = /^"port" must be a whole number from 0 to 65535$/;
  const bad: [unknown, unknown, RegExp][] = [
    [{ port: 8080 }, {}, /^"sandbox" must be a result of createSandbox\(\)$/],
    [null, {}, /^"sandbox" must be/],
    [sandbox, null, /^"options" must be an object, such as \{ host, port \}, not null$/],
    [sandbox, { prot: 8080 }, /^"prot" is not an option of serveSandbox\(\), which has host, port/],
    [sandbox, { onResponse: "log" }, /^"onResponse" must be a function, not a string$/],
    [sandbox, { port }, /^"port" \d+ is in use on "127\.0\.0\.1"; choose another one, or 0 for/],
  ];
  for (const host of ["no.such.host.invalid", "203.0.113.1"]) {
    bad.push([sandbox, { host }, new RegExp(`^"host" "${host}" cannot be listened on: .`)]);
  }
  for (const host of ["", 1, "fe80::1%eth0", "[::1]", "127.0.0.1:80", "a b"]) {
    bad.push([sandbox, { host }, isHost]);
  }
  for (const port of [-1, 65_536, 1.5, "8080", null]) bad.push([sandbox, { port }, isPort]);
  for (const [sandbox, options, message] of bad) {
    const refused = serveSandbox(sandbox as never, options as never);
    const error = await rejection(ConfigurationError, refused);
    expect(error.message).toMatch(message);
    expect(error.message).toMatch(new RegExp(`^"${error.option}" `));
  }
});

Deno.test("serveSandbox() serves anything with the fetch of a sandbox", async () => {
  const busy = (request: Request) => Promise.resolve(new Response(request.method, { status: 503 }));
  await using server = await serveSandbox({ ...createSandbox(), fetch: busy });
  expect(await ask(server.url)).toMatchObject({ status: 503, text: "GET" });
});
