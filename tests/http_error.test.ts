// Responses with a 4xx or 5xx status.
import { expect } from "@std/expect";

import { createClient, HttpError, NetworkError } from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { apiKey, baseUrl, isDeno, sendAll, undocumented } from "./client.ts";
import { createClock } from "./clock.ts";
import { failure } from "./outcome.ts";
import { type AnyPath, serve, serveBytes } from "./server.ts";

const bodies: [string, unknown][] = [
  [`{"error":{"code":7}}`, { error: { code: 7 } }],
  [`\ufeff{"a":1}`, { a: 1 }],
  ["null", null],
  ["", ""],
  ["<h1>No</h1>", "<h1>No</h1>"],
  [`{"error":`, `{"error":`],
  ["[".repeat(30_000) + "]".repeat(30_000), expect.anything()], // as JSON or as text
];

Deno.test("methods keep status, headers and body of a 4xx or 5xx response", async () => {
  await using server = await serve(({ url }, response) => {
    const [, status, index] = url.split("/").map(Number);
    const headers = { "x-request-id": "r1", "set-cookie": ["a=1", "b=2"] };
    response.writeHead(status!, headers).end(bodies[index!]![0]);
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  for (const status of [400, 401, 404, 451, 501, 599]) {
    for (const [index, [, body]] of bodies.entries()) {
      const name = `${status}/${index}`;
      const error = await failure(HttpError, client.call("POST", name, { body: {} }));
      expect([error.code, error.status, error.body]).toEqual(["http", status, body]);
      expect(error.headers.get("x-request-id")).toBe("r1");
      expect(error.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
      expect("retryAfter" in error).toBe(false);
      const result = await client.POST(`/${name}`, { body: {} });
      expect([result.response.status, result.error, result.data]).toEqual([
        status,
        body,
        undefined,
      ]);
    }
  }
});

Deno.test("methods keep the part that was read of an error that breaks off", async () => {
  const fetch = () => {
    const chunks = [new TextEncoder().encode("<h1>No")];
    const body = new ReadableStream({
      pull(controller) {
        const chunk = chunks.pop();
        if (chunk) controller.enqueue(chunk);
        else controller.error(new Error("boom"));
      },
    });
    return Promise.resolve(new Response(body, { status: 403, headers: { "x-id": "r1" } }));
  };
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch });
  const { status, headers, body } = await failure(HttpError, client.call("GET", undocumented));
  expect([status, headers.get("x-id"), body]).toEqual([403, "r1", "<h1>No"]);
  const { response, error } = await client.GET(`/${undocumented}`);
  expect([response.status, error]).toEqual([403, "<h1>No"]);
});

Deno.test("HttpError has the body's first 64 KiB, as text when it is longer", async () => {
  await using server = await serve(({ url }, response) => {
    const [name, size] = url.slice(1).split("/");
    const bodies: Record<string, string> = {
      text: "€".repeat(Number(size)),
      json: '["x"]'.padEnd(Number(size)),
    };
    response.writeHead(400).end(bodies[name!]);
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  const body = async (path: string) => (await failure(HttpError, client.call("GET", path))).body;
  expect(await body(`text/${2 ** 20}`)).toBe("€".repeat(2 ** 16 / 3)); // no part of a character
  expect(await body(`json/${2 ** 16}`)).toEqual(["x"]);
  expect(await body(`json/${2 ** 16 + 1}`)).toBe('["x"]'.padEnd(2 ** 16));
});

Deno.test("methods report a status when Headers refuses a header of the response", async () => {
  await using server = await serveBytes((socket) => {
    const headers = "Connection: close\r\nContent-Length: 2\r\nnot a name: x\r\nX-Other: y\r\n";
    socket.end(`HTTP/1.1 503 No\r\n${headers}\r\n[]`);
  });
  const client = createClientWith<AnyPath>({ baseUrl: server.url, apiKey }, createClock());
  const [checked, called, got] = await Promise.allSettled(sendAll(client));
  for (const { reason } of [checked, called] as PromiseRejectedResult[]) {
    expect(reason).toBeInstanceOf(isDeno ? NetworkError : HttpError); // Deno's parser refuses it
    if (isDeno) continue;
    expect([reason.status, reason.body, reason.headers.get("x-other")]).toEqual([503, [], "y"]);
  }
  if (!isDeno) expect(got).toMatchObject({ value: { error: [], response: { status: 503 } } });
  expect(server.count).toBe(3 * 3);
});
