import { expect } from "@std/expect";
import { once } from "node:events";
import { connect } from "node:net";
import { ConfigurationError, createClient } from "../mod.ts";
import { createSandbox, DEMO_KEY, type SandboxRoute } from "../src/sandbox/service.ts";
import { type SandboxResponse, serveSandbox } from "../src/sandbox/server.ts";
import { checkKeyPath, keyHeader, undocumented } from "./client.ts";
import { deferred, failure } from "./outcome.ts";

/** Serves a sandbox with these routes, and records the calls of `onResponse`. */
async function serve(routes: Record<string, SandboxRoute> = {}) {
  const responses: SandboxResponse[] = [];
  const server = await serveSandbox(createSandbox({ routes }), {
    onResponse: (response) => responses.push(response),
  });
  return { ...server, responses };
}

const headers = { [keyHeader]: DEMO_KEY };

/** Sends bytes on a new connection; resolves to what arrives until the server closes it. */
async function raw(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let received = "";
  socket.setEncoding("latin1").on("data", (text) => received += text).on("error", () => {});
  socket.write(bytes, "latin1");
  await once(socket, "close");
  return received;
}

Deno.test("serveSandbox() serves a sandbox with the demo key by default", async () => {
  await using server = await serveSandbox();
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  for (const baseUrl of [server.url, `${server.url}any/base`]) {
    const client = createClient({ baseUrl, apiKey: DEMO_KEY });
    expect(await client.checkKey(DEMO_KEY)).toEqual({ apiKeyValid: true, data: { credits: 100 } });
    await expect(client.call("GET", undocumented)).rejects.toMatchObject({ status: 404 });
  }
});

Deno.test("serveSandbox() streams response bodies", async () => {
  let stream!: ReadableStreamDefaultController<Uint8Array>;
  await using server = await serve({
    "POST chat": () =>
      new Response(new ReadableStream({ start: (given) => void (stream = given) })),
  });
  const response = await fetch(`${server.url}chat`, { method: "POST", headers });
  const reader = response.body!.getReader();
  for (const text of ["one", "two"]) {
    stream.enqueue(new TextEncoder().encode(text));
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(text);
  }
  stream.close();
  expect((await reader.read()).done).toBe(true);
});

Deno.test("serveSandbox() passes on methods, headers, statuses and bodies unchanged", async () => {
  await using server = await serve({
    "PUT things/{id}": async (request, { params }) => {
      const sent = request.headers.get("x-sent");
      const query = new URL(request.url).search;
      const headers: [string, string][] = [["Set-Cookie", "a=1"], ["Set-Cookie", "b=2"]];
      const body = [params["id"], query, sent, await request.text()].join();
      return new Response(body, { status: 418, headers });
    },
    "DELETE things/{id}": () => undefined,
    "HEAD things": () => new Response(null, { headers: { "X-Count": "3" } }),
  });
  const url = `${server.url}things`;
  const put = await fetch(`${url}/caf%C3%A9%2F1?a=b`, {
    method: "PUT",
    headers: { ...headers, "X-Sent": "café" },
    body: "☂",
  });
  expect([put.status, await put.text()]).toEqual([418, "café/1,?a=b,café,☂"]);
  expect(put.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  const deleted = await fetch(`${url}/1`, { method: "DELETE", headers });
  expect([deleted.status, await deleted.text()]).toEqual([204, ""]);
  const head = await fetch(url, { method: "HEAD", headers });
  expect([head.status, head.headers.get("x-count")]).toEqual([200, "3"]);
  await head.body?.cancel();
});

Deno.test("serveSandbox() responds with 413 to a request body above 10 MiB", async () => {
  const sizes: number[] = [];
  await using server = await serve({
    "POST upload": async (request) => {
      sizes.push((await request.arrayBuffer()).byteLength);
    },
  });
  const limit = 10 * 2 ** 20;
  const chunked = (size: number) => new Blob([new Uint8Array(size)]).stream();
  const upload = async (body: BodyInit) => {
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
    const response = await fetch(`${server.url}upload`, init);
    return [response.status, await response.text()];
  };
  const tooLarge = [413, '{"error":"The request body has more than 10 MiB"}'];
  expect(await upload(new Uint8Array(limit))).toEqual([204, ""]);
  expect(await upload(chunked(limit))).toEqual([204, ""]);
  expect(await upload(new Uint8Array(limit + 1))).toEqual(tooLarge);
  expect(await upload(chunked(limit + 1))).toEqual(tooLarge);
  expect(sizes).toEqual([limit, limit]);
});

Deno.test("serveSandbox() survives requests that break off or are not HTTP", async () => {
  const aborted: Promise<unknown>[] = [];
  await using server = await serve({
    "POST wait": (request) => {
      const reason = new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      aborted.push(reason);
      return reason;
    },
    "POST read": (request) => request.text(),
  });
  const { url, responses } = server;
  for (const line of ["rubbish", "GET", "GET / HTTP/9.9", "\x16\x03\x01\x00"]) {
    expect(await raw(url, `${line}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
  }
  const head = `Host: x\r\n${keyHeader}: demo-key\r\nConnection: close\r\n`;
  for (const target of [`http://other.example/${undocumented}`, "//other.example/a", "/%zz/%00"]) {
    expect(await raw(url, `GET ${target} HTTP/1.1\r\n${head}\r\n`)).toMatch(/^HTTP\/1\.1 404 /);
  }
  expect(await raw(url, `TRACE /a HTTP/1.1\r\n${head}\r\n`)).toMatch(/^HTTP\/1\.1 40[04] /);
  const body = `GET /a HTTP/1.1\r\n${head}Content-Length: 2\r\n\r\n{}`;
  expect(await raw(url, body)).toMatch(/\r\n\{"error":"The request cannot be read"\}/);
  expect(await raw(url, `CONNECT other.example:443 HTTP/1.1\r\n${head}\r\n`)).toBe("");
  const count = responses.length;

  for (const [path, length] of [["wait", 1], ["read", 9]] as const) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`POST /${path} HTTP/1.1\r\n${head}Content-Length: ${length}\r\n\r\n{`);
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
  const used = new Response("used");
  await used.text();
  const breaks = () =>
    new ReadableStream({
      start: (stream) => stream.enqueue(new Uint8Array(9)),
      pull: (stream) => stream.error(error),
    });
  await using server = await serve({
    "GET throws": () => {
      throw error;
    },
    "GET rejects": () => Promise.reject(error),
    "GET used": () => used,
    "GET bigint": () => 1n,
    "GET breaks": () => new Response(breaks()),
    "GET fails": () => Response.error(),
  });
  for (const path of ["throws", "rejects", "used", "bigint"]) {
    const response = await fetch(server.url + path, { headers });
    expect([path, response.status]).toEqual([path, 500]);
    expect(await response.text()).toBe('{"error":"A route of the sandbox threw an error"}');
  }
  const expected = { method: "GET", status: 500, error };
  expect(server.responses.slice(0, 2)).toEqual([
    { ...expected, path: "/throws" },
    { ...expected, path: "/rejects" },
  ]);
  for (const { error } of server.responses.slice(2)) expect(error).toBeInstanceOf(TypeError);
  const broken = fetch(`${server.url}breaks`, { headers }).then((response) => response.text());
  await expect(broken).rejects.toThrow();
  const client = createClient({ baseUrl: server.url, apiKey: DEMO_KEY, retries: 0 });
  await expect(client.call("GET", "fails")).rejects.toMatchObject({ code: "network" });
});

Deno.test("serveSandbox() allows every origin and responds to preflights", async () => {
  await using server = await serve({
    "GET report": () => Response.json(1, { headers: { "Retry-After": "1" } }),
  });
  const preflight = (headers: Record<string, string>) =>
    fetch(`${server.url}api/report`, { method: "OPTIONS", headers });
  const response = await preflight({
    "Origin": "https://page.example",
    "Access-Control-Request-Method": "PATCH",
    "Access-Control-Request-Headers": `content-type,${keyHeader},x-other`,
  });
  expect([response.status, await response.text()]).toEqual([204, ""]);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "*",
    "access-control-allow-headers": "*, Authorization",
  });

  for (const [path, init, status] of [["report", { headers }, 200], ["x", {}, 401]] as const) {
    const response = await fetch(server.url + path, init);
    expect(response.status).toBe(status);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-expose-headers")).toBe("*");
    await response.text();
  }
  const noPreflight = await preflight({});
  expect([noPreflight.status, typeof await noPreflight.text()]).toEqual([401, "string"]);
});

Deno.test("onResponse() gets method, path and status", async () => {
  await using server = await serve();
  for (const path of ["checks?key=value", "checks/100%/%C3%A9", "//a/"]) {
    await fetch(server.url + path).then((response) => response.text());
  }
  const paths = ["/checks", "/checks/100%/%C3%A9", "///a/"];
  expect(server.responses).toEqual(paths.map((path) => ({ method: "GET", path, status: 401 })));
});

Deno.test("close() ends open connections and may be called again", async () => {
  const { promise: running, resolve } = deferred();
  const server = await serve({
    "GET hang": () => {
      resolve();
      return new Promise(() => {});
    },
  });
  const hanging = fetch(`${server.url}hang`, { headers });
  const hung = expect(hanging).rejects.toThrow();
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

Deno.test("serveSandbox() rejects when it cannot listen, and says why", async () => {
  await using server = await serveSandbox();
  const port = Number(new URL(server.url).port);
  const refused: [Parameters<typeof serveSandbox>[1], RegExp][] = [
    [{ port }, /^"port" \d+ is in use on "127\.0\.0\.1"; choose another one, or 0 for/],
    [
      { host: "no.such.host.invalid" },
      /^"host" "no\.such\.host\.invalid" cannot be listened on: ./,
    ],
    [{ host: "203.0.113.1" }, /^"host" "203\.0\.113\.1" cannot be listened on: ./],
  ];
  for (const [options, message] of refused) {
    const error = await failure(ConfigurationError, serveSandbox(undefined, options));
    expect(error.message).toMatch(message);
    expect(error.option).toBe(Object.keys(options!)[0]);
  }
});

Deno.test("serveSandbox() refuses bad arguments by name", async () => {
  const sandbox = createSandbox();
  const isHost = /^"host" must be a host name or an IP address, without a zone$/;
  const isPort = /^"port" must be a whole number from 0 to 65535$/;
  const bad: [unknown, object, RegExp][] = [
    [{ port: 8080 }, {}, /^"sandbox" must be a result of createSandbox\(\)$/],
    [null, {}, /^"sandbox" must be/],
    ...["", 1, "fe80::1%eth0", "[::1]", "127.0.0.1:80", "a b"].map((host) =>
      [sandbox, { host }, isHost] as [unknown, object, RegExp]
    ),
    ...[-1, 65_536, 1.5, "8080", null].map((port) =>
      [sandbox, { port }, isPort] as [unknown, object, RegExp]
    ),
    [sandbox, { onResponse: "log" }, /^"onResponse" must be a function, not a string$/],
  ];
  for (const [sandbox, options, message] of bad) {
    const refused = serveSandbox(sandbox as never, options as never);
    const error = await failure(ConfigurationError, refused);
    expect(error.message).toMatch(message);
    expect(error.option).toBe(Object.keys(options)[0] ?? "sandbox");
  }
});

Deno.test("serveSandbox() returns a URL that reaches it for any host", async () => {
  for (const [host, address] of [["0.0.0.0", "127.0.0.1"], ["localhost", "localhost"]] as const) {
    await using server = await serveSandbox(undefined, { host });
    expect(new URL(server.url).hostname).toBe(address);
    const client = createClient({ baseUrl: server.url });
    expect((await client.checkKey(DEMO_KEY)).apiKeyValid).toBe(true);
  }
});
