import { ConfigurationError } from "./errors.ts";
import type { RetryEvent } from "./retry.ts";

/** Where and how a client sends its requests. */
export interface ClientOptions {
  /**
   * The service's `{base_url}` (section 4 of its document), with or without the slash at its end.
   *
   * An absolute `https:` address without query, fragment, user name or password; see
   * {@linkcode ClientOptions.allowInsecureHttp} for `http:`.
   */
  baseUrl: string | URL;
  /**
   * The API key that authenticated requests carry (section 5.1), or a function that is asked for
   * it before each of them, so that keys can rotate. Operations that need no key never see it.
   *
   * @default {undefined}
   */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /**
   * How long an attempt may take, in milliseconds, from its start to the last byte of the answer's
   * body. A whole number from 1 to 2 147 483 647.
   *
   * @default {30_000}
   */
  timeout?: number | undefined;
  /**
   * How many attempts may follow the first, when it failed in a way that may pass and the
   * operation may be repeated.
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
   * Headers that every request carries. The header of the API key cannot be set here.
   *
   * @default {undefined}
   */
  headers?: HeadersInit | undefined;
  /**
   * What sends the requests, for tests, proxies and tracing. Redirects must be handed back, not
   * followed, as the request's `redirect: "manual"` asks.
   *
   * @default {globalThis.fetch}
   */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /**
   * Allows plain `http:` to hosts other than this machine, which shows the API key to everyone on
   * the way.
   *
   * @default {false}
   */
  allowInsecureHttp?: boolean | undefined;
  /**
   * Told before each wait that comes before another attempt, for logs and metrics.
   *
   * @default {undefined}
   */
  onRetry?: ((event: RetryEvent) => void) | undefined;
}

/** What can be set for a single call. */
export interface CallOptions {
  /**
   * Ends the call, also while it waits for another attempt; the promise rejects with the signal's
   * reason.
   *
   * @default {undefined}
   */
  signal?: AbortSignal | null | undefined;
  /** Overrides {@linkcode ClientOptions.timeout}, in milliseconds. */
  timeout?: number | undefined;
  /** Overrides {@linkcode ClientOptions.retries}. */
  retries?: number | undefined;
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const MAX_TIMEOUT = 2 ** 31 - 1; // a longer one makes setTimeout fire at once

function wholeNumber(name: string, value: unknown, min: number, max: number): number {
  const number = value as number;
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new ConfigurationError(`"${name}" must be a whole number from ${min} to ${max}`);
}

/** Checks `timeout`, in milliseconds. */
export function readTimeout(value: unknown = 30_000): number {
  return wholeNumber("timeout", value, 1, MAX_TIMEOUT);
}

/** Checks `retries`. */
export function readRetries(value: unknown = 2): number {
  return wholeNumber("retries", value, 0, 100);
}

/** Checks `maxResponseBytes`. */
export function readMaxResponseBytes(value: unknown = 10 * 2 ** 20): number {
  return wholeNumber("maxResponseBytes", value, 1, Number.MAX_SAFE_INTEGER);
}

/** Checks that a header can carry an API key as it stands; the error does not quote it. */
export function readApiKey(value: unknown): string {
  if (typeof value !== "string" || !value) {
    throw new ConfigurationError('"apiKey" must be a string that is not empty');
  }
  if (/[^ -~\xa0-\xff]|^ | $/.test(value)) {
    throw new ConfigurationError(
      '"apiKey" holds a character that no header can carry, or a space at one of its ends',
    );
  }
  return value;
}

/** Checks an optional function. */
export function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") {
    throw new ConfigurationError(`"${name}" must be a function`);
  }
}

/** Checks the service's address and gives it the slash at its end. */
export function readBaseUrl(value: unknown, allowInsecureHttp: boolean | undefined): string {
  let url: URL;
  try {
    url = new URL(value as string);
  } catch {
    throw new ConfigurationError('"baseUrl" must be an absolute URL');
  }
  const { href, protocol, username, password, hostname } = url;
  if (!/^https?:$/.test(protocol)) {
    throw new ConfigurationError('"baseUrl" must begin with "https://"');
  }
  if (username || password) {
    throw new ConfigurationError('"baseUrl" must not hold a user name or password');
  }
  if (/[?#]/.test(href)) {
    throw new ConfigurationError('"baseUrl" must not hold a query or fragment');
  }
  if (protocol === "http:" && !allowInsecureHttp && !LOOPBACK.test(hostname)) {
    throw new ConfigurationError(
      '"baseUrl" must begin with "https://", or anyone on the way can read the API key; set "allowInsecureHttp" to accept that',
    );
  }
  return href.endsWith("/") ? href : `${href}/`;
}
