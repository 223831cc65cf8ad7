// The data of a 2xx response is what the document or the schema says; otherwise an error has it.
import { expect } from "@std/expect";
import { type } from "arktype";
import { Buffer } from "node:buffer";
import * as v from "valibot";
import { z } from "zod";

import { InvalidResponseError } from "../mod.ts";
import {
  addGeneratedOperation,
  clientAt,
  clientOf,
  schemaOf,
  undocumented,
} from "./support/client.ts";
import { rejection, rejections } from "./support/rejection.ts";
import { json, serve, serveBytes } from "./support/server.ts";
import { assertType, type Equal } from "./support/types.ts";

const path = `/${undocumented}`;

// What the document says

const mustBeOne = (value: unknown) => value === 1 ? undefined : { path: "/a", rule: "const" };

Deno.test("GET() checks a response as the document says of its status", async () => {
  await using server = await serve(({ headers }, response) => {
    const status = Number(headers["x-status"]);
    response.writeHead(status).end(status === 204 ? undefined : headers["x-body"]);
  });
  const client = clientAt(server);
  const init = (status: number, body: string) => ({
    headers: { "x-status": `${status}`, "x-body": body },
  });
  const get = async (status: number, body: string) =>
    (await client.GET(path, init(status, body))).data;
  const refuse = async (status: number, body: string) => {
    const error = await rejection(InvalidResponseError, get(status, body));
    return [
      error.code,
      ...error.issues.map(({ path, rule }) => ({ path, rule })),
      error.response.body,
    ];
  };
  const responses = { 200: mustBeOne, 202: undefined, 204: undefined };
  using _operation = addGeneratedOperation(undocumented, responses);
  expect(await get(200, "1")).toBe(1);
  // The document has no content for these.
  for (const [status, body] of [[202, '"any"'], [202, ""], [204, ""]] as const) {
    expect(await get(status, body)).toBe(undefined);
  }
  const code = "invalid_response";
  expect(await refuse(200, '{"b":2}')).toEqual([code, { path: "/a", rule: "const" }, { b: 2 }]);
  expect(await refuse(200, "")).toEqual([code, { path: "", rule: "empty" }, ""]);
  expect(await refuse(201, "1")).toEqual([code, { path: "", rule: "status" }, 1]);
  const others = { "200": undefined, "2XX": mustBeOne };
  using _replaced = addGeneratedOperation(undocumented, others);
  expect([await get(200, "2"), await get(299, "1")]).toEqual([undefined, 1]);
  expect(await refuse(201, "2")).toEqual([code, { path: "/a", rule: "const" }, 2]);
  // The document does not concern call().
  expect((await client.call("GET", undocumented, init(201, "2"))).data).toBe(2);
});

// What is JSON

Deno.test("methods refuse what is not JSON, whatever its type, and do not retry", async () => {
  const bodies = ["<!doctype html><title>text</title>", '{"text":', '{} "text"', " \n"];
  for (const body of bodies) {
    for (const type of ["text/HTML; charset=utf-8", "application/json"]) {
      let sent = 0;
      const headers = { "content-type": type };
      const client = clientOf(() => (sent++, new Response(body, { headers })));
      const calls = [client.call("GET", undocumented), client.GET(path)];
      for (const { issues, response } of await rejections(InvalidResponseError, calls)) {
        expect([issues[0]!.rule, response.body]).toEqual(["json", body]);
      }
      expect(sent).toBe(2);
    }
  }
});

Deno.test("call() reads JSON with any label, white space, a byte-order mark", async () => {
  const headers = { "content-type": "text/html; charset=iso-8859-1" };
  const client = clientOf(() => new Response('\ufeff \n{"a":"ü"}\r\n', { headers }));
  expect((await client.call("GET", undocumented)).data).toEqual({ a: "ü" });
});

// What servers send and runtimes receive

Deno.test("methods drop content with 204 and 205, which HTTP does not allow", async () => {
  let status = 0;
  await using server = await serveBytes((socket) => {
    socket.end(`HTTP/1.1 ${status} OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n42`);
  });
  const client = clientAt(server, { retries: 0 });
  for (status of [200, 204, 205]) {
    const expected = status < 204 ? 42 : undefined;
    expect((await client.call("GET", undocumented)).data).toBe(expected);
    expect((await client.GET(path)).data).toBe(expected);
  }
});

Deno.test("methods take a reason phrase that new Response() refuses", async () => {
  const phrases = [Buffer.from("Non trouv\xe9", "latin1"), Buffer.from("Не найдено")];
  let [status, phrase] = [0, phrases[0]!];
  await using server = await serveBytes((socket) => {
    socket.write(`HTTP/1.1 ${status} `);
    socket.write(phrase);
    socket.end('\r\nConnection: close\r\nContent-Length: 7\r\n\r\n["a"]  ');
  });
  const client = clientAt(server);
  for (phrase of phrases) {
    for (status of [201, 404]) {
      const { data, error, response } = await client.GET(path);
      expect([response.status, data ?? error]).toEqual([status, ["a"]]);
    }
  }
});

// What a schema says

Deno.test("call() resolves to the schema's output, with its type", async () => {
  const client = clientOf(() => Response.json({ id: 7, at: "2026-01-02T00:00:00.000Z" }));
  const zod = z.object({ id: z.number(), at: z.string().transform((text) => new Date(text)) });
  const valibot = v.object({
    id: v.number(),
    at: v.pipe(v.string(), v.transform((text) => new Date(text))),
  });
  const arktype = type({ id: "number", at: "string.date.parse" });
  const fromZod = (await client.call("GET", undocumented, { schema: zod })).data;
  const fromValibot = (await client.call("GET", undocumented, { schema: valibot })).data;
  const fromArktype = (await client.call("GET", undocumented, { schema: arktype })).data;
  assertType<Equal<typeof fromZod, { id: number; at: Date }>>();
  assertType<Equal<typeof fromValibot, { id: number; at: Date }>>();
  assertType<Equal<typeof fromArktype, { id: number; at: Date }>>();
  expect([fromZod, fromValibot, fromArktype])
    .toEqual(Array(3).fill({ id: 7, at: new Date("2026-01-02") }));
});

Deno.test("call() rejects with the schema's paths and messages when the schema rejects", async () => {
  const value = { list: [{ "a/b~c": "text" }] };
  await using server = await serve((_, response) => json(response, value));
  const schemas = [
    z.object({ list: z.array(z.object({ "a/b~c": z.number() })) }),
    v.object({ list: v.array(v.object({ "a/b~c": v.number() })) }),
    type({ list: type({ "a/b~c": "number" }).array() }),
  ];
  const client = clientAt(server);
  const calls = schemas.map((schema) => client.call("GET", undocumented, { schema }));
  for (const { issues, message, response } of await rejections(InvalidResponseError, calls)) {
    expect(response.body).toEqual(value);
    const reason = expect.stringMatching(/number/);
    expect(issues).toEqual([{ path: "/list/0/a~1b~0c", rule: "schema", message: reason }]);
    expect(message).toContain(`: /list/0/a~1b~0c: ${issues[0]!.message}`);
  }
  expect(server.requests.length).toBe(3); // An invalid response is not retried.
});

Deno.test("call() passes undefined to the schema when there is no content", async () => {
  for (const status of [200, 204]) {
    const client = clientOf(() => new Response(null, { status }));
    const schema = z.undefined().transform(() => "gone");
    expect((await client.call("DELETE", undocumented, { schema })).data).toBe("gone");
    const call = client.call("DELETE", undocumented, { schema: z.object({}) });
    await rejection(InvalidResponseError, call);
  }
});

Deno.test("call() takes every form of an issue's path that Standard Schema allows", async () => {
  const paths: [unknown, string][] = [
    [undefined, ""],
    [[], ""],
    [[""], "/"],
    [["a", 0, { key: "b" }, { key: 1 }], "/a/0/b/1"],
    [[Symbol("s"), { key: Symbol("t") }], "/Symbol(s)/Symbol(t)"],
  ];
  const client = clientOf(() => Response.json(1));
  for (const [path, expected] of paths) {
    const schema = schemaOf(() => ({ issues: [{ message: "m", path }] }));
    const call = client.call("GET", undocumented, { schema });
    const { issues } = await rejection(InvalidResponseError, call);
    expect(issues).toEqual([{ path: expected, rule: "schema", message: "m" }]);
  }
});

Deno.test("call() keeps at most 100 issues", async () => {
  const client = clientOf(() => Response.json(Array(1_000).fill("x")));
  const call = client.call("GET", undocumented, { schema: z.array(z.number()) });
  const { issues } = await rejection(InvalidResponseError, call);
  expect(issues.length).toBe(100);
});

Deno.test("InvalidResponseError has the whole body of a 2xx response, which was paid for", async () => {
  const paid = Array.from({ length: 20_000 }, (_, index) => `line ${index}`); // over 64 KiB
  const client = clientOf(() => Response.json(paid));
  const call = client.call("GET", undocumented, { schema: z.array(z.number()) });
  expect((await rejection(InvalidResponseError, call)).response.body).toEqual(paid);
});
