// What compiles and what does not: the compiler checks the `@ts-expect-error` lines.
import { expect } from "@std/expect";
import {
  ConfigurationError,
  createClient,
  HttpError,
  type InvalidKey,
  type KeyStatus,
  type ScamAddressClient,
  ScamAddressError,
  type ValidKey,
} from "../mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;

/** Fails to compile unless its type argument is `true`. */
function assertType<_T extends true>(): void {}

const client = createClient({
  baseUrl: "https://service.example/",
  apiKey: "some-key",
  fetch: () => Promise.resolve(Response.json({ apiKeyValid: true, data: { credits: 3 } })),
});

Deno.test("checkKey() resolves to a union that narrows on apiKeyValid", async () => {
  const status = await client.checkKey();
  assertType<Equal<typeof status, KeyStatus>>();
  assertType<Equal<KeyStatus, ValidKey | InvalidKey>>();
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
    // @ts-expect-error Without it, the client's own key would be checked.
    client.checkKey(request.headers.get("x-key") ?? undefined);
    // @ts-expect-error The key may be missing.
    client.checkKey(keys[0], { timeout: 1 });
    // @ts-expect-error The key is a string.
    client.checkKey(keys);
    // @ts-expect-error The key is a string.
    client.checkKey(Promise.resolve("k"));
    // @ts-expect-error There is no such option.
    client.checkKey({ timeOut: 1 });
    // @ts-expect-error There is no such option.
    client.checkKey("k", { apiKey: "k" });
    // @ts-expect-error There is no such option.
    client.call("GET", "report", { retires: 1 });
    client.checkKey(request.headers.get("x-key") ?? "");
  };
  // This one compiles, because the options may be left out, but it is refused.
  await expect(client.checkKey(undefined)).rejects.toThrow(ConfigurationError);
});

Deno.test("POST() takes only what the OpenAPI document has", async () => {
  const { data, error, response } = await client.POST("/checkKey", { body: { apiKey: "k" } });
  assertType<Equal<typeof error, unknown>>();
  assertType<Equal<typeof response, Response>>();
  // @ts-expect-error There is no data when the service responds with an error.
  data.apiKeyValid;
  if (!data?.apiKeyValid) throw new Error("Not a valid key");
  assertType<Equal<typeof data.data.credits, number>>();
  expect(data.data.credits).toBe(3);

  // Only the compiler reads this.
  const _neverCalled = () => {
    // @ts-expect-error The body is required.
    client.POST("/checkKey");
    // @ts-expect-error The key is required.
    client.POST("/checkKey", { body: {} });
    // @ts-expect-error The key is a string.
    client.POST("/checkKey", { body: { apiKey: 7 } });
    // @ts-expect-error The document has no such path.
    client.POST("/checkkey", { body: { apiKey: "k" } });
    // @ts-expect-error The document has no GET for this path.
    client.GET("/checkKey");
  };
});

Deno.test("call() resolves to unknown and takes only methods of HTTP", async () => {
  const data = await client.call("GET", "endpoint");
  assertType<Equal<typeof data, unknown>>();
  // @ts-expect-error There is no such method.
  await expect(client.call("FETCH", "endpoint")).rejects.toThrow();
});

Deno.test("createClient() takes wider paths and requires a base URL", async () => {
  interface Wider {
    "/items/{id}": {
      get: {
        parameters: { path: { id: number } };
        responses: { 200: { content: { "application/json": { name: string } } } };
      };
    };
  }
  const wider: ScamAddressClient<Wider> = createClient<Wider>({
    baseUrl: "https://service.example/",
    apiKey: "some-key",
    fetch: () => Promise.resolve(Response.json({ name: "one" })),
  });
  const { data } = await wider.GET("/items/{id}", { params: { path: { id: 1 } } });
  assertType<Equal<typeof data, { name: string } | undefined>>();
  expect(data).toEqual({ name: "one" });
  // @ts-expect-error The parameter is a number.
  await wider.GET("/items/{id}", { params: { path: { id: "1" } } });
  // @ts-expect-error The base URL is required.
  expect(() => createClient({})).toThrow(ScamAddressError);
});

Deno.test("instanceof narrows to the class's own fields", async () => {
  const failing = createClient({
    baseUrl: "https://service.example/",
    fetch: () => Promise.resolve(new Response(null, { status: 404 })),
  });
  const error: unknown = await failing.checkKey("k").catch((error) => error);
  if (!(error instanceof ScamAddressError)) throw new Error("Not our error");
  // @ts-expect-error Not every error has a status.
  error.status;
  if (!(error instanceof HttpError)) throw new Error("Not our error");
  assertType<Equal<typeof error.status, number>>();
  assertType<Equal<typeof error.retryAfter, number | undefined>>();
  expect(error.status).toBe(404);
});
