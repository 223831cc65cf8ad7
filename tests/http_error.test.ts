// Responses with a 4xx or 5xx status, and statuses that Response refuses.
import { expect } from "@std/expect";

import { createClient, HttpError } from "../mod.ts";
import { apiKey } from "./client.ts";
import { failure } from "./outcome.ts";
import { type AnyPath, serve, serveBytes } from "./server.ts";

const errorBodies: [string, unknown][] = [
  [`{"error":{"code":7}}`, { error: { code: 7 } }],
  [`\ufeff{"a":1}`, { a: 1 }],
  ["null", null],
  ["", ""],
  ["<h1>No</h1>", "<h1>No</h1>"],
  [`{"error":`, `{"error":`],
];

for (const status of [400, 401, 402, 403, 404, 405, 409, 410, 413, 418, 422, 451, 501, 505, 599]) {
  Deno.test(`methods keep headers and body of a response with status ${status}`, async () => {
    await using server = await serve(({ url }, response) => {
      const [body] = errorBodies[Number(url.slice(1))]!;
      response.writeHead(status, { "x-request-id": "r1", "set-cookie": ["a=1", "b=2"] }).end(body);
    });
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    for (const [index, [, body]] of errorBodies.entries()) {
      const error = await failure(HttpError, client.call("POST", `${index}`, { body: {} }));
      expect(error.code).toBe("http");
      expect(error.status).toBe(status);
      expect(error.headers.get("x-request-id")).toBe("r1");
      expect(error.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
      expect(error.body).toEqual(body);
      expect("retryAfter" in error).toBe(false);
      const result = await client.POST(`/${index}`, { body: {} });
      expect(result.response.status).toBe(status);
      expect(result.response.ok).toBe(false);
      expect(result.error).toEqual(body);
      expect(result.data).toBe(undefined);
    }
  });
}

Deno.test("methods keep the part that was read of an error that breaks off", async () => {
  await using server = await serve((_, response) => {
    response.writeHead(403, { "content-length": "100", "x-request-id": "r1" });
    response.write("<h1>No", () => setTimeout(() => response.socket!.destroy(), 20));
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const error = await failure(HttpError, client.call("GET", "report"));
  expect(error.status).toBe(403);
  expect(error.headers.get("x-request-id")).toBe("r1");
  expect(error.body).toBe("<h1>No");
  const result = await client.GET("/report");
  expect(result.response.status).toBe(403);
  expect(result.error).toBe("<h1>No");
  expect(server.requests.length).toBe(2);
});

Deno.test("call() cuts the body of an error at 64 KiB", async () => {
  await using server = await serve(({ url }, response) => {
    const [name, size] = url.slice(1).split("/");
    const bodies: Record<string, string> = {
      text: "€".repeat(Number(size)),
      json: JSON.stringify(["x".repeat(Number(size) - 4)]),
    };
    response.writeHead(400).end(bodies[name!]);
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  const body = async (path: string) => (await failure(HttpError, client.call("GET", path))).body;
  expect(await body(`text/${2 ** 20}`)).toBe("€".repeat(2 ** 16 / 3));
  expect(await body(`json/${2 ** 16}`)).toEqual(["x".repeat(2 ** 16 - 4)]);
  expect(await body(`json/${2 ** 16 + 1}`)).toBe(`["${"x".repeat(2 ** 16 - 3)}"`);
});

Deno.test("methods report a status that Response refuses", async () => {
  await using server = await serveBytes((socket) => {
    socket.end("HTTP/1.1 999 No\r\nContent-Length: 2\r\n\r\n[]");
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  const error = await failure(HttpError, client.call("GET", "report"));
  expect(error.status).toBe(999);
  expect(error.body).toEqual([]);
  for (let round = 0; round < 2; round++) {
    const result = await client.GET("/report");
    expect(result.error).toEqual([]);
    expect(result.response.status).toBe(999);
    expect(result.response.ok).toBe(false);
    client.use({ onResponse: ({ response }) => response });
  }
});

Deno.test("methods accept a reason phrase that Response refuses", async () => {
  await using server = await serveBytes((socket, count) => {
    const status = count % 2 ? 400 : 200;
    socket.end(`HTTP/1.1 ${status} Größe\u20ac\x80\r\nContent-Length: 2\r\n\r\n[]`);
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  for (let round = 0; round < 2; round++) {
    const { response, error } = await client.GET("/report");
    expect(response.status).toBe(400);
    expect(error).toEqual([]);
    expect((await client.GET("/report")).data).toEqual([]);
    client.use({ onResponse: ({ response }) => response });
  }
});
