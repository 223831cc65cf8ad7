import { expect } from "@std/expect";
import { once } from "node:events";
import { connect } from "node:net";
import { ConfigurationError, createClient } from "../mod.ts";
import { createSandbox, DEMO_KEY, type SandboxRoute } from "../src/sandbox/service.ts";
import { type SandboxResponse, serveSandbox } from "../src/sandbox/server.ts";
import { keyHeader } from "./client.ts";
import { apiKeyHeader } from "../src/generated/operations.ts";

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
    expect(await client.checkKey()).toEqual({ apiKeyValid: true, data: { credits: 100 } });
    await expect(client.call("GET", "report")).rejects.toMatchObject({ status: 404 });
  }
});

Deno.test("serveSandbox() streams request bodies and response bodies", async () => {
  let send!: ReadableStreamDefaultController<Uint8Array>;
  const receive: ((text: string) => void)[] = [];
  const received = [0, 1].map(() => new Promise<string>((resolve) => receive.push(resolve)));
  await using server = await serve({
    "POST chat": (request) => {
      const decoder = new TextDecoder();
      const reader = request.body!.getReader();
      return new Response(
        new ReadableStream({
          async pull(stream) {
            const { done, value } = await reader.read();
            if (done) return stream.close();
            receive.shift()!(decoder.decode(value));
            stream.enqueue(value);
          },
        }),
      );
    },
  });
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (send = controller) });
  const encoder = new TextEncoder();
  const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  const responded = fetch(`${server.url}chat`, init);
  send.enqueue(encoder.encode("one"));
  expect(await received[0]).toBe("one"); // the request is not at its end
  const response = await responded;
  const reader = response.body!.getReader();
  expect((await reader.read()).value).toEqual(encoder.encode("one")); // nor is the response
  send.enqueue(encoder.encode("two"));
  expect(await received[1]).toBe("two");
  expect((await reader.read()).value).toEqual(encoder.encode("two"));
  send.close();
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
  const chunked = (size: number) => {
    let left = size;
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        const length = Math.min(left, 65_536);
        if (length === 0) return controller.close();
        left -= length;
        controller.enqueue(new Uint8Array(length));
      },
    });
  };
  const upload = async (path: string, body: BodyInit) => {
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
    const response = await fetch(server.url + path, init);
    return [response.status, await response.text()];
  };
  const tooLarge = [413, '{"error":"The request body has more than 10 MiB"}'];
  expect(await upload("upload", new Uint8Array(limit))).toEqual([204, ""]);
  expect(await upload("upload", chunked(limit))).toEqual([204, ""]);
  expect(await upload("upload", new Uint8Array(limit + 1))).toEqual(tooLarge);
  expect(await upload("upload", chunked(limit + 1))).toEqual(tooLarge);
  expect(sizes).toEqual([limit, limit]);
  expect((await upload("unread", chunked(limit * 2)))[0]).toBe(404); // the body is not read
  const client = createClient({ baseUrl: server.url });
  expect((await client.checkKey(DEMO_KEY)).apiKeyValid).toBe(true);
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
  for (
    const line of ["rubbish", "GET", "GET nowhere HTTP/1.1", "GET / HTTP/9.9", "\x16\x03\x01\x00"]
  ) {
    expect([line, await raw(url, `${line}\r\n\r\n`)]).toEqual([
      line,
      expect.stringMatching(/^HTTP\/1\.1 400 /),
    ]);
  }
  const head = `Host: x\r\n${keyHeader}: demo-key\r\nConnection: close\r\n`;
  for (
    const target of ["http://other.example/report", "//other.example/report", "/%zz/%", "/%00"]
  ) {
    const received = await raw(url, `GET ${target} HTTP/1.1\r\n${head}\r\n`);
    expect([target, received]).toEqual([target, expect.stringMatching(/^HTTP\/1\.1 404 /)]);
  }
  expect(await raw(url, `TRACE /a HTTP/1.1\r\n${head}\r\n`)).toMatch(/^HTTP\/1\.1 40[04] /);
  expect(await raw(url, `CONNECT other.example:443 HTTP/1.1\r\n${head}\r\n`)).toBe("");
  const count = responses.length;

  for (const path of ["wait", "read"]) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`POST /${path} HTTP/1.1\r\n${head}Content-Length: 9\r\n\r\n{`);
    await once(socket, "connect");
    while (path === "wait" && aborted.length === 0) await new Promise((go) => setTimeout(go, 5));
    socket.destroy();
  }
  await Promise.all(aborted);
  const client = createClient({ baseUrl: url });
  expect((await client.checkKey(DEMO_KEY)).apiKeyValid).toBe(true);
  expect(responses.slice(count)).toEqual([{ method: "POST", path: "/checkKey", status: 200 }]);
});

Deno.test("serveSandbox() responds with 400 to invalid JSON", async () => {
  await using server = await serve();
  const response = await fetch(`${server.url}checkKey`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: '{"apiKey":',
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    error: 'The body must be a JSON object with a string "apiKey"',
  });
});

Deno.test("serveSandbox() responds with 500 when a route throws, and passes the error to onResponse", async () => {
  const error = new Error("S3CRET");
  const used = new Response("used");
  await used.text();
  await using server = await serve({
    "GET throws": () => {
      throw error;
    },
    "GET rejects": () => Promise.reject(error),
    "GET used": () => used,
    "GET bigint": () => 1n,
    "GET breaks": () =>
      new Response(
        new ReadableStream({
          start: (stream) => stream.enqueue(new Uint8Array(9)),
          pull: (stream) => stream.error(error),
        }),
      ),
    "GET fails": () => Response.error(),
  });
  for (const path of ["throws", "rejects", "used", "bigint"]) {
    const response = await fetch(server.url + path, { headers });
    expect([path, response.status, await response.text()]).toEqual([
      path,
      500,
      '{"error":"A route of the sandbox threw an error"}',
    ]);
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
  const detailed = await preflight({
    "Origin": "https://page.example",
    "Access-Control-Request-Method": "PATCH",
    "Access-Control-Request-Headers": `content-type,${keyHeader},x-other`,
    "Access-Control-Request-Private-Network": "true",
  });
  const allowed = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "PATCH",
    "access-control-allow-headers": `content-type,${keyHeader},x-other`,
    "access-control-allow-private-network": "true",
  };
  expect([detailed.status, await detailed.text()]).toEqual([204, ""]);
  expect(Object.fromEntries(detailed.headers)).toMatchObject(allowed);
  const plain = await preflight({
    "Origin": "null",
    "Access-Control-Request-Method": "GET",
  });
  expect(plain.headers.get("access-control-allow-headers")).toBe(`${apiKeyHeader}, Content-Type`);
  expect(plain.headers.has("access-control-allow-private-network")).toBe(false);

  const statuses: number[] = [];
  for (
    const [path, init] of [["report", { headers }], ["report", {}], ["x", { headers }]] as const
  ) {
    const response = await fetch(server.url + path, init);
    statuses.push(response.status);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-expose-headers")).toBe("*");
    await response.text();
  }
  expect(statuses).toEqual([200, 401, 404]);
  const noPreflight = await preflight({});
  expect([noPreflight.status, typeof await noPreflight.text()]).toEqual([401, "string"]);
});

Deno.test("onResponse() gets method, path and status, and never a key", async () => {
  const responses: SandboxResponse[] = [];
  const keys = { "S3CRET": 1, "S3/CRET é": 1, "a+b c": 1, "café": 1, "demo-key": 1 };
  await using server = await serveSandbox(createSandbox({ keys }), {
    onResponse: (response) => responses.push(response),
  });
  const cases = {
    "checks?key=S3CRET": "/checks",
    "checks/100%/%zz": "/checks/100%/%zz",
    "keys/S3CRET/report": "/keys/[redacted]/report",
    "keys/id-%53%33CRET.json": "/keys/[redacted]",
    "%zz%533CRET/%e9%53%33CRET": "/[redacted]/[redacted]",
    "%4demo-key/%zz%64emo-key": "/[redacted]/[redacted]",
    "keys/S3%2FCRET%20%C3%A9": "/keys/[redacted]",
    "keys/S3/CRET%20%c3%a9/report": "/[redacted]",
    "keys/a%2Bb+c": "/keys/[redacted]",
    "keys/a%2bb%20c": "/keys/[redacted]",
    "keys/a+b%20c": "/keys/[redacted]",
    "keys/caf%C3%A9/caf%e9": "/keys/[redacted]/[redacted]",
    "keys/WRONG/OTHER": "/keys/[redacted]/[redacted]",
  };
  const sent = `Host: x\r\n${apiKeyHeader}: WRONG\r\n${keyHeader}: OTHER\r\nConnection: close\r\n`;
  for (const target of Object.keys(cases)) {
    expect(await raw(server.url, `GET /${target} HTTP/1.1\r\n${sent}\r\n`)).toMatch(/ 401 /);
  }
  expect(responses.map(({ path }) => path)).toEqual(Object.values(cases));
  expect(responses[0]).toEqual({ method: "GET", path: "/checks", status: 401 });
});

Deno.test("close() ends open connections and may be called again", async () => {
  const started: (() => void)[] = [];
  const running = new Promise<void>((resolve) => started.push(resolve));
  const server = await serve({
    "GET hang": () => {
      started[0]!();
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
    [{ port }, new RegExp(`^"port" ${port} is in use on "127.0.0.1"; choose another one`)],
    [
      { host: "no.such.host.invalid" },
      /cannot listen on "host" "no\.such\.host\.invalid" and "port" 0: /,
    ],
    [{ host: "203.0.113.1" }, /cannot listen on "host" "203\.0\.113\.1" and "port" 0: /],
  ];
  for (const [options, message] of refused) {
    const error = await serveSandbox(undefined, options).catch((error) => error);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(message);
    expect(error.option).toBe(Object.keys(options!)[0]);
  }
});

Deno.test("serveSandbox() refuses bad arguments by name", async () => {
  const sandbox = createSandbox();
  const bad: [unknown, unknown, RegExp][] = [
    [{ port: 8080 }, {}, /^"sandbox" must be a result of createSandbox\(\)$/],
    [null, {}, /^"sandbox" must be/],
    [{ fetch: sandbox.fetch }, {}, /^"sandbox" must be/],
    [sandbox, { host: "" }, /^"host" must be a host name or an IP address$/],
    [sandbox, { host: 1 }, /^"host" must be/],
    ...[-1, 65_536, 1.5, NaN, "8080", null].map((port): [unknown, unknown, RegExp] => [
      sandbox,
      { port },
      /^"port" must be a whole number from 0 to 65535$/,
    ]),
    [sandbox, { onResponse: "log" }, /^"onResponse" must be a function, not a string$/],
  ];
  for (const [sandbox, options, message] of bad) {
    const error = await serveSandbox(sandbox as never, options as never).catch((error) => error);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(message);
    expect(error.option).toBe(Object.keys(options as object)[0] ?? "sandbox");
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

Deno.test("serveSandbox() keeps a connection usable when a route does not read the body", async () => {
  const sandbox = createSandbox({ routes: { "POST ignore": () => ({}) } });
  await using server = await serveSandbox(sandbox);
  const body = new Uint8Array(2 ** 20);
  for (let count = 0; count < 40; count++) {
    const response = await fetch(`${server.url}${count % 2 ? "ignore" : "missing"}`, {
      method: "POST",
      headers: { [keyHeader]: "demo-key" },
      body,
      signal: AbortSignal.timeout(10_000),
    });
    await response.arrayBuffer();
    expect(response.status).toBe(count % 2 ? 200 : 404);
  }
});
