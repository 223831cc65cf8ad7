import {
  type ClientOptions as OpenapiFetchOptions,
  mergeHeaders,
  type Middleware as OpenapiFetchMiddleware,
} from "openapi-fetch";

import { checkFunction, checkPath, mustBe, readApiKey, readNumber } from "./checks.ts";
import { ConfigurationError } from "./errors.ts";
import type { RetryEvent } from "./retry.ts";

/**
 * A name of our own, because the documentation's lint asks for docs of openapi-fetch's.
 *
 * @internal
 */
type FetchOptions = OpenapiFetchOptions;

/** @internal */
type FetchMiddleware = OpenapiFetchMiddleware;

/**
 * [Middleware of openapi-fetch](https://openapi-ts.dev/openapi-fetch/middleware-auth): an object with
 * one or more of `onRequest`, `onResponse` and `onError`, for `use` and for a single call.
 */
export type Middleware = FetchMiddleware;

/** Where and how a client sends its requests. */
export interface ClientOptions {
  /**
   * The address of the service, which the name of an endpoint directly follows, with or without the
   * slash at its end.
   *
   * An absolute `https:` URL without a query, a fragment, a user name or a password. See
   * {@linkcode ClientOptions.allowInsecureHttp} for `http:`, which is always allowed for loopback
   * addresses. Where the runtime is told to use a proxy (`HTTP_PROXY` on Deno and Bun, or on
   * Node.js with `--use-env-proxy`), requests to `http:` loopback addresses go through it too and
   * show the key to it; `NO_PROXY=localhost,127.0.0.1` prevents that.
   */
  baseUrl: string | URL;
  /**
   * The API key that authenticated requests carry, or a function that is called for the key before
   * each of them, so that keys can rotate. Without it, only operations that need no key can be
   * called.
   *
   * Operations that need no key are sent without it. `checkKey`, given no other key, sends it in the
   * body.
   */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /**
   * How long an attempt may take, in milliseconds, from its start to the last byte of the response's
   * body: a whole number from 1 to 2 147 483 647.
   *
   * Node.js's own `fetch` gives up after 10 s without a connection and after 300 s without headers
   * or another part of the body, whatever this says. An `Agent` of the package `undici` changes that:
   * `requestInitExt: { dispatcher: new Agent({ connect: { timeout }, headersTimeout, bodyTimeout }) }`.
   *
   * @default {30_000}
   */
  timeout?: number | undefined;
  /**
   * How many attempts may follow the first, when it failed in a way that may pass and the operation
   * may be repeated: a whole number from 0 to 100.
   *
   * @default {2}
   */
  retries?: number | undefined;
  /**
   * The size of the largest body that is read, in bytes after decompression.
   *
   * @default {10_485_760}
   */
  maxResponseBytes?: number | undefined;
  /**
   * Headers that every request carries. An `X-API-Key` among them is not sent: the client sends
   * {@linkcode ClientOptions.apiKey} where the operation needs it.
   */
  headers?: FetchOptions["headers"] | undefined;
  /**
   * A custom `fetch`, to test, proxy or trace requests; the global one by default. It must hand
   * redirects back instead of following them, as the request's `redirect: "manual"` asks.
   */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /**
   * Allows plain `http:` to hosts that are not loopback addresses, which shows the API key to
   * everyone on the way.
   *
   * @default {false}
   */
  allowInsecureHttp?: boolean | undefined;
  /**
   * Called before each wait for another attempt, for logs and metrics. Its promise is awaited; what
   * it throws ends the call, which rejects with it.
   */
  onRetry?: ((event: RetryEvent) => void) | ((event: RetryEvent) => Promise<void>) | undefined;
  /** How openapi-fetch writes the query: a function, or options for its own serializer. */
  querySerializer?: FetchOptions["querySerializer"] | undefined;
  /** How openapi-fetch writes the body: as JSON by default. `call` always writes JSON. */
  bodySerializer?: FetchOptions["bodySerializer"] | undefined;
  /** How openapi-fetch writes path parameters. */
  pathSerializer?: FetchOptions["pathSerializer"] | undefined;
  /** The `Request` class that middleware and a custom `fetch` get; the global one by default. */
  Request?: FetchOptions["Request"] | undefined;
  /**
   * On Node.js, options of its `fetch` that no `Request` can carry, such as undici's `dispatcher`.
   * A custom `fetch` gets them as its second argument.
   */
  requestInitExt?: FetchOptions["requestInitExt"] | undefined;
}

/** What can be set for a single call. */
export interface CallOptions {
  /**
   * Ends the call, also while it waits for another attempt. The promise rejects with the signal's
   * reason.
   */
  signal?: AbortSignal | null | undefined;
  /** Overrides {@linkcode ClientOptions.timeout}, in milliseconds. */
  timeout?: number | undefined;
  /** Overrides {@linkcode ClientOptions.retries}. */
  retries?: number | undefined;
}

/** The names of the options; the compiler holds the list to {@linkcode ClientOptions}. */
const NAMES = /* @__PURE__ */ Object.keys(
  {
    allowInsecureHttp: 0,
    apiKey: 0,
    baseUrl: 0,
    bodySerializer: 0,
    fetch: 0,
    headers: 0,
    maxResponseBytes: 0,
    onRetry: 0,
    pathSerializer: 0,
    querySerializer: 0,
    Request: 0,
    requestInitExt: 0,
    retries: 0,
    timeout: 0,
  } satisfies Record<keyof ClientOptions, 0>,
);

const FUNCTIONS = ["fetch", "onRetry", "bodySerializer", "pathSerializer", "Request"] as const;

const LOOPBACK = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])[:/]/;

/** The options of a client, checked and with their defaults. */
export type Settings = ClientOptions & {
  readonly baseUrl: string;
  readonly headers: Headers;
  readonly timeout: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
};

/** Checks the options of a client. */
export function readClientOptions(options: ClientOptions): Settings {
  if (typeof options !== "object" || options === null) {
    throw mustBe("options", 'an object with a "baseUrl"', options);
  }
  for (const name of Object.keys(options)) {
    if (NAMES.includes(name)) continue;
    const similar = NAMES.find((each) => each.toLowerCase() === name.toLowerCase());
    throw new ConfigurationError(
      `"${name}" is not an option${
        similar ? `; did you mean "${similar}"?` : " of createClient()"
      }`,
    );
  }
  for (const name of FUNCTIONS) checkFunction(name, options[name]);
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

/** Lets openapi-fetch read headers that are given as a list of pairs, which it cannot. */
export function readHeaders(headers: ClientOptions["headers"]): ClientOptions["headers"] {
  return Symbol.iterator in Object(headers) ? new Headers(headers as [string, string][]) : headers;
}

function readDefaultHeaders({ headers }: ClientOptions): Headers {
  try {
    return mergeHeaders(readHeaders(headers));
  } catch {
    throw new ConfigurationError('"headers" holds a name or a value that no header can carry');
  }
}

/** Checks the service's address and gives it the slash at its end. */
function readBaseUrl({ baseUrl, allowInsecureHttp }: ClientOptions): string {
  if (!baseUrl) throw new ConfigurationError('"baseUrl" is missing: give the service\'s address');
  let url: URL | undefined;
  try {
    url = new URL(baseUrl);
  } catch { /* Reported below. */ }
  if (!url || !/^https?:\/\/[^/@]+\/[^?#]*$/.test(url.href)) {
    throw new ConfigurationError(
      '"baseUrl" must be an absolute https URL without a user name, password, query or fragment',
    );
  }
  if (url.protocol === "http:" && !allowInsecureHttp && !LOOPBACK.test(url.href)) {
    throw new ConfigurationError(
      '"baseUrl" must be an https URL, because http shows the API key; "allowInsecureHttp" permits it',
    );
  }
  checkPath("baseUrl", url.pathname);
  return url.href.replace(/\/?$/, "/");
}
