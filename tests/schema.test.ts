// call() with a schema: real Zod, Valibot and ArkType, and schemas made by hand.
import { expect } from "@std/expect";
import { type } from "arktype";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as v from "valibot";
import { z } from "zod";

import { ConfigurationError, createClient, InvalidResponseError, TimeoutError } from "../mod.ts";
import { apiKey, baseUrl } from "./client.ts";
import { caught, failure, shown } from "./outcome.ts";
import { json, serve } from "./server.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;

/** Fails to compile unless its type argument is `true`. */
function assertType<_T extends true>(): void {}

/** Makes a schema of a function that validates. */
function schemaOf(validate: (value: unknown) => unknown): StandardSchemaV1 {
  return { "~standard": { version: 1, vendor: "test", validate: validate as never } };
}

const boom = () => {
  throw new RangeError(`boom ${apiKey}`);
};

/** An object with a getter that throws. */
const throwing = (name: string, rest = {}) =>
  Object.defineProperty({ ...rest }, name, { get: boom });

/** Serves one response to everything. */
async function serveJson(value: unknown) {
  const server = await serve((_, response) => json(response, value));
  return { server, client: createClient({ baseUrl: server.url, apiKey }) };
}

Deno.test("call() resolves to the schema's output, with its type", async () => {
  const { server, client } = await serveJson({ id: 7, at: "2026-01-02T00:00:00.000Z" });
  await using _ = server;
  const zod = z.object({ id: z.number(), at: z.string().transform((text) => new Date(text)) });
  const valibot = v.object({
    id: v.number(),
    at: v.pipe(v.string(), v.transform((text) => new Date(text))),
  });
  const arktype = type({ id: "number", at: "string.date.parse" });
  for (const schema of [zod, valibot, arktype]) {
    const data = await client.call("GET", "report", { schema: schema as typeof zod });
    assertType<Equal<typeof data, { id: number; at: Date }>>();
    expect(data).toEqual({ id: 7, at: new Date("2026-01-02") });
  }
  const fromValibot = await client.call("GET", "report", { schema: valibot });
  assertType<Equal<typeof fromValibot, { id: number; at: Date }>>();
  const fromArktype = await client.call("GET", "report", { schema: arktype });
  assertType<Equal<typeof fromArktype, { id: number; at: Date }>>();
});

Deno.test("call() rejects with the schema's paths and messages when the schema rejects", async () => {
  const { server, client } = await serveJson({ list: [{ "a/b~c": "text" }] });
  await using _ = server;
  const schemas = [
    z.object({ list: z.array(z.object({ "a/b~c": z.number() })) }),
    v.object({ list: v.array(v.object({ "a/b~c": v.number() })) }),
    type({ list: type({ "a/b~c": "number" }).array() }),
  ];
  for (const schema of schemas) {
    const error = await failure(InvalidResponseError, client.call("GET", "report", { schema }));
    expect(error.status).toBe(200);
    expect(error.issues.map(({ path, rule }) => ({ path, rule }))).toEqual([
      { path: "/list/0/a~1b~0c", rule: "schema" },
    ]);
    expect(error.issues[0]!.message).toMatch(/number/);
    expect(error.message).toContain(`/list/0/a~1b~0c: ${error.issues[0]!.message}`);
  }
  expect(server.requests.length).toBe(schemas.length); // an invalid response is not retried
});

Deno.test("call() waits for an asynchronous schema", async () => {
  const { server, client } = await serveJson(4);
  await using _ = server;
  const even = z.number().refine((number) => Promise.resolve(number % 2 === 0), "must be even");
  const odd = z.number().refine((number) => Promise.resolve(number % 2 === 1), "must be odd");
  expect(await client.call("GET", "report", { schema: even })).toBe(4);
  const error = await failure(InvalidResponseError, client.call("GET", "report", { schema: odd }));
  expect(error.issues).toEqual([{ path: "", rule: "schema", message: "must be odd" }]);
});

Deno.test("call() passes undefined to the schema when there is no content", async () => {
  await using server = await serve((_, response) => void response.writeHead(204).end());
  const client = createClient({ baseUrl: server.url, apiKey });
  expect(await client.call("DELETE", "report", { schema: z.undefined() })).toBe(undefined);
  expect(await client.call("DELETE", "report", { schema: z.unknown().transform(() => "gone") }))
    .toBe("gone");
  const call = client.call("DELETE", "report", { schema: z.object({}) });
  await failure(InvalidResponseError, call);
});

Deno.test("call() shows no key that a schema quotes", async () => {
  const key = 'k"/~:%y';
  await using server = await serve((_, response) => json(response, { [key]: key }));
  const client = createClient({ baseUrl: server.url, apiKey: key });
  const schemas = [
    z.record(z.string(), z.literal("other")),
    schemaOf((value) => ({
      issues: [{ message: `Bad ${key}`, path: Object.keys(value as object) }],
    })),
    schemaOf(() => ({ issues: [{ message: key, path: [{ key }] }] })),
  ];
  for (const schema of schemas) {
    const error = await failure(InvalidResponseError, client.call("GET", "report", { schema }));
    expect(shown(error)).not.toContain(key);
    expect(shown(error)).not.toContain(key.replace("~", "~0").replace("/", "~1"));
  }
});

Deno.test("call() refuses a schema that is not one before anything is sent", async () => {
  const { server, client } = await serveJson(1);
  await using _ = server;
  const notSchemas = [
    null,
    1,
    {},
    () => {},
    { "~standard": {} },
    { "~standard": null },
    throwing("~standard"),
    { "~standard": throwing("validate") },
  ];
  for (const schema of notSchemas) {
    const call = client.call("GET", "report", { schema: schema as never });
    const { message, option } = await failure(ConfigurationError, call);
    expect(message).toMatch(/^"schema" must be a Standard Schema/);
    expect(option).toBe("schema");
  }
  expect(server.requests).toEqual([]);
});

/** Results that break Standard Schema. */
const brokenResults: Record<string, () => unknown> = {
  "undefined": () => undefined,
  "a number": () => 7,
  "an error that it throws": boom,
  "an error that it rejects with": () => Promise.reject(new Error(apiKey)),
  "nothing that it rejects with": () => Promise.reject(),
  "a getter that throws for issues": () => throwing("issues"),
  "a getter that throws for the value": () => throwing("value"),
  "a then() that throws": () => throwing("then"),
  "issues that are a string": () => ({ issues: "abc" }),
  "issues that are a number": () => ({ issues: 1 }),
  "issues that are a set": () => ({ issues: new Set([{ message: "m" }]) }),
  "null as an issue": () => ({ issues: [null] }),
  "undefined as an issue": () => ({ issues: [undefined] }),
  "a string as an issue": () => ({ issues: ["abc"] }),
  "an issue without a message": () => ({ issues: [{ path: [] }] }),
  "a message that is an object": () => ({ issues: [{ message: {} }] }),
  "a getter that throws for a message": () => ({ issues: [throwing("message")] }),
  "a path that is null": () => ({ issues: [{ message: "m", path: null }] }),
  "a path that is a number": () => ({ issues: [{ message: "m", path: 7 }] }),
  "a path with a segment whose key throws": () => ({
    issues: [{ message: "m", path: [throwing("key")] }],
  }),
  "a path with a key that is no text": () => ({
    issues: [{ message: "m", path: [{ key: Object.create(null) }] }],
  }),
  "a path that throws": () => ({ issues: [throwing("path", { message: "m" })] }),
};

for (const [kind, validate] of Object.entries(brokenResults)) {
  Deno.test(`call() names the schema when its result is ${kind}`, async () => {
    const fetch = () => Promise.resolve(Response.json(1));
    const client = createClient({ baseUrl, apiKey, fetch });
    const call = client.call("GET", "report", { schema: schemaOf(validate) });
    const error = await failure(ConfigurationError, call);
    expect(error.message).toMatch(/^"schema" failed: (?!.*\[object)/);
    expect(error.option).toBe("schema");
    expect(shown(error)).not.toContain(apiKey);
  });
}

Deno.test("call() takes any path that Standard Schema allows, and null in one", async () => {
  const fetch = () => Promise.resolve(Response.json(1));
  const client = createClient({ baseUrl, apiKey, fetch });
  const paths: [unknown, string][] = [
    [undefined, ""],
    [[], ""],
    [[""], "/"],
    [["a", 0, { key: "b" }, { key: 1 }], "/a/0/b/1"],
    [[Symbol("s"), { key: Symbol("t") }], "/Symbol(s)/Symbol(t)"],
    [[null, undefined], "/null/undefined"],
  ];
  for (const [path, expected] of paths) {
    const schema = schemaOf(() => ({ issues: [{ message: "m", path }] }));
    const { issues } = await failure(
      InvalidResponseError,
      client.call("GET", "report", { schema }),
    );
    expect(issues).toEqual([{ path: expected, rule: "schema", message: "m" }]);
  }
});

Deno.test("call() keeps at most 100 issues, with paths and messages of at most 500", async () => {
  const list = Array.from({ length: 100_000 }, String);
  const long = "x".repeat(2 ** 20);
  const path = Array(1_000).fill(long);
  let read = 0;
  const lazy = () =>
    list.map((_, index) => ({
      get message() {
        read++;
        return long;
      },
      path: [index, ...index < 100 ? path : []],
    }));
  const fetch = () => Promise.resolve(Response.json(list));
  const client = createClient({ baseUrl, apiKey, fetch });
  const schemas = [z.array(z.number()), v.array(v.number()), schemaOf(() => ({ issues: lazy() }))];
  for (const schema of schemas) {
    const error = await failure(InvalidResponseError, client.call("GET", "report", { schema }));
    expect(error.issues.length).toBe(100);
    expect(error.issues[99]!.path).toMatch(/^\/99/);
    expect(error.message).toMatch(/; and 95 more\)$/);
    expect(error.message.length).toBeLessThan(10_000);
    for (const { path, message } of error.issues) {
      expect(path.length).toBeLessThanOrEqual(500);
      expect(message!.length).toBeLessThanOrEqual(500);
    }
  }
  expect(read).toBe(100);
});

Deno.test("call() times out and can be aborted while a schema runs", async () => {
  const { server, client } = await serveJson(1);
  await using _ = server;
  const schema = schemaOf(() => new Promise(() => {}));
  await failure(TimeoutError, client.call("GET", "report", { schema, timeout: 200 }));
  const controller = new AbortController();
  setTimeout(() => controller.abort("stop"), 50);
  const { signal } = controller;
  expect(await caught(client.call("GET", "report", { schema, signal }))).toBe("stop");
});
