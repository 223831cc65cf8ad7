// How the body of a 2xx response is read; http_error.test.ts reads those of errors.
import { expect } from "@std/expect";

import { createClient, HttpError, InvalidResponseError } from "../mod.ts";
import { operations } from "../src/generated/operations.ts";
import type { Operation } from "../src/operation.ts";
import { apiKey, undocumented } from "./client.ts";
import { failure } from "./outcome.ts";
import { type AnyPath, json, serve, serveBytes } from "./server.ts";

/** Adds an operation to the document, as long as the result is in use. */
function addOperation(responses: NonNullable<Operation["responses"]>) {
  const table = operations as Record<string, Operation>;
  const name = `GET /${undocumented}`;
  table[name] = { operationId: "test", apiKey: "required", idempotent: true, responses };
  return { [Symbol.dispose]: () => void delete table[name] };
}

const mustBeOne = (value: unknown) => value === 1 ? undefined : [{ path: "/a", rule: "const" }];

Deno.test("GET() checks a response as the document says of its status", async () => {
  await using server = await serve(({ headers }, response) => {
    const status = Number(headers["x-status"]);
    response.writeHead(status).end(status === 204 ? undefined : headers["x-body"]);
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const get = (status: number, body: string) => {
    const headers = { "x-status": status, "x-body": body };
    return client.GET(`/${undocumented}`, { headers });
  };
  const refuse = async (status: number, body: string) => {
    const error = await failure(InvalidResponseError, get(status, body));
    expect([error.code, error.status]).toEqual(["invalid_response", status]);
    return [...error.issues, error.message.split(": ").at(-1), error.body];
  };
  using _operation = addOperation({ 200: mustBeOne, 202: undefined, 204: undefined });
  expect((await get(200, "1")).data).toBe(1);
  expect((await get(202, '"any"')).data).toBe("any");
  expect((await get(202, "")).data).toBe(undefined);
  expect((await get(204, "")).data).toBe(undefined);
  const sentence = "/a does not match the document (const)";
  expect(await refuse(200, '{"b":2}')).toEqual([{ path: "/a", rule: "const" }, sentence, { b: 2 }]);
  expect(await refuse(200, "")).toEqual([{ path: "", rule: "empty" }, "the body is empty", ""]);
  expect(await refuse(201, "1")).toEqual([
    { path: "", rule: "status" },
    "the document has no status 201 for it",
    1,
  ]);
  using _replaced = addOperation({ "200": undefined, "2XX": mustBeOne });
  expect((await get(200, "2")).data).toBe(2);
  expect((await get(299, "1")).data).toBe(1);
  expect(await refuse(201, "2")).toEqual([{ path: "/a", rule: "const" }, sentence, 2]);
  expect(await client.call("GET", undocumented, { headers: { "x-status": 201, "x-body": "2" } }))
    .toBe(2); // which the document does not concern
});

const noJson: Record<string, string> = {
  "HTML": "<!doctype html><title>text</title>",
  "JSON that is cut off": '{"text":',
  "two values": '{} "text"',
  "white space": " \n",
};

for (const [kind, body] of Object.entries(noJson)) {
  Deno.test(`methods refuse ${kind}, and point to baseUrl`, async () => {
    await using server = await serve((_, response) => void response.end(body));
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    for (const call of [client.call("GET", undocumented), client.GET(`/${undocumented}`)]) {
      const error = await failure(InvalidResponseError, call);
      expect(error.issues).toEqual([{ path: "", rule: "json" }]);
      expect(error.message).toMatch(/: the body is not JSON, check "baseUrl"$/);
      expect(error.body).toBe(body);
    }
    expect(server.requests.length).toBe(2); // an invalid response is not retried
  });
}

Deno.test("call() says which content type is not JSON, and how to read it", async () => {
  await using server = await serve(({ url }, response) => {
    response.setHeader("content-type", decodeURIComponent(url.slice(1))).end("text");
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  for (
    const [type, expected] of [
      ["text/csv; charset=utf-8", /the body is "text\/csv" and not JSON; GET\(\) .* "parseAs"$/],
      [`text/${apiKey}`, /the body is "text\/" and not JSON/],
      ["application/problem+json", /the body is not JSON, check "baseUrl"$/],
      ["text/html; charset=utf-8", /the body is not JSON, check "baseUrl"$/],
    ] as const
  ) {
    const call = client.call("GET", encodeURIComponent(type));
    expect((await failure(InvalidResponseError, call)).message).toMatch(expected);
  }
});

Deno.test("call() reads JSON with any label, white space around it, and a byte-order mark", async () => {
  await using server = await serve(({ url }, response, count) => {
    if (url !== "/none") response.setHeader("content-type", decodeURIComponent(url.slice(1)));
    response.end(count % 2 ? '\ufeff{"a":"ü"}' : ' \n{"a":"ü"}\r\n');
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  for (const label of ["none", "application/json", "text/html; charset=iso-8859-1"]) {
    for (const _body of [1, 2]) {
      expect(await client.call("GET", encodeURIComponent(label))).toEqual({ a: "ü" });
    }
  }
});

Deno.test("methods change no prototype when JSON has __proto__", async () => {
  const pollution = `"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}`;
  await using server = await serve(({ url }, response) => {
    response.statusCode = Number(url.slice(1));
    response.end(`{"a":{${pollution}},"key":"${apiKey}",${pollution}}`);
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const data = await client.call("GET", "200");
  const { body } = await failure(HttpError, client.call("GET", "400"));
  const { error } = await client.GET("/400");
  for (const value of [data, body, error, {}] as Record<string, unknown>[]) {
    expect(value["polluted"]).toBe(undefined);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  }
});

Deno.test("GET() returns a body in the form that parseAs names", async () => {
  await using server = await serve((_, response) => json(response, [1]));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const get = async (parseAs: "json" | "text" | "blob" | "arrayBuffer" | "stream") =>
    (await client.GET(`/${undocumented}`, { parseAs })).data as unknown;
  expect(await get("json")).toEqual([1]);
  expect(await get("text")).toBe("[1]");
  expect(await (await get("blob") as Blob).text()).toBe("[1]");
  expect(new TextDecoder().decode(await get("arrayBuffer") as ArrayBuffer)).toBe("[1]");
  expect(await new Response(await get("stream") as ReadableStream).text()).toBe("[1]");
});

// Statuses with and without content

for (const status of [200, 202, 204, 205]) {
  Deno.test(`methods take ${status} without content as a success`, async () => {
    await using server = await serve(({ url }, response) => {
      const headers: Record<string, string> = url === "/announced" ? { "content-length": "0" } : {};
      response.writeHead(status, headers).end();
    });
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    for (const name of ["announced", "chunked"]) {
      expect(await client.call("POST", name, { body: {} })).toBe(undefined);
      for (const parseAs of ["json", "text"] as const) {
        const { data, response } = await client.GET(`/${name}`, { parseAs });
        expect([data || undefined, response.status]).toEqual([undefined, status]);
      }
    }
    client.use({ onResponse: ({ response }) => response });
    expect(await client.call("GET", "chunked")).toBe(undefined);
  });

  const action = status < 204 ? "returns" : "drops"; // as HTTP has no content with 204 and 205
  Deno.test(`call() ${action} the content of a response with ${status}`, async () => {
    await using server = await serveBytes((socket) => {
      socket.end(`HTTP/1.1 ${status} OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n42`);
    });
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
    const expected = status < 204 ? 42 : undefined;
    expect(await client.call("GET", undocumented)).toBe(expected);
    client.use({ onResponse: ({ response }) => response });
    expect(await client.call("GET", undocumented)).toBe(expected);
    expect((await client.GET(`/${undocumented}`)).data).toBe(expected);
  });
}

Deno.test("HEAD() and call() take a response to HEAD, which has no body", async () => {
  await using server = await serve(({ url }, response) => {
    response.writeHead(url === "/missing" ? 404 : 200, { "content-length": "100" }).end();
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  expect(await client.call("HEAD", undocumented)).toBe(undefined);
  for (const { data, response } of [await client.HEAD("/a"), await client.request("head", "/a")]) {
    expect(data).toBe(undefined);
    expect(response.headers.get("content-length")).toBe("100");
  }
  const error = await failure(HttpError, client.call("HEAD", "missing"));
  expect(error.body).toBe("");
});
