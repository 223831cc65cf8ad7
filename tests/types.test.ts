// What compiles and what does not: the compiler checks the `@ts-expect-error` lines.
import { expect } from "@std/expect";
import type { Client, ClientPathsWithMethod, MethodResponse } from "openapi-fetch";

import {
  type CallOptions,
  createClient,
  type InvalidKey,
  type KeyStatus,
  type OperationData,
  type paths,
  type RequestOptions,
  type ScamAddressClient,
  ScamAddressError,
  type StandardSchemaV1,
  type ValidKey,
} from "../mod.ts";
import { apiKey, baseUrl, checkKeyPath, schemaOf, undocumented } from "./support/client.ts";
import type { OptionTable } from "./support/internals.ts";
import { assertType, type Equal } from "./support/types.ts";

const valid: KeyStatus = { apiKeyValid: true, data: { credits: 3 } };
const fetch = () => Promise.resolve(Response.json(valid));
const client = createClient({ baseUrl, apiKey, fetch });

Deno.test("checkOwnKey() resolves to a union that narrows on apiKeyValid", async () => {
  const status = await client.checkOwnKey();
  assertType<Equal<typeof status, KeyStatus>>();
  assertType<Equal<KeyStatus, ValidKey | InvalidKey>>();
  assertType<Equal<KeyStatus, OperationData<"checkKey">>>();
  // @ts-expect-error Only a valid key is known to have credits.
  status.data?.credits;
  if (status.apiKeyValid) {
    assertType<Equal<typeof status.data.credits, number>>();
    expect(status.data.credits).toBe(3);
  } else {
    assertType<Equal<typeof status.data, unknown>>();
  }
});

Deno.test("checkKey() takes no key that may be missing", async () => {
  // Only the compiler reads this.
  const _neverCalled = (request: Request, keys: string[]) => {
    // @ts-expect-error The header may be missing.
    client.checkKey(request.headers.get("x-key"));
    // @ts-expect-error The key may be missing.
    client.checkKey(keys[0], { timeout: 1 });
    // @ts-expect-error The key is a string.
    client.checkKey(Promise.resolve("k"));
    // @ts-expect-error Its own key is all that it checks.
    client.checkOwnKey("k");
    // @ts-expect-error There is no such option.
    client.checkOwnKey({ timeOut: 1 });
    // @ts-expect-error There is no such option.
    client.checkKey("k", { apiKey: "k" });
    client.checkKey(request.headers.get("x-key") ?? "");
  };
  // @ts-expect-error The key is missing.
  await expect(client.checkKey()).rejects.toMatchObject({ option: "apiKey" });
});

Deno.test("POST() takes only what the OpenAPI document has", async () => {
  const { data, error, response } = await client.POST(checkKeyPath, { body: { apiKey } });
  // @ts-expect-error There is no data when the service responds with an error.
  data.apiKeyValid;
  assertType<Equal<typeof response, Response>>();
  if (data === undefined) {
    throw new Error(`${response.status}: ${error}`);
  }
  const status: KeyStatus = data;
  expect(status.apiKeyValid && status.data.credits).toBe(3);

  const body = { apiKey };
  const { data: text } = await client.POST(checkKeyPath, { body, parseAs: "text" });
  assertType<Equal<typeof text, string | undefined>>();
  const { data: stream } = await client.POST(checkKeyPath, { body, parseAs: "stream" });
  assertType<Equal<typeof stream, Response["body"] | undefined>>();
  expect(await new Response(stream ?? null).text()).toBe(text);
});

Deno.test("call() resolves to the output of its schema, and without one to unknown", async () => {
  const schema = schemaOf(() => ({ value: { credits: 5 } })) as StandardSchemaV1<
    unknown,
    { credits: number }
  >;
  const { data: checked, response } = await client.call("GET", undocumented, { schema });
  assertType<Equal<typeof response, Response>>();
  assertType<Equal<typeof checked, { credits: number }>>();
  expect(checked).toEqual({ credits: 5 });
  const { data: unchecked } = await client.call("GET", undocumented, { schema: undefined });
  assertType<Equal<typeof unchecked, unknown>>();
  assertType<Equal<"schema" extends keyof CallOptions ? true : false, true>>(); // Editors complete it.
  // @ts-expect-error A type is no check: it needs a schema.
  await client.call<{ id: number }>("GET", undocumented);
  // Only the compiler reads this.
  const _neverCalled = (options: CallOptions<typeof schema>) => {
    // @ts-expect-error A type is no check, even that of a schema.
    client.call<typeof schema>("GET", undocumented);
    client.call("GET", undocumented, options);
    // @ts-expect-error The options have no schema.
    const _without: typeof options = { timeout: 5_000 };
    client.call("GET", undocumented, { ...options, schema });
    // @ts-expect-error There is no such option.
    client.call("GET", undocumented, { retires: 1 });
    // @ts-expect-error There is no such method.
    client.call("FETCH", undocumented);
    const { schema: _schema, ...rest } = options;
    client.call("GET", undocumented, rest);
  };
  // A library may hand the options of its own callers on.
  const _optional = (options?: CallOptions) => client.call("GET", undocumented, options);
  const _wrapped = (...args: Parameters<typeof client.call>) => client.call(...args);
  const _generic = <Schema extends StandardSchemaV1 | undefined>(options: CallOptions<Schema>) =>
    client.call("GET", undocumented, options);
  type Result = Awaited<ReturnType<typeof _generic<typeof schema>>>["data"];
  assertType<Equal<Result, { credits: number }>>();
});

Deno.test("a table of options has the names of its interface", () => {
  const signal = null;
  const others = { timeout: null, totalTimeout: null, retries: null, headers: null };
  const _table: OptionTable<RequestOptions> = { signal, ...others };
  // @ts-expect-error A name is missing.
  const _less: OptionTable<RequestOptions> = { ...others };
  // @ts-expect-error There is no such option.
  const _more: OptionTable<RequestOptions> = { signal, ...others, timeOut: null };
});

interface Wider {
  "/items/{id}": {
    get: {
      parameters: { path: { id: number } };
      responses: { 200: { content: { "application/json": { name: string } } } };
    };
  };
}

Deno.test("code for openapi-fetch's clients takes this one", () => {
  // deno-lint-ignore no-explicit-any -- the point is that `any` fits
  type AnyClient = Client<any>;
  // Only the compiler reads this.
  const _neverCalled = (wider: ScamAddressClient<Wider>) => {
    const theirs: [Client<paths>, Client<Wider>] = [client, wider];
    const _any: AnyClient[] = [client, wider, ...theirs];
    const infer = <Paths extends object>(client: Client<Paths>) => client;
    const inferred = infer(wider);
    assertType<Equal<typeof inferred, Client<Wider>>>();
    assertType<Equal<ClientPathsWithMethod<typeof wider, "get">, "/items/{id}">>();
    assertType<Equal<MethodResponse<typeof wider, "get", "/items/{id}">, { name: string }>>();
    assertType<Equal<MethodResponse<typeof client, "post", typeof checkKeyPath>, KeyStatus>>();
  };
});

Deno.test("createClient() takes wider paths and requires a base URL", async () => {
  const fetch = () => Promise.resolve(Response.json({ name: "one" }));
  const wider: ScamAddressClient<Wider> = createClient<Wider>({ baseUrl, apiKey, fetch });
  const options = { timeout: 30_000, retries: 0, idempotent: true };
  const { data } = await wider.GET("/items/{id}", { params: { path: { id: 1 } }, ...options });
  assertType<Equal<typeof data, { name: string } | undefined>>();
  expect(data).toEqual({ name: "one" });
  // @ts-expect-error The parameter is a number.
  await wider.GET("/items/{id}", { params: { path: { id: "1" } } });
  // @ts-expect-error The base URL is required.
  expect(() => createClient({})).toThrow(ScamAddressError);
});
