// call() with a schema: real Zod, Valibot and ArkType, and schemas made by hand.
import { expect } from "@std/expect";
import { type } from "arktype";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as v from "valibot";
import { z } from "zod";

import { ConfigurationError, createClient, InvalidResponseError } from "../mod.ts";
import { apiKey, baseUrl, undocumented, unsent } from "./support/client.ts";
import { caught, rejection } from "./support/rejection.ts";
import { json, serve } from "./support/server.ts";
import { assertType, type Equal } from "./support/types.ts";

/** Makes a schema of a function that validates. */
function schemaOf(validate: (value: unknown) => unknown): StandardSchemaV1 {
  return { "~standard": { version: 1, vendor: "test", validate: validate as never } };
}

/** A client that gets one value as the response to everything. */
function clientGetting(value: unknown) {
  return createClient({ baseUrl, apiKey, fetch: () => Promise.resolve(Response.json(value)) });
}

Deno.test("call() resolves to the schema's output, with its type", async () => {
  const client = clientGetting({ id: 7, at: "2026-01-02T00:00:00.000Z" });
  const zod = z.object({ id: z.number(), at: z.string().transform((text) => new Date(text)) });
  const valibot = v.object({
    id: v.number(),
    at: v.pipe(v.string(), v.transform((text) => new Date(text))),
  });
  const arktype = type({ id: "number", at: "string.date.parse" });
  const fromZod = (await client.call("GET", undocumented, { schema: zod })).data;
  assertType<Equal<typeof fromZod, { id: number; at: Date }>>();
  const fromValibot = (await client.call("GET", undocumented, { schema: valibot })).data;
  assertType<Equal<typeof fromValibot, { id: number; at: Date }>>();
  const fromArktype = (await client.call("GET", undocumented, { schema: arktype })).data;
  assertType<Equal<typeof fromArktype, { id: number; at: Date }>>();
  expect([fromZod, fromValibot, fromArktype])
    .toEqual(Array(3).fill({ id: 7, at: new Date("2026-01-02") }));
});

Deno.test("call() rejects with the schema's paths and messages when the schema rejects", async () => {
  const value = { list: [{ "a/b~c": "text" }] };
  await using server = await serve((_, response) => json(response, value));
  const client = createClient({ baseUrl: server.url, apiKey });
  const schemas = [
    z.object({ list: z.array(z.object({ "a/b~c": z.number() })) }),
    v.object({ list: v.array(v.object({ "a/b~c": v.number() })) }),
    type({ list: type({ "a/b~c": "number" }).array() }),
  ];
  for (const schema of schemas) {
    const error = await rejection(
      InvalidResponseError,
      client.call("GET", undocumented, { schema }),
    );
    expect(error.response.body).toEqual(value);
    const message = expect.stringMatching(/number/);
    expect(error.issues).toEqual([{ path: "/list/0/a~1b~0c", rule: "schema", message }]);
    expect(error.message).toContain(`: /list/0/a~1b~0c: ${error.issues[0]!.message}`);
  }
  expect(server.requests.length).toBe(schemas.length); // an invalid response is not retried
});

Deno.test("call() passes undefined to the schema when there is no content", async () => {
  await using server = await serve(({ url }, response) => {
    response.writeHead(Number(url.slice(1))).end();
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  for (const status of ["200", "204"]) {
    expect((await client.call("DELETE", status, { schema: z.undefined() })).data).toBe(undefined);
    const schema = z.unknown().transform((value) => value === undefined ? "gone" : "there");
    expect((await client.call("DELETE", status, { schema })).data).toBe("gone");
    const call = client.call("DELETE", status, { schema: z.object({}) });
    await rejection(InvalidResponseError, call);
  }
});

Deno.test("call() refuses a schema that is not one before anything is sent", async () => {
  for (const schema of [null, 1, {}, () => {}]) {
    const call = unsent.call("GET", undocumented, { schema: schema as never });
    const { message, option } = await rejection(ConfigurationError, call);
    expect(message).toMatch(/^"schema" must be a Standard Schema/);
    expect(option).toBe("schema");
  }
});

Deno.test("call() rejects with the very value that a schema throws", async () => {
  for (const thrown of [new RangeError(`boom ${apiKey}`), "boom", { code: 7 }]) {
    const fail = () => {
      throw thrown;
    };
    for (const validate of [fail, () => Promise.reject(thrown)]) {
      const call = clientGetting(1).call("GET", undocumented, { schema: schemaOf(validate) });
      expect(await caught(call) === thrown).toBe(true);
    }
  }
});

Deno.test("call() takes any path that Standard Schema allows", async () => {
  const paths: [unknown, string][] = [
    [undefined, ""],
    [[], ""],
    [[""], "/"],
    [["a", 0, { key: "b" }, { key: 1 }], "/a/0/b/1"],
    [[Symbol("s"), { key: Symbol("t") }], "/Symbol(s)/Symbol(t)"],
  ];
  for (const [path, expected] of paths) {
    const schema = schemaOf(() => ({ issues: [{ message: "m", path }] }));
    const call = clientGetting(1).call("GET", undocumented, { schema });
    const { issues } = await rejection(InvalidResponseError, call);
    expect(issues).toEqual([{ path: expected, rule: "schema", message: "m" }]);
  }
});

Deno.test("call() keeps at most 100 issues", async () => {
  const client = clientGetting(Array(1_000).fill("x"));
  const call = client.call("GET", undocumented, { schema: z.array(z.number()) });
  const { issues, message } = await rejection(InvalidResponseError, call);
  expect(issues.length).toBe(100);
  expect(message).toMatch(/; and 95 more$/);
});
