// How the body of a 2xx response is read; http_error.test.ts reads those of errors.
import { expect } from "@std/expect";

import { InvalidResponseError } from "../mod.ts";
import { addOperation, apiKey, testBothWays, undocumented } from "./support/client.ts";
import { rejection, rejections } from "./support/rejection.ts";
import { serve, serveBytes } from "./support/server.ts";

const mustBeOne = (value: unknown) => value === 1 ? undefined : [{ path: "/a", rule: "const" }];

testBothWays("GET() checks a response as the document says of its status", async (create) => {
  await using server = await serve(({ headers }, response) => {
    const status = Number(headers["x-status"]);
    response.writeHead(status).end(status === 204 ? undefined : headers["x-body"]);
  });
  const client = create({ baseUrl: server.url, apiKey });
  const get = (status: number, body: string) => {
    const headers = { "x-status": status, "x-body": body };
    return client.GET(`/${undocumented}`, { headers });
  };
  const refuse = async (status: number, body: string) => {
    const error = await rejection(InvalidResponseError, get(status, body));
    expect([error.code, "status" in error]).toEqual(["invalid_response", false]);
    return [...error.issues, error.message.split(": ").at(-1), error.response.body];
  };
  const responses = { 200: mustBeOne, 202: undefined, 204: undefined };
  using _operation = addOperation(undocumented, { responses });
  expect((await get(200, "1")).data).toBe(1);
  expect((await get(202, '"any"')).data).toBe(undefined); // which the document does not list
  expect((await get(202, "")).data).toBe(undefined);
  expect((await get(204, "")).data).toBe(undefined);
  const sentence = "does not match the OpenAPI document (const)";
  expect(await refuse(200, '{"b":2}')).toEqual([{ path: "/a", rule: "const" }, sentence, { b: 2 }]);
  expect(await refuse(200, "")).toEqual([{ path: "", rule: "empty" }, "the body is empty", ""]);
  expect(await refuse(201, "1")).toEqual([
    { path: "", rule: "status" },
    "the OpenAPI document has no status 201 for this operation",
    1,
  ]);
  const others = { "200": undefined, "2XX": mustBeOne };
  using _replaced = addOperation(undocumented, { responses: others });
  expect((await get(200, "2")).data).toBe(undefined);
  expect((await get(299, "1")).data).toBe(1);
  expect(await refuse(201, "2")).toEqual([{ path: "/a", rule: "const" }, sentence, 2]);
  expect(
    (await client.call("GET", undocumented, { headers: { "x-status": 201, "x-body": "2" } })).data,
  )
    .toBe(2); // which the document does not concern
});

testBothWays("methods refuse what is not JSON, and say what to do", async (create) => {
  let body = "";
  await using server = await serve(({ url }, response) => {
    response.setHeader("content-type", decodeURIComponent(url.slice(1))).end(body);
  });
  const client = create({ baseUrl: server.url, apiKey });
  for (body of ["<!doctype html><title>text</title>", '{"text":', '{} "text"', " \n"]) {
    for (const type of ["text/HTML; charset=utf-8", "application/json", "text/csv"]) {
      const endpoint = encodeURIComponent(type);
      const calls = [client.call("GET", endpoint), client.GET(`/${endpoint}`)];
      for (const error of await rejections(InvalidResponseError, calls)) {
        expect(error.issues).toEqual([{ path: "", rule: "json" }]);
        expect(error.message).toContain(
          `: the body is not JSON (${type}): check "baseUrl", or use a typed method with "parseAs"`,
        );
        expect(error.response.body).toBe(body);
      }
    }
  }
  expect(server.requests.length).toBe(24); // an invalid response is not retried
});

testBothWays("call() reads JSON with any label, white space, a byte-order mark", async (create) => {
  await using server = await serve((_, response, count) => {
    if (count % 3) response.setHeader("content-type", "text/html; charset=iso-8859-1");
    response.end(count % 2 ? '\ufeff{"a":"ü"}' : ' \n{"a":"ü"}\r\n');
  });
  const client = create({ baseUrl: server.url, apiKey });
  for (let round = 0; round < 6; round++) {
    expect((await client.call("GET", undocumented)).data).toEqual({ a: "ü" });
  }
});

testBothWays("calls at the same time get their own data", async (create) => {
  await using server = await serve(({ url }, response) => {
    response.write(`["${url}"`); // in two chunks, between which others arrive
    setTimeout(() => response.end("]"), 5);
  });
  const client = create({ baseUrl: server.url, apiKey });
  const paths = Array.from({ length: 50 }, (_, index) => `/${undocumented}/${index}`);
  const results = await Promise.all(
    paths.map((path, index) => index % 2 ? client.GET(path) : client.call("GET", path)),
  );
  expect(results.map(({ data }) => data)).toEqual(paths.map((path) => [path]));
});

// Statuses with and without content

testBothWays("methods drop content with 204 and 205, which HTTP does not allow", async (create) => {
  for (const status of [200, 202, 204, 205]) {
    await using server = await serveBytes((socket) => {
      socket.end(`HTTP/1.1 ${status} OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n42`);
    });
    const expected = status < 204 ? 42 : undefined;
    const client = create({ baseUrl: server.url, apiKey, retries: 0 });
    expect((await client.call("GET", undocumented)).data).toBe(expected);
    expect((await client.GET(`/${undocumented}`)).data).toBe(expected);
  }
});

testBothWays("HEAD() and call() take a response to HEAD, which has no body", async (create) => {
  await using server = await serve((_, response) => {
    response.setHeader("content-length", 100).end();
  });
  const client = create({ baseUrl: server.url, apiKey });
  expect((await client.call("HEAD", undocumented)).data).toBe(undefined);
  expect((await client.HEAD("/a")).response.headers.get("content-length")).toBe("100");
});

testBothWays("GET() says to set parseAs where the document has no JSON", async (create) => {
  await using server = await serve((_, response) => {
    response.setHeader("content-type", "text/csv").end("a,b");
  });
  const client = create({ baseUrl: server.url, apiKey });
  using _operation = addOperation(undocumented, { responses: { 200: "text/csv" } });
  const { issues, message } = await rejection(InvalidResponseError, client.GET(`/${undocumented}`));
  expect(issues).toEqual([{ path: "", rule: "json" }]);
  expect(message).toMatch(/the body is text\/csv, not JSON: set "parseAs"$/);
  expect((await client.GET(`/${undocumented}`, { parseAs: "text" })).data).toBe("a,b");
});
