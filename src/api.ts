import type { StandardSchemaV1 } from "@standard-schema/spec";
import type {
  Client,
  ClientOptions as OpenapiFetchOptions,
  FetchResponse,
  Middleware as OpenapiFetchMiddleware,
} from "openapi-fetch";

import type { operations, paths } from "./generated/types.ts";
import type { RetryEvent } from "./transport/retry.ts";

/** The status of an API key; test `apiKeyValid` to know which of the two forms it is. */
export type KeyStatus = ResponseOf<operations["checkKey"]>;

/** The status of a valid key, with its credits. */
export type ValidKey = Extract<KeyStatus, { apiKeyValid: true }>;

/** The status of a key that is not valid. What else it contains is not documented. */
export type InvalidKey = Extract<KeyStatus, { apiKeyValid: false }>;

/** An HTTP method for {@linkcode ScamAddressClient.call}. */
export type Method = "DELETE" | "GET" | "HEAD" | "OPTIONS" | "PATCH" | "POST" | "PUT";

// Local names for types of libraries: `deno doc --lint` requires docs of every type used here.

/** @internal */
type FetchClient<Paths extends object> = Client<Paths>;

/** @internal */
type FetchOptions = OpenapiFetchOptions;

/** @internal */
type FetchMiddleware = OpenapiFetchMiddleware;

/** @internal */
type ResponseOf<Operation extends object> = NonNullable<
  FetchResponse<Operation, object, "application/json">["data"]
>;

/** @internal */
type StandardSchema = StandardSchemaV1;

/** @internal */
type OutputOf<Given extends StandardSchema> = StandardSchemaV1.InferOutput<Given>;

/**
 * Runs code around calls, for `use` or the option `middleware` of `GET`, `POST` …: [middleware of
 * openapi-fetch](https://openapi-ts.dev/openapi-fetch/middleware-auth), an object with one or more
 * of these functions.
 *
 * - `onRequest({ request, schemaPath, params, options, id })` is called before the first attempt.
 *   It may return a `Request` to send instead, or a `Response` to use instead of sending.
 * - `onResponse({ request, response, … })` is called after the last attempt. It may return a
 *   `Response` to use instead.
 * - `onError({ request, error, … })` is called when there is no response. It may return a
 *   `Response`, or an `Error` to throw instead.
 *
 * Middleware runs once for each call, also for `checkKey` and `call`. It does not see the client's
 * key in a header, which is added after it ran, but it sees the body of `checkKey`, which contains
 * a key. Its `options.parseAs` is `"stream"` in place of `"json"`, because this client parses JSON
 * itself.
 *
 * A call rejects with what middleware throws. Middleware and the responses that it returns are not
 * limited in time or size, except by the call's `signal`. To read a response, read a `clone()`.
 */
export type Middleware = FetchMiddleware;

/** Options of a client: where and how it sends requests. */
export interface ClientOptions {
  /**
   * The address of the service, to which the names of endpoints are added.
   *
   * An absolute `https:` URL without query, fragment, user name or password; the slash at its end
   * may be left out. `http:` is allowed for loopback addresses, and for other hosts with
   * {@linkcode ClientOptions.allowInsecureHttp}.
   */
  baseUrl: string | URL;
  /**
   * The API key, sent in the `X-API-Key` header of operations that need one, and checked by
   * `checkOwnKey`. Without it, only operations that need no key can be called.
   *
   * A function that returns the key, or a promise of it, is called once for each call that needs
   * the key, so that keys can rotate. A call rejects with what it throws.
   */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /**
   * Limits the time of each attempt, in milliseconds, from its start to the last byte of the
   * response's body: a whole number from 1 to 2 147 483 647.
   *
   * @default {30_000}
   */
  timeout?: number | undefined;
  /**
   * Limits how often a request is sent again after a temporary failure: a whole number from 0 to
   * 100.
   *
   * @default {2}
   */
  retries?: number | undefined;
  /**
   * Limits the size of a response's body, in bytes after decompression: a whole number from 1.
   *
   * @default {10_485_760}
   */
  maxResponseBytes?: number | undefined;
  /**
   * Headers to send with every request. An `X-API-Key` is ignored; use
   * {@linkcode ClientOptions.apiKey}.
   */
  headers?: FetchOptions["headers"] | undefined;
  /**
   * A custom `fetch`, to test, proxy or trace requests; by default the global one.
   *
   * It must return a `Response` that nobody has read, and it must not follow redirects but return
   * them, as the request's `redirect: "manual"` says. What it throws becomes a `NetworkError`.
   */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /**
   * Allows `http:` for hosts other than loopback addresses. Everyone on the way to the service can
   * then read the API key.
   *
   * @default {false}
   */
  allowInsecureHttp?: boolean | undefined;
  /**
   * Called before the wait for each retry, for logs and metrics. It may return a promise, which is
   * awaited without a limit. If it throws, the call rejects with that error.
   */
  onRetry?: ((event: RetryEvent) => void) | ((event: RetryEvent) => Promise<void>) | undefined;
  /** Changes how the query is written: a function, or options of openapi-fetch's own serializer. */
  querySerializer?: FetchOptions["querySerializer"] | undefined;
  /**
   * Changes how the body is written; by default as JSON. `checkKey` and `call` always send JSON.
   */
  bodySerializer?: FetchOptions["bodySerializer"] | undefined;
  /** Changes how path parameters are written. */
  pathSerializer?: FetchOptions["pathSerializer"] | undefined;
  /** The `Request` class for middleware and a custom `fetch`; by default the global one. */
  Request?: FetchOptions["Request"] | undefined;
  /**
   * Options for the `fetch` of Node.js that a `Request` cannot have, such as `dispatcher`, for
   * example to use a proxy. A custom `fetch` gets them as its second argument. Other runtimes
   * ignore them.
   */
  requestInitExt?: FetchOptions["requestInitExt"] | undefined;
}

/** Options of a single call. */
export interface CallOptions {
  /**
   * Cancels the call when it is aborted, at any point of it. The call rejects with the signal's
   * reason.
   */
  signal?: AbortSignal | null | undefined;
  /** Overrides {@linkcode ClientOptions.timeout}, in milliseconds. */
  timeout?: number | undefined;
  /** Overrides {@linkcode ClientOptions.retries}. */
  retries?: number | undefined;
}

/** Options of {@linkcode ScamAddressClient.call}: what to send, and how. */
export interface EndpointOptions extends CallOptions {
  /** The body, sent as JSON; leave it out to send none. GET and HEAD cannot have one. */
  body?: unknown;
  /**
   * The query parameters: texts, numbers, booleans, `Date`s, which are written as ISO 8601, and
   * lists of these, which repeat the name. `null` and `undefined` are left out.
   */
  query?: Readonly<Record<string, unknown>> | undefined;
  /** Headers in addition to the client's; `null` removes one. An `X-API-Key` is ignored. */
  headers?: ClientOptions["headers"];
  /**
   * Whether the request may be sent again after any temporary failure; by default what HTTP says of
   * the method: GET, HEAD, OPTIONS, PUT and DELETE may, POST and PATCH may not.
   */
  idempotent?: boolean | undefined;
}

/** Options of {@linkcode ScamAddressClient.call} with a schema that checks the response. */
export interface SchemaOptions<Given extends StandardSchema> extends EndpointOptions {
  /**
   * Checks the response and gives it its type: any [Standard Schema](https://standardschema.dev),
   * such as one of Zod, Valibot or ArkType. `call` resolves to the schema's output, and rejects
   * with what the schema throws.
   */
  schema: Given;
}

/** Options of {@linkcode ScamAddressClient.call} without a schema. */
export interface UncheckedOptions extends EndpointOptions {
  /** Leave it out to get the parsed JSON as `unknown`. */
  schema?: undefined;
}

/**
 * Calls the service: `checkKey`, `checkOwnKey`, `call`, and
 * [openapi-fetch](https://openapi-ts.dev/openapi-fetch/)'s methods for the operations of the
 * OpenAPI document.
 *
 * `GET`, `POST` and the other methods resolve to `{ data, error, response }`, also for a 4xx or 5xx
 * status and for 304. Then `data` is `undefined` and `error` is the body, which may be empty. For
 * every other failure they reject with the same errors as {@linkcode ScamAddressClient.call}.
 *
 * Their options are those of openapi-fetch, such as `params`, `body`, `headers`, `parseAs` and
 * `middleware`, and `signal`, `timeout`, `retries` and `idempotent` as of `call`; `idempotent` is
 * by default what the OpenAPI document says of the operation.
 *
 * `parseAs` chooses what `data` is: `"json"` by default, or `"text"`, `"blob"`, `"arrayBuffer"` or
 * `"stream"`, which are not checked. The body is always read to its end first, within `timeout` and
 * `maxResponseBytes`, so `"stream"` is not for streams that never end.
 *
 * All methods read their arguments before they return, so later changes of an object or of the
 * middleware do not change a call.
 *
 * @typeParam Paths The type `paths` that openapi-typescript generates from an OpenAPI document.
 */
export interface ScamAddressClient<Paths extends object = paths> extends FetchClient<Paths> {
  /** Sends a GET request; resolves to `{ data, error, response }`. */
  GET: FetchClient<Paths>["GET"];
  /** Sends a PUT request; resolves to `{ data, error, response }`. */
  PUT: FetchClient<Paths>["PUT"];
  /** Sends a POST request; resolves to `{ data, error, response }`. */
  POST: FetchClient<Paths>["POST"];
  /** Sends a DELETE request; resolves to `{ data, error, response }`. */
  DELETE: FetchClient<Paths>["DELETE"];
  /** Sends an OPTIONS request; resolves to `{ data, error, response }`. */
  OPTIONS: FetchClient<Paths>["OPTIONS"];
  /** Sends a HEAD request; resolves to `{ data, error, response }`. */
  HEAD: FetchClient<Paths>["HEAD"];
  /** Sends a PATCH request; resolves to `{ data, error, response }`. */
  PATCH: FetchClient<Paths>["PATCH"];
  /** Always rejects: `fetch` does not allow the method TRACE. */
  TRACE: FetchClient<Paths>["TRACE"];
  /** Sends a request with a method in lower case, as in `request("post", "/checkKey", …)`. */
  request: FetchClient<Paths>["request"];

  /**
   * Adds middleware to all later calls, also to `checkKey` and `call`.
   *
   * @param middleware The middleware, in the order in which it gets requests; responses go through
   * it in the opposite order.
   * @throws {ConfigurationError} When it is not middleware.
   */
  use(...middleware: Middleware[]): void;

  /**
   * Removes middleware from all later calls.
   *
   * @param middleware The same objects that {@linkcode ScamAddressClient.use} got.
   */
  eject(...middleware: Middleware[]): void;

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
   * @param apiKey The key to check, of a user for example; the client needs no key of its own.
   * @param options Options of this call, which override the client's.
   * @returns The status of the key.
   * @throws {ConfigurationError} When the key is no string, or no header can carry it, or an option
   * is wrong.
   * @throws {HttpError} When the service responds with a 4xx or 5xx status, or with 304.
   * @throws {RedirectError} When the service responds with a redirect.
   * @throws {NetworkError} When the service cannot be reached or the response breaks off.
   * @throws {TimeoutError} When the last attempt does not end within `timeout`.
   * @throws {InvalidResponseError} When the response does not match the OpenAPI document.
   */
  checkKey(apiKey: string, options?: CallOptions): Promise<KeyStatus>;

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
  checkOwnKey(options?: CallOptions): Promise<KeyStatus>;

  /**
   * Calls an endpoint that the OpenAPI document does not have, with the `X-API-Key` header and
   * `Content-Type: application/json`, and checks the response with a schema.
   *
   * Request and response are JSON. For anything else use `GET`, `POST` and the other methods.
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
   * const { reports } = await client.call("GET", "report", { query: { page: 1 }, schema });
   * console.log(reports.length); // 1
   * ```
   *
   * @typeParam Given The type of the schema.
   * @param method The method.
   * @param endpoint The name of the endpoint, which is added to the base URL as it is: encode what
   * a user has typed with `encodeURIComponent`.
   * @param options The schema, what to send, and options that override the client's.
   * @returns The output of the schema. The schema gets `undefined` for a 2xx response without
   * content.
   * @throws {ConfigurationError} When the client has no key, or an argument is wrong.
   * @throws {HttpError} When the service responds with a 4xx or 5xx status, or with 304.
   * @throws {RedirectError} When the service responds with a redirect.
   * @throws {NetworkError} When the service cannot be reached or the response breaks off.
   * @throws {TimeoutError} When the last attempt does not end within `timeout`.
   * @throws {InvalidResponseError} When the response is not JSON, is too large, or does not match
   * the schema.
   */
  call<Given extends StandardSchema>(
    method: Method,
    endpoint: string,
    options: SchemaOptions<Given>,
  ): Promise<OutputOf<Given>>;

  /**
   * Calls an endpoint that the OpenAPI document does not have, without a check of the response.
   *
   * @param method The method.
   * @param endpoint The name of the endpoint, which is added to the base URL as it is.
   * @param options What to send, and options that override the client's.
   * @returns The parsed JSON of the response; `undefined` for a 2xx response without content.
   * @throws {ScamAddressError} The same errors as with a schema.
   */
  call(method: Method, endpoint: string, options?: UncheckedOptions): Promise<unknown>;
}
