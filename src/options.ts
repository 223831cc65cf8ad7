import {
  type ClientOptions as OpenapiFetchOptions,
  mergeHeaders,
  type Middleware as OpenapiFetchMiddleware,
} from "openapi-fetch";

import { checkOptions, checkType, readApiKey, readNumber, wrong } from "./checks.ts";
import { checkPath } from "./endpoint.ts";
import type { RetryEvent } from "./transport/retry.ts";

/**
 * A local name for openapi-fetch's type: `deno doc --lint` requires docs of every type used here.
 *
 * @internal
 */
type FetchOptions = OpenapiFetchOptions;

/** @internal */
type FetchMiddleware = OpenapiFetchMiddleware;

/**
 * Runs code around calls, for `use` or the option `middleware` of a single call: [middleware of
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
 * Middleware runs once for each call, also for `checkKey` and `call`. It never sees the `X-API-Key`
 * header, which is added after it ran, but it sees the body of `checkKey`, which contains the key.
 * Its `options.parseAs` is `"stream"` in place of `"json"`, because this client parses JSON itself.
 *
 * A call rejects with what middleware throws. `timeout` does not limit middleware itself, but the
 * reading of a response that it returns, as `maxResponseBytes` does.
 */
export type Middleware = FetchMiddleware;

/** Options of a client: where and how it sends requests. */
export interface ClientOptions {
  /**
   * The address of the service, to which the names of endpoints are added.
   *
   * An absolute `https:` URL without query, fragment, user name or password; the slash at its end
   * may be left out. `http:` is allowed for loopback addresses, and for other hosts with {@linkcode
   * ClientOptions.allowInsecureHttp}.
   *
   * If a proxy is set (`HTTP_PROXY` on Deno and Bun, and on Node.js with `NODE_USE_ENV_PROXY=1`),
   * requests to `http:` loopback addresses go through it too, and it can read the key.
   * `NO_PROXY=localhost,127.0.0.1` prevents that.
   */
  baseUrl: string | URL;
  /**
   * The API key, sent in the `X-API-Key` header of operations that need one, and checked by
   * `checkKey()`. Without it, only operations that need no key can be called.
   *
   * A function that returns the key, or a promise of it, is called once for each call that needs
   * the key, so that keys can rotate. It has the same {@linkcode ClientOptions.timeout} as an
   * attempt.
   */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /**
   * Limits the time of each attempt, in milliseconds, from its start to the last byte of the
   * response's body: a whole number from 1 to 2 147 483 647. To limit a whole call, pass it a
   * `signal`, such as `AbortSignal.timeout(5_000)`.
   *
   * With the defaults, a call ends within 92 s: three attempts of 30 s, and waits of at most 0.5 s
   * and 1 s. If the service asks for the longest waits, it is 210 s. A function `apiKey`, a schema,
   * and a request body that is a stream may each take as long as one attempt in addition. Nothing
   * limits the time of middleware and `onRetry`.
   *
   * In addition, the `fetch` of Node.js gives up after 10 s without a connection, and after 300 s
   * without headers or without another part of the body. To change that, pass an `Agent` of the
   * package `undici`, version 7: `requestInitExt: { dispatcher: new Agent({ connect: { timeout },
   * headersTimeout, bodyTimeout }) }`.
   *
   * @default {30_000}
   */
  timeout?: number | undefined;
  /**
   * Limits how often a request is sent again after a temporary failure: a whole number from 0 to
   * 100.
   *
   * GET, HEAD, OPTIONS, PUT, DELETE and `checkKey` are retried after a failed connection, a response
   * that breaks off, a time-out, and the statuses 408, 429, 500, 502, 503 and 504. POST and PATCH
   * are retried after 429 only. The waits are random, at most 0.5 s, 1 s, 2 s, up to 8 s, or what
   * `Retry-After` asks for; if that is more than 60 s, there is no retry.
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
   * A custom `fetch`, to test, proxy or trace requests; by default the global one. It must not
   * follow redirects but return them, as the request's `redirect: "manual"` says.
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
   * Cancels the call when it is aborted, also during the wait for a retry. The call rejects with
   * the signal's reason.
   */
  signal?: AbortSignal | null | undefined;
  /** Overrides {@linkcode ClientOptions.timeout}, in milliseconds. */
  timeout?: number | undefined;
  /** Overrides {@linkcode ClientOptions.retries}. */
  retries?: number | undefined;
}

/** The types of the options; each without one has a check of its own, or openapi-fetch's. */
const TYPES = {
  allowInsecureHttp: "boolean",
  apiKey: undefined,
  baseUrl: undefined,
  bodySerializer: "function",
  fetch: "function",
  headers: undefined,
  maxResponseBytes: undefined,
  onRetry: "function",
  pathSerializer: "function",
  querySerializer: undefined,
  Request: "function",
  requestInitExt: undefined,
  retries: undefined,
  timeout: undefined,
} satisfies Record<keyof ClientOptions, "boolean" | "function" | undefined>;

/** The names of the options of a single call. */
export const CALL_OPTIONS = ["signal", "timeout", "retries"] satisfies (keyof CallOptions)[];

/** The names of the options of `call`. */
export const ENDPOINT_OPTIONS = [...CALL_OPTIONS, "body", "query", "headers", "schema"];

/** Refuses names that differ only in case; any other one may be an option of `fetch`. */
export function checkCase(options: object): void {
  for (const name of Object.keys(options)) {
    const lower = name.toLowerCase();
    const meant = CALL_OPTIONS.find((option) => option.toLowerCase() === lower);
    if (meant && meant !== name) throw wrong(name, `is not an option; did you mean "${meant}"?`);
  }
}

const LOOPBACK = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])[:/]/;

/** The options of a client, checked and with defaults. */
export type Settings = ClientOptions & {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeout: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
};

/** Checks the options of a client. */
export function readClientOptions(given: ClientOptions): Settings {
  checkOptions(given, Object.keys(TYPES), "createClient()");
  // Each is read once, also an inherited one, so that what was checked is what is used.
  const options = Object.fromEntries(
    Object.entries(TYPES).map(([name, type]) => {
      const value: unknown = given[name as keyof ClientOptions];
      if (type) checkType(name, value, type);
      return [name, value];
    }),
  ) as unknown as ClientOptions;
  if (options.apiKey !== undefined && typeof options.apiKey !== "function") {
    readApiKey(options.apiKey);
  }
  return {
    ...options,
    baseUrl: readBaseUrl(options),
    headers: readDefaultHeaders(options),
    timeout: readNumber("timeout", options.timeout),
    retries: readNumber("retries", options.retries),
    maxResponseBytes: readNumber("maxResponseBytes", options.maxResponseBytes),
  };
}

/**
 * Converts headers for openapi-fetch, which does not read a list of pairs. The content type cannot
 * be removed, because the service needs it.
 */
export function readHeaders(headers: ClientOptions["headers"]): ClientOptions["headers"] {
  if (Symbol.iterator in Object(headers)) return new Headers(headers as [string, string][]);
  const isRemoved = ([name, value]: [string, unknown]) =>
    value === null && name.toLowerCase() === "content-type";
  return headers && Object.fromEntries(Object.entries(headers).filter((each) => !isRemoved(each)));
}

/** Reads headers as a plain object, which openapi-fetch reads faster than `Headers`. */
function readDefaultHeaders({ headers }: ClientOptions): Record<string, string> {
  try {
    return Object.fromEntries(mergeHeaders(readHeaders(headers)));
  } catch {
    throw wrong("headers", "has a name or a value that cannot be sent in a header");
  }
}

/** Checks the service's address, and adds the slash at its end. */
function readBaseUrl({ baseUrl, allowInsecureHttp }: ClientOptions): string {
  if (!baseUrl) {
    throw wrong("baseUrl", "is missing: set it to the address of the service");
  }
  let url: URL | undefined;
  try {
    url = new URL(baseUrl);
  } catch { /* Reported below. */ }
  if (!url || !/^https?:\/\/[^/@]+\/[^?#]*$/.test(url.href)) {
    throw wrong(
      "baseUrl",
      "must be an absolute https URL without a user name, password, query or fragment",
    );
  }
  if (url.protocol === "http:" && !allowInsecureHttp && !LOOPBACK.test(url.href)) {
    throw wrong(
      "baseUrl",
      'must be an https URL, because http does not encrypt the API key; set "allowInsecureHttp" to allow it',
    );
  }
  checkPath("baseUrl", url.pathname);
  return url.href.replace(/\/?$/, "/");
}
