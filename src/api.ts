import type { StandardSchemaV1 as SpecifiedSchema } from "@standard-schema/spec";
import type {
  Client,
  ClientOptions as OpenapiFetchOptions,
  FetchResponse,
  Middleware as OpenapiFetchMiddleware,
  ParamsOption,
  RequestBodyOption,
} from "openapi-fetch";

import type { operations, paths } from "./generated/types.ts";
import type { RetryEvent } from "./http/call.ts";

/**
 * The status of an API key: a {@linkcode ValidKey} or an {@linkcode InvalidKey}. Check
 * `apiKeyValid` to tell them apart.
 */
export type KeyStatus = OperationData<"checkKey">;

/** The status of a valid key: `{ apiKeyValid: true, data: { credits } }`. */
export type ValidKey = Extract<KeyStatus, { apiKeyValid: true }>;

/**
 * The status of a key that is not valid: `{ apiKeyValid: false }`. Other fields are undocumented.
 */
export type InvalidKey = Extract<KeyStatus, { apiKeyValid: false }>;

/**
 * The data of an operation's 2xx responses: JSON of any media type, or `undefined` without content.
 *
 * @typeParam Id The `operationId` of the operation, such as `"checkKey"`.
 */
export type OperationData<Id extends keyof operations> = DataOf<operations[Id]>;

/** An HTTP method for {@linkcode ScamAddressClient.call}. */
export type Method = "DELETE" | "GET" | "HEAD" | "OPTIONS" | "PATCH" | "POST" | "PUT";

// Local names for types of libraries: `deno doc --lint` requires docs of every type used here.
// `@ignore` keeps them out of the docs; `@internal` would too, but API Extractor drops such types.

/** @ignore */
type FetchClient<Paths extends object> = Client<Paths>;

/** @ignore */
type FetchClientOptions = OpenapiFetchOptions;

/** @ignore */
type FetchMiddleware = OpenapiFetchMiddleware;

/** @ignore */
type DataOf<Operation extends object> = Extract<
  FetchResponse<Operation, object, `${string}/${string}json${string}`>,
  { data: unknown }
>["data"];

/**
 * The `params` and the `body` of an operation.
 *
 * @ignore
 */
export type OperationInput<Operation> = ParamsOption<Operation> & RequestBodyOption<Operation>;

/**
 * The list of arguments with options, which can be omitted if none of them is required.
 *
 * @ignore
 */
type OptionalIfEmpty<Options> = Partial<Options> extends Options ? [options?: Options]
  : [options: Options];

/** @ignore */
type QueryValue = string | number | boolean | null | undefined;

/** @ignore */
type StandardSchema<Input = unknown, Output = Input> = SpecifiedSchema<Input, Output>;

/** @ignore */
type OutputOf<Schema> = Schema extends StandardSchemaV1
  ? NonNullable<Schema["~standard"]["types"]>["output"]
  : unknown;

/**
 * A schema for {@linkcode ScamAddressClient.call}: any [Standard Schema](https://standardschema.dev), such
 * as one of Zod, Valibot or ArkType.
 *
 * @typeParam Input The type that the schema takes.
 * @typeParam Output The type that it returns.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input>
  extends StandardSchema<Input, Output> {}

/**
 * Functions that run before and after calls: [openapi-fetch's
 * middleware](https://openapi-ts.dev/openapi-fetch/middleware-auth). Add them to all calls with
 * {@linkcode ScamAddressClient.use}, or to one call of a typed method (`GET`, `POST` and so on)
 * with its option `middleware`.
 *
 * Middleware is an object with one or more of these functions:
 *
 * - `onRequest({ request, schemaPath, params, options, id })` is called before the first attempt.
 *   It can return another `Request` to send, or a `Response` to use without sending anything.
 * - `onResponse({ request, response, … })` is called after the last attempt. It can return another
 *   `Response` to use. To read the body, call `response.clone()` first.
 * - `onError({ request, error, … })` is called if there is no response. It can return a `Response`
 *   to use, or another `Error` to throw.
 *
 * Write the functions with braces, as below: if one returns anything else, such as the result of
 * `list.push()`, the call fails, even if it has been carried out and paid for.
 *
 * Middleware runs once for each call, including calls of `checkKey` and `call`. It does not see the
 * client's key in the headers, because the key is added later. It does see the body of `checkKey`,
 * which contains a key. Its `options.parseAs` is `"text"` instead of `"json"`, because this client
 * parses JSON itself.
 *
 * Errors thrown by middleware are rethrown unchanged. `totalTimeout` and `signal` end a call even
 * while middleware is running. `timeout` and `maxResponseBytes` apply neither to middleware nor to
 * the responses that it returns.
 *
 * @example Add a header to every request, and log every response
 * ```ts
 * import { createClient, type Middleware } from "@scam-address/client";
 * import { createSandbox } from "@scam-address/client/sandbox";
 *
 * const trace: Middleware = {
 *   onRequest({ request }) {
 *     request.headers.set("x-request-id", crypto.randomUUID());
 *   },
 *   onResponse({ request, response }) {
 *     console.log(request.url, response.status);
 *   },
 * };
 * const { fetch } = createSandbox();
 * const client = createClient({ baseUrl: "https://service.example/", fetch });
 * client.use(trace);
 * await client.checkKey("demo-key"); // prints "https://service.example/checkKey 200"
 * ```
 */
export type Middleware = FetchMiddleware;

/** Options of a client: where and how it sends requests. */
export interface ClientOptions {
  /**
   * The service's URL; endpoint names are appended to it.
   *
   * It must be an absolute `https:` URL without a query, fragment, user name or password. The
   * trailing slash is optional. `http:` is allowed for loopback addresses, and for other hosts with
   * {@linkcode ClientOptions.allowInsecureHttp}.
   */
  baseUrl: string | URL;
  /**
   * The API key, or a function that returns it, directly or as a promise.
   *
   * It is sent in the `X-API-Key` header of operations that need a key, and `checkOwnKey` checks
   * it. Without it, only operations that need no key can be called.
   *
   * A key has 1 to 4,096 printable ASCII characters, without leading or trailing spaces.
   *
   * A function is called once for each call that needs the key, so that keys can rotate. Errors
   * thrown by the function are rethrown unchanged.
   *
   * @example A key that rotates
   * ```ts
   * import { createClient } from "@scam-address/client";
   * import { createSandbox } from "@scam-address/client/sandbox";
   *
   * let keys = ["first-key", "second-key"];
   * const client = createClient({
   *   baseUrl: "https://service.example/",
   *   apiKey: () => keys[0] ?? "", // such as one that a vault returns
   *   fetch: createSandbox({ keys: { "first-key": 0, "second-key": 5 } }).fetch,
   * });
   * keys = keys.slice(1);
   * console.log(await client.checkOwnKey()); // { apiKeyValid: true, data: { credits: 5 } }
   * ```
   */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /**
   * The time limit for each attempt, in milliseconds, including reading the response's body: a number
   * from 1 to 2,147,483,647.
   *
   * A request that timed out may still have been carried out, and paid for. Node.js also gives up after
   * 300 seconds without a byte, even if `timeout` is longer.
   *
   * @default {30_000}
   */
  timeout?: number | undefined;
  /**
   * The time limit for the whole call, in milliseconds: a number from 1 to 2,147,483,647. There is
   * no limit by default, other than `timeout` for each attempt.
   *
   * It includes all attempts, the waits between them, and the time spent in your own functions,
   * such as middleware. When the time is up, the call rejects with a `TimeoutError`, even if one of
   * your functions has not returned. If the wait before a retry would exceed the limit, the call
   * ends immediately, with the outcome of the last attempt.
   */
  totalTimeout?: number | undefined;
  /**
   * The maximum number of retries after temporary failures: a whole number from 0 to 100.
   *
   * **A request that was retried may have been carried out, and paid for, twice**: the service may
   * have handled the first attempt although its response was lost. Therefore, only requests that
   * are safe to repeat are retried: GET, HEAD, OPTIONS, PUT and DELETE, `checkKey`, and those with
   * the option `idempotent`. Other requests are retried only after the status 429, which says that the
   * service has not handled them.
   *
   * To prevent retries, set `retries` to 0. A request that has no retries, or is not safe to repeat, is
   * not repeated by the runtime either, with a few exceptions, which RECIPES lists.
   *
   * Temporary failures are those whose error has `isTemporary: true`. The wait before the first
   * retry is random, up to 500 ms. This maximum doubles with each retry, up to 8 seconds. If the
   * response has a `Retry-After` header, the client waits that long instead, plus up to 25%. If
   * `Retry-After` is over 60 seconds, the request is not retried.
   *
   * @default {2}
   */
  retries?: number | undefined;
  /**
   * The size limit for the body of a response, in bytes after decompression: a whole number from 1.
   *
   * A larger body of a 2xx response causes an `InvalidResponseError`. With any other status, the body
   * is truncated, because the status matters more; an error keeps at most 64 KiB of it.
   *
   * @default {10_485_760}
   */
  maxResponseBytes?: number | undefined;
  /**
   * Headers to send with every request: an object, a `Headers` instance, or a list of names and values.
   * `X-API-Key` is ignored; use {@linkcode ClientOptions.apiKey}.
   *
   * If the response is read as JSON, the client sends `Accept: application/json`, unless you set
   * `Accept`.
   */
  headers?: FetchClientOptions["headers"] | undefined;
  /**
   * A custom `fetch`, to test, proxy or trace requests. By default, the global `fetch` is used.
   *
   * It is called with a new `Request` for each attempt. The request has the key, and
   * `redirect: "manual"`: do not follow redirects. Return a `Response` whose body has not been
   * read. Anything that the function throws becomes a `NetworkError`.
   *
   * The request's `signal` ends the attempt. To change the request, call
   * `fetch(request, { headers })`. If you create another `Request` from it, pass the signal on:
   * `fetch(other, { signal: request.signal })`. Otherwise, once garbage collection has run on
   * Node.js, `other` can no longer be aborted, and its connection stays open.
   *
   * @example Measure the time of each attempt
   * ```ts
   * import { createClient } from "@scam-address/client";
   * import { createSandbox } from "@scam-address/client/sandbox";
   *
   * const { fetch } = createSandbox(); // delete this line to call the service
   * const client = createClient({
   *   baseUrl: "https://service.example/",
   *   async fetch(request) {
   *     const start = performance.now();
   *     try {
   *       return await fetch(request);
   *     } finally {
   *       console.log(request.url, `${performance.now() - start} ms`);
   *     }
   *   },
   * });
   * await client.checkKey("demo-key");
   * ```
   */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /**
   * Whether to allow `http:` for hosts other than loopback addresses. Anyone on the network path
   * can then read the API key.
   *
   * @default {false}
   */
  allowInsecureHttp?: boolean | undefined;
  /**
   * A function to call before the wait for each retry, for logs and metrics. If it returns a
   * promise, the client awaits it. Errors thrown by the function are rethrown unchanged.
   */
  // One type with the result `void | Promise<void>` would refuse `(event) => list.push(event)`.
  onRetry?: ((event: RetryEvent) => void) | ((event: RetryEvent) => Promise<void>) | undefined;
  /**
   * How queries are serialized, for example to write a list as `tag=a,b`: a function, or options for
   * openapi-fetch's serializer. By default, a list repeats the name.
   */
  querySerializer?: FetchClientOptions["querySerializer"] | undefined;
  /**
   * How bodies are serialized: a function. By default, a `FormData` is sent as it is, and
   * everything else as JSON, except with the header `Content-Type: application/x-www-form-urlencoded`.
   *
   * A body of which JSON would keep nothing, such as a `Map`, a `Blob` or bytes, is refused.
   */
  bodySerializer?: FetchClientOptions["bodySerializer"] | undefined;
  /** How path parameters are serialized: a function. */
  pathSerializer?: FetchClientOptions["pathSerializer"] | undefined;
  /**
   * Extra options for the runtime's `fetch`, for example to use a proxy:
   *
   * - on Node.js, `{ dispatcher: new ProxyAgent("http://proxy.example:8080") }`, with `ProxyAgent` from
   *   the package `undici`;
   * - on Deno, `{ client: Deno.createHttpClient({ proxy: { url: "http://proxy.example:8080" } }) }`;
   * - on Bun, `{ proxy: "http://proxy.example:8080" }`, or `tls`.
   *
   * A custom `fetch` gets them with its `Request`, except on Bun. Set a `dispatcher` only here: one that
   * middleware sets on a request is lost.
   */
  requestInitExt?: FetchClientOptions["requestInitExt"] | undefined;
}

/** Options that every call takes. */
export interface RequestOptions {
  /**
   * A signal that cancels the call at any time. The call then rejects with the signal's reason.
   *
   * @example Cancel the call when the user disconnects
   * ```ts
   * import { createClient } from "@scam-address/client";
   * import { createSandbox } from "@scam-address/client/sandbox";
   *
   * const { fetch } = createSandbox();
   * const client = createClient({ baseUrl: "https://service.example/", fetch });
   * const leaving = new AbortController();
   * const { signal } = leaving;
   * console.log(await client.checkKey("demo-key", { signal, totalTimeout: 10_000 }));
   * leaving.abort();
   * ```
   */
  signal?: AbortSignal | null | undefined;
  /**
   * The time limit for each attempt, in milliseconds. Overrides {@linkcode ClientOptions.timeout}.
   */
  timeout?: number | undefined;
  /**
   * The time limit for the whole call, in milliseconds. Overrides
   * {@linkcode ClientOptions.totalTimeout}.
   */
  totalTimeout?: number | undefined;
  /** The maximum number of retries. Overrides {@linkcode ClientOptions.retries}. */
  retries?: number | undefined;
  /**
   * Headers to send in addition to the client's: an object, in which `null` removes a header, a
   * `Headers` instance, or a list of names and values. `X-API-Key` is ignored.
   */
  headers?: ClientOptions["headers"];
}

/**
 * Options of {@linkcode ScamAddressClient.call}: the body and query to send, and a schema for the
 * response. If the type argument is the type of a schema, `schema` is required.
 *
 * @typeParam Schema The type of the schema; `undefined` without one.
 */
export type CallOptions<Schema extends StandardSchemaV1 | undefined = undefined> =
  & RequestOptions
  & {
    /**
     * The body. It is sent as JSON, unless the header `Content-Type` says otherwise: see
     * {@linkcode ClientOptions.bodySerializer}. Omit it to send no body; GET and HEAD cannot have one.
     */
    body?: unknown;
    /**
     * The query parameters: an object of strings, numbers, booleans, and lists of these. A list repeats
     * the name. `null` and `undefined` are omitted. Names and values are encoded.
     */
    query?: Readonly<Record<string, QueryValue | readonly QueryValue[]>> | undefined;
    /**
     * Whether the request is safe to repeat, and is therefore retried after any temporary failure. By
     * default, this is `true` for GET, HEAD, OPTIONS, PUT and DELETE, and `false` for POST and PATCH.
     *
     * A request that was retried may have been carried out, and paid for, twice. With `false`, a
     * request is still retried after the status 429. To prevent that too, set
     * `retries` to 0.
     */
    idempotent?: boolean | undefined;
  }
  & (undefined extends Schema ? Partial<SchemaOption<Schema>> : SchemaOption<Schema>);

/** @ignore */
interface SchemaOption<Schema> {
  /**
   * A schema that validates the response and determines the type of `data`: any [Standard
   * Schema](https://standardschema.dev), such as one of Zod, Valibot or ArkType. `data` is the
   * schema's output. Errors thrown by the schema are rethrown unchanged. Without a schema, `data`
   * is the parsed JSON, of the type `unknown`.
   */
  schema: Schema;
}

/**
 * Options of a method of {@linkcode OperationMethods}: the operation's `params` and `body`,
 * `idempotent`, and the options of every call.
 *
 * @typeParam Id The `operationId` of the operation.
 */
export type OperationOptions<Id extends keyof operations> =
  & OperationInput<operations[Id]>
  & RequestOptions
  & Pick<CallOptions, "idempotent">;

/**
 * The operations of the OpenAPI document as methods, each named after its `operationId`.
 *
 * They take the operation's parameters and body, and the options of every call:
 * `client.getReport({ params: { path: { id: 7 } }, timeout: 5_000 })`, for example. Like
 * {@linkcode ScamAddressClient.call}, they resolve to `{ data, response }`, and throw the same errors.
 * The data is validated against the document. It is `undefined` only for a status that the document
 * has without content.
 */
export type OperationMethods = {
  [Id in keyof operations]: (
    ...options: OptionalIfEmpty<OperationOptions<Id>>
  ) => Promise<{ data: OperationData<Id>; response: Response }>;
};

/**
 * A client of the Scam Address Service.
 *
 * - Each operation of the OpenAPI document is a method, named after its `operationId`; see
 *   {@linkcode OperationMethods}. Today, the document has only
 *   {@linkcode ScamAddressClient.checkKey}, which takes the key itself.
 *   {@linkcode ScamAddressClient.checkOwnKey} checks the client's own key.
 * - {@linkcode ScamAddressClient.call} calls an endpoint that is not in the OpenAPI document.
 * - The typed methods (`GET`, `POST` and so on) are those of
 *   [openapi-fetch](https://openapi-ts.dev/openapi-fetch/), for code that was written for it, and for
 *   types of your own.
 *
 * The typed methods take a path and options: `POST(path, options)`. They resolve to
 * `{ data, error, response }`, even if the status is 3xx, 4xx or 5xx. Then `data` is `undefined`, and
 * `error` is the body, which is not validated. The body may be empty, so check `response.ok` instead
 * of `error`. After any other failure, the typed methods reject with the same errors as
 * {@linkcode ScamAddressClient.call}.
 *
 * Their options are openapi-fetch's, such as `params`, `body`, `headers`, `parseAs` and
 * `middleware`, and `timeout`, `totalTimeout`, `retries` and `idempotent`, as described in
 * {@linkcode CallOptions}.
 *
 * The option `parseAs` determines the form of `data`: `"json"` by default, or `"text"`, `"blob"`,
 * `"arrayBuffer"` or `"stream"`, which are not validated. The client always reads the whole body
 * first, within `timeout` and `maxResponseBytes`, so `"stream"` does not suit a response that never
 * ends.
 *
 * @typeParam Paths The type `paths` that openapi-typescript generates from an OpenAPI document.
 */
export interface ScamAddressClient<Paths extends object = paths>
  extends FetchClient<Paths>, Omit<OperationMethods, "checkKey"> {
  /**
   * Checks whether an API key is valid and how many credits it has.
   *
   * The client needs no key of its own: the key to check is sent in the body, without an `X-API-Key`
   * header. The request is safe to repeat, so it is retried after any temporary failure.
   *
   * @example Read the credits of a key
   * ```ts
   * import { createClient } from "@scam-address/client";
   * import { createSandbox } from "@scam-address/client/sandbox";
   *
   * const { fetch } = createSandbox({ keys: { "demo-key": 100 } });
   * const client = createClient({ baseUrl: "https://service.example/", fetch });
   * const status = await client.checkKey("demo-key", { timeout: 5_000 });
   * console.log(status.apiKeyValid ? status.data.credits : "not valid"); // 100
   * ```
   *
   * @param apiKey The key to check, such as a user's.
   * @param options Options of this call, which override the client's.
   * @returns The status of the key.
   * @throws {ConfigurationError} If an option is wrong, or if the key does not have the form that
   * {@linkcode ClientOptions.apiKey} describes.
   * @throws {HttpError} If the status is 3xx, 4xx or 5xx.
   * @throws {NetworkError} If the service cannot be reached, or the response is cut short.
   * @throws {TimeoutError} If the last attempt exceeds `timeout`, or the call exceeds
   * `totalTimeout`.
   * @throws {InvalidResponseError} If a 2xx response is not JSON, is too large, or does not match
   * the OpenAPI document.
   */
  checkKey(apiKey: string, options?: RequestOptions): Promise<KeyStatus>;

  /**
   * Checks whether the client's own key, its option `apiKey`, is valid and how many credits it has.
   *
   * @example Check the client's own key
   * ```ts
   * import { createClient } from "@scam-address/client";
   * import { createSandbox } from "@scam-address/client/sandbox";
   *
   * const { fetch } = createSandbox({ keys: { "demo-key": 100 } });
   * const baseUrl = "https://service.example/";
   * const client = createClient({ baseUrl, apiKey: "demo-key", fetch });
   * const status = await client.checkOwnKey();
   * console.log(status.apiKeyValid ? status.data.credits : "not valid"); // 100
   * ```
   *
   * @param options Options of this call, which override the client's.
   * @returns The status of the key.
   * @throws {ConfigurationError} If the client has no key, or an option is wrong.
   * @throws {ScamAddressError} For the same reasons as `checkKey`.
   */
  checkOwnKey(options?: RequestOptions): Promise<KeyStatus>;

  /**
   * Calls an endpoint that is not in the OpenAPI document.
   *
   * The request has `X-API-Key` and, by default, `Content-Type: application/json`. With a schema,
   * the response is validated, and `data` has the schema's type. Without one, `data` is `unknown`.
   *
   * @example Check the response with a schema
   * ```ts
   * import { createClient } from "@scam-address/client";
   * import { createSandbox } from "@scam-address/client/sandbox";
   * import { z } from "zod";
   *
   * const { fetch } = createSandbox({
   *   keys: { "demo-key": 100 },
   *   routes: { "GET report": () => ({ reports: ["first"] }) },
   * });
   * const client = createClient({
   *   baseUrl: "https://service.example/",
   *   apiKey: "demo-key",
   *   fetch,
   * });
   * const schema = z.object({ reports: z.array(z.string()) });
   * const { data, response } = await client.call("GET", "report", { query: { page: 1 }, schema });
   * console.log(data.reports.length, response.headers.get("content-type")); // 1 application/json
   * ```
   *
   * @typeParam Schema The type of the schema; `undefined` without one.
   * @param method The HTTP method.
   * @param endpoint The part of the URL after `baseUrl`, without the query. It is used as it is, so
   * apply `encodeURIComponent` to user input.
   * @param options What to send, a schema, and options that override the client's.
   * @returns The `data` and the `response`, whose body has been read. `data` is the schema's output
   * or, without a schema, the parsed JSON. For a 2xx response without content, it is `undefined`,
   * and so is the schema's input.
   * @throws {ConfigurationError} If the client has no key, or an argument is wrong.
   * @throws {HttpError} If the status is 3xx, 4xx or 5xx.
   * @throws {NetworkError} If the service cannot be reached, or the response is cut short.
   * @throws {TimeoutError} If the last attempt exceeds `timeout`, or the call exceeds
   * `totalTimeout`.
   * @throws {InvalidResponseError} If a 2xx response is not JSON, is too large, or does not match
   * the schema.
   */
  call<Schema extends StandardSchemaV1 | undefined = undefined>(
    method: Method,
    endpoint: string,
    options: CallOptions<Schema>,
  ): Promise<{ data: OutputOf<Schema>; response: Response }>;

  /**
   * Calls an endpoint that is not in the OpenAPI document, without a schema.
   *
   * @param method The HTTP method.
   * @param endpoint The part of the URL after `baseUrl`.
   * @param options What to send, and options that override the client's.
   * @returns The parsed JSON and the response.
   */
  call(
    method: Method,
    endpoint: string,
    options?: CallOptions,
  ): Promise<{ data: unknown; response: Response }>;

  /**
   * Adds middleware to all later calls, including those of `checkKey` and `call`.
   *
   * @param middleware The middleware. It runs in this order for requests, and in the opposite order for
   * responses.
   * @throws {Error} If an argument is not middleware (thrown by openapi-fetch).
   */
  use(...middleware: Middleware[]): void;

  /**
   * Removes middleware from all later calls.
   *
   * @param middleware The same objects that were passed to {@linkcode ScamAddressClient.use}.
   */
  eject(...middleware: Middleware[]): void;
}
