import type { StandardSchemaV1 } from "@standard-schema/spec";
import type {
  Client,
  ClientOptions as OpenapiFetchOptions,
  FetchResponse,
  Middleware as OpenapiFetchMiddleware,
} from "openapi-fetch";

import type { operations, paths } from "./generated/types.ts";
import type { RetryEvent } from "./retry.ts";

/**
 * The status of an API key: a {@linkcode ValidKey}, `{ apiKeyValid: true, data: { credits } }`, or
 * an {@linkcode InvalidKey}, `{ apiKeyValid: false }`. Test `apiKeyValid` to know which of the two
 * it is.
 */
export type KeyStatus = DataOf<operations["checkKey"]>;

/** The status of a valid key, with its credits: `{ apiKeyValid: true, data: { credits } }`. */
export type ValidKey = Extract<KeyStatus, { apiKeyValid: true }>;

/**
 * The status of a key that is not valid: `{ apiKeyValid: false }`. What else it contains is not
 * documented.
 */
export type InvalidKey = Extract<KeyStatus, { apiKeyValid: false }>;

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
type DataOf<Operation extends object> = Exclude<
  FetchResponse<Operation, object, "application/json">["data"],
  undefined
>;

/** @ignore */
type StandardSchema = StandardSchemaV1;

/** @ignore */
type OutputOf<Schema> = Schema extends StandardSchema ? StandardSchemaV1.InferOutput<Schema>
  : unknown;

/**
 * Code that runs around calls: [middleware of
 * openapi-fetch](https://openapi-ts.dev/openapi-fetch/middleware-auth), an object with one or more
 * of the functions below. Add it with {@linkcode ScamAddressClient.use}, or with the option
 * `middleware` of the typed methods (`GET`, `POST` and so on).
 *
 * - `onRequest({ request, schemaPath, params, options, id })` is called before the first attempt.
 *   It may return a `Request` to send instead, or a `Response` to use instead of sending.
 * - `onResponse({ request, response, … })` is called after the last attempt. It may return a
 *   `Response` to use instead. To read a response, read a `clone()`.
 * - `onError({ request, error, … })` is called when there is no response to hand on. It may return
 *   a `Response`, or an `Error` to throw instead.
 *
 * Middleware runs once for each call, even for `checkKey` and `call`. It does not see the client's
 * key in a header, because the key is added after middleware has run. It sees the body of
 * `checkKey`, which contains a key. Its `options.parseAs` is `"text"` in place of `"json"`, because
 * this client parses JSON itself.
 *
 * Errors thrown by middleware reach you unchanged. Middleware and the responses that it returns are
 * not limited in time or size, except by the call's `signal`.
 *
 * @example Add a header to every request, and log every response
 * ```ts
 * import { createClient, type Middleware } from "@scam-address/client";
 * import { createSandbox } from "@scam-address/client/sandbox";
 *
 * const trace: Middleware = {
 *   onRequest: ({ request }) => request.headers.set("x-request-id", crypto.randomUUID()),
 *   onResponse: ({ request, response }) => console.log(request.url, response.status),
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
   * The address of the service, to which the names of endpoints are added.
   *
   * It is an absolute `https:` URL without query, fragment, user name or password. The slash at its
   * end may be left out. `http:` is allowed for loopback addresses, and for other hosts with
   * {@linkcode ClientOptions.allowInsecureHttp}.
   */
  baseUrl: string | URL;
  /**
   * The API key. It is sent in the `X-API-Key` header of operations that need one, and
   * `checkOwnKey` checks it. Without it, only operations that need no key can be called.
   *
   * A key has 1 to 4,096 printable ASCII characters, without leading or trailing spaces.
   *
   * A function that returns the key, or a promise of it, is called once for each call that needs
   * the key, so that keys can rotate. Errors thrown by the function reach you unchanged.
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
   * The limit of each attempt, in milliseconds, from its start to the last byte of the response's
   * body: a whole number from 1 to 2,147,483,647.
   *
   * @default {30_000}
   */
  timeout?: number | undefined;
  /**
   * The limit of each call, with its retries and the waits between them, in milliseconds: a whole
   * number from 1 to 2,147,483,647. By default, only each attempt is limited.
   *
   * An attempt gets at most the time that is left. A wait that would not end in time is not begun:
   * the call then ends at once, with the failure of the last attempt. If it is `onRetry` that leaves
   * too little time, the call ends with a `TimeoutError` when the time is up. The time of your own
   * functions counts, but only a `signal` ends them.
   */
  totalTimeout?: number | undefined;
  /**
   * The largest number of retries after a temporary failure: a whole number from 0 to 100.
   *
   * @default {2}
   */
  retries?: number | undefined;
  /**
   * The limit of a response's body, in bytes after decompression: a whole number from 1.
   *
   * A 2xx response with a larger body is an `InvalidResponseError`. Of a larger body with another
   * status, the part up to the limit is kept, because the status matters more; `checkKey` and `call`
   * read no more than 64 KiB of it.
   *
   * @default {10_485_760}
   */
  maxResponseBytes?: number | undefined;
  /**
   * Headers to send with every request: an object or a `Headers`, which is read when the client is
   * created. An `X-API-Key` is ignored; use {@linkcode ClientOptions.apiKey}. Where JSON is read,
   * `Accept: application/json` is sent, unless you name another type.
   */
  headers?: FetchClientOptions["headers"] | undefined;
  /**
   * A custom `fetch`, to test, proxy or trace requests; by default the global one.
   *
   * It must return a `Response` that nobody has read. It must not follow redirects but return them,
   * as the request's `redirect: "manual"` says. What it throws becomes a `NetworkError`, whose
   * `cause` has its message, code and stack.
   *
   * The request's `signal` ends the attempt. To change a request, call `fetch(request, { headers })`.
   * If you make another `Request` of it, pass the signal on: `fetch(other, { signal: request.signal })`.
   * On Node.js, a request that is made as `new Request(request)` may otherwise no longer be aborted
   * after a garbage collection, and its connection stays open.
   *
   * @example Measure the time of each attempt
   * ```ts
   * import { createClient } from "@scam-address/client";
   * import { createSandbox } from "@scam-address/client/sandbox";
   *
   * const { fetch } = createSandbox(); // in a program, leave it out: the global one is used
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
   * Whether `http:` is allowed for hosts other than loopback addresses. Anyone between you and the
   * service can then read the API key.
   *
   * @default {false}
   */
  allowInsecureHttp?: boolean | undefined;
  /**
   * Called before the wait for each retry, for logs and metrics. It may return a promise, which is
   * awaited without a limit. Errors thrown by it reach you unchanged.
   */
  // One type with the result `void | Promise<void>` would refuse `(event) => list.push(event)`.
  onRetry?: ((event: RetryEvent) => void) | ((event: RetryEvent) => Promise<void>) | undefined;
  /**
   * A serializer of the query, for the typed methods, for example one that writes a list as
   * `tag=a,b`: a function, or options of openapi-fetch's own. `call` always repeats the name.
   */
  querySerializer?: FetchClientOptions["querySerializer"] | undefined;
  /**
   * A serializer of the body, for the typed methods. By default, the header `Content-Type` says how a
   * body is sent: without one, or with a JSON type, as JSON; with `application/x-www-form-urlencoded`,
   * as such a form; with any other type, the body must be a string. A `FormData` is sent as a form,
   * and must have no `Content-Type`. A body of which JSON keeps nothing, such as a `Blob`, bytes or a
   * `Map`, is refused. `checkKey` and `call` always use this default.
   */
  bodySerializer?: FetchClientOptions["bodySerializer"] | undefined;
  /** A serializer of path parameters, for the typed methods. */
  pathSerializer?: FetchClientOptions["pathSerializer"] | undefined;
  /** The `Request` class for middleware and a custom `fetch`; by default the global one. */
  Request?: FetchClientOptions["Request"] | undefined;
  /**
   * Options for the `fetch` of Node.js that are not standard, such as `dispatcher`, for example to use
   * a proxy. They are part of the `Request` that a custom `fetch` gets. Other runtimes ignore them. A
   * `dispatcher` that middleware sets on a request is lost: set it here.
   */
  requestInitExt?: FetchClientOptions["requestInitExt"] | undefined;
}

/** Options that every call takes. */
export interface RequestOptions {
  /**
   * A signal that cancels the call, at any point of it. The call then rejects with the signal's
   * reason.
   *
   * @example Stop when the user leaves, or after ten seconds in all
   * ```ts
   * import { createClient } from "@scam-address/client";
   * import { createSandbox } from "@scam-address/client/sandbox";
   *
   * const { fetch } = createSandbox();
   * const client = createClient({ baseUrl: "https://service.example/", fetch });
   * const leaving = new AbortController();
   * const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(10_000)]);
   * console.log(await client.checkKey("demo-key", { signal }));
   * leaving.abort();
   * ```
   */
  signal?: AbortSignal | null | undefined;
  /** The limit of each attempt, in milliseconds, in place of {@linkcode ClientOptions.timeout}. */
  timeout?: number | undefined;
  /** The limit of the call, in milliseconds, in place of {@linkcode ClientOptions.totalTimeout}. */
  totalTimeout?: number | undefined;
  /** The largest number of retries, in place of {@linkcode ClientOptions.retries}. */
  retries?: number | undefined;
  /**
   * Headers in addition to the client's: an object, in which `null` removes a header, or a
   * `Headers`. An `X-API-Key` is ignored.
   */
  headers?: ClientOptions["headers"];
}

/**
 * Options of {@linkcode ScamAddressClient.call}: what to send, how, and what checks the response.
 *
 * @typeParam Schema The type of the schema; `undefined` without one.
 */
export interface CallOptions<Schema extends StandardSchema | undefined = undefined>
  extends RequestOptions {
  /**
   * The body, sent as JSON, or as {@linkcode ClientOptions.bodySerializer} says; leave it out to send
   * none. GET and HEAD cannot have a body.
   */
  body?: unknown;
  /**
   * The query parameters: strings, numbers, booleans, `Date`s, which are written as ISO 8601, and
   * lists of these, which repeat the name. `null` and `undefined` are left out.
   */
  query?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Whether the request is safe to repeat, and so is sent again after any temporary failure. By
   * default, HTTP's rule for the method applies: GET, HEAD, OPTIONS, PUT and DELETE are safe to
   * repeat, POST and PATCH are not.
   */
  idempotent?: boolean | undefined;
  /**
   * The schema that checks the response and gives it its type: any [Standard
   * Schema](https://standardschema.dev), such as one of Zod, Valibot or ArkType. `call` resolves to
   * the schema's output. Errors thrown by the schema reach you unchanged. Leave it out to get the
   * parsed JSON as `unknown`.
   */
  schema?: Schema;
}

/**
 * A client of the Scam Address Service.
 *
 * - {@linkcode ScamAddressClient.checkKey} and {@linkcode ScamAddressClient.checkOwnKey} check a
 *   key.
 * - {@linkcode ScamAddressClient.call} calls an operation that the OpenAPI document lacks.
 * - The typed methods (`GET`, `POST` and so on) are those of
 *   [openapi-fetch](https://openapi-ts.dev/openapi-fetch/), for operations in the OpenAPI document.
 *
 * The typed methods take a path and options: `POST(path, options)`. They resolve to
 * `{ data, error, response }`, even for a 4xx or 5xx status and for 304. For these, `data` is
 * `undefined` and `error` is the body, whose type is not checked; test `response.ok`, because the
 * body may be empty. After every other failure, they reject with the same errors as
 * {@linkcode ScamAddressClient.call}.
 *
 * Their options are those of openapi-fetch, such as `params`, `body`, `headers`, `parseAs` and
 * `middleware`, and also `timeout`, `totalTimeout`, `retries` and `idempotent`, as
 * {@linkcode CallOptions} has them. Unknown option names are refused. `TRACE` always rejects:
 * `fetch` does not allow it.
 *
 * The option `parseAs` chooses what `data` is: `"json"` by default, or `"text"`, `"blob"`,
 * `"arrayBuffer"` or `"stream"`, which are not checked. The body is always read to its end first,
 * within `timeout` and `maxResponseBytes`, so `"stream"` is not for streams that never end.
 *
 * All methods read their arguments before they return, so a later change of an object does not
 * change the call.
 *
 * @typeParam Paths The type `paths` that openapi-typescript generates from an OpenAPI document.
 */
export interface ScamAddressClient<Paths extends object = paths> extends FetchClient<Paths> {
  /**
   * Checks whether an API key is valid and how many credits it has.
   *
   * The key is sent in the body; the request has no `X-API-Key` header.
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
   * @param apiKey The key to check, such as a user's; the client needs no key of its own.
   * @param options Options of this call, which override the client's.
   * @returns The status of the key.
   * @throws {ConfigurationError} When the key is not a string, or does not have the form that
   * {@linkcode ClientOptions.apiKey} describes, or an option is wrong.
   * @throws {HttpError} When the service responds with a 4xx or 5xx status, or with 304.
   * @throws {RedirectError} When the service responds with a redirect.
   * @throws {NetworkError} When the service cannot be reached or the response is cut short.
   * @throws {TimeoutError} When the last attempt does not end within `timeout`, or the call within
   * `totalTimeout`.
   * @throws {InvalidResponseError} When the response is not JSON, is too large, or does not match
   * the OpenAPI document.
   */
  checkKey(apiKey: string, options?: RequestOptions): Promise<KeyStatus>;

  /**
   * Checks whether the client's own API key, its option `apiKey`, is valid and how many credits it
   * has.
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
   * @throws {ConfigurationError} When the client has no key, or an option is wrong.
   * @throws {ScamAddressError} The same errors as `checkKey`.
   */
  checkOwnKey(options?: RequestOptions): Promise<KeyStatus>;

  /**
   * Calls an operation that the OpenAPI document lacks, with the `X-API-Key` header and
   * `Content-Type: application/json`. With a schema, the data of the response is checked; without
   * one, it is `unknown`.
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
   * @param method The method.
   * @param endpoint The part of the URL after `baseUrl`, which is added as it is: apply
   * `encodeURIComponent` to user input.
   * @param options The schema, what to send, and options that override the client's.
   * @returns The `data` and the `response`, whose body has been read. The `data` is the output of the
   * schema, or without one the parsed JSON; for a 2xx response without content it is `undefined`,
   * also for the schema.
   * @throws {ConfigurationError} When the client has no key, or an argument is wrong.
   * @throws {HttpError} When the service responds with a 4xx or 5xx status, or with 304.
   * @throws {RedirectError} When the service responds with a redirect.
   * @throws {NetworkError} When the service cannot be reached or the response is cut short.
   * @throws {TimeoutError} When the last attempt does not end within `timeout`, or the call within
   * `totalTimeout`.
   * @throws {InvalidResponseError} When the response is not JSON, is too large, or does not match
   * the schema.
   */
  call<Schema extends StandardSchema | undefined = undefined>(
    method: Method,
    endpoint: string,
    options?: CallOptions<Schema>,
  ): Promise<{ data: OutputOf<Schema>; response: Response }>;

  /**
   * Adds middleware to all later calls, even to those of `checkKey` and `call`.
   *
   * @param middleware The middleware, in the order in which it gets requests; responses go through
   * it in the opposite order.
   * @throws {Error} When one is not middleware: openapi-fetch throws it.
   */
  use(...middleware: Middleware[]): void;

  /**
   * Removes middleware from all later calls.
   *
   * @param middleware The same objects that {@linkcode ScamAddressClient.use} got.
   */
  eject(...middleware: Middleware[]): void;
}
