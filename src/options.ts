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
   * it before each of them, so that keys can rotate. Operations that need no key are sent without
   * it, but `checkKey`, given no other, sends it in the body.
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
   * operation may be repeated. A whole number from 0 to 100.
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
   * Headers that every request carries. An `X-API-Key` among them is left out: the client sends
   * {@linkcode ClientOptions.apiKey}, where the operation needs it.
   *
   * @default {undefined}
   */
  headers?: RequestInit["headers"] | undefined;
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
   * Told before each wait that comes before another attempt, for logs and metrics. What it throws
   * ends the call and is what the call rejects with.
   *
   * @default {undefined}
   */
  onRetry?: ((event: RetryEvent) => void) | undefined;
}

/** What can be set for a single call. */
export interface CallOptions {
  /**
   * Ends the call, also while it waits for another attempt; the promise rejects with the signal's
   * reason. Node.js 20 itself warns once when more than ten calls at a time share a signal.
   *
   * @default {undefined}
   */
  signal?: AbortSignal | null | undefined;
  /**
   * Overrides {@linkcode ClientOptions.timeout}, in milliseconds.
   *
   * @default {the client's own}
   */
  timeout?: number | undefined;
  /**
   * Overrides {@linkcode ClientOptions.retries}.
   *
   * @default {the client's own}
   */
  retries?: number | undefined;
}

const LOOPBACK = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])[:/]/;

/** Of each numeric option the default, the least and the largest value. */
const LIMITS = {
  timeout: [30_000, 1, 2 ** 31 - 1], // a longer one makes setTimeout fire at once
  retries: [2, 0, 100],
  maxResponseBytes: [10 * 2 ** 20, 1, 2 ** 53 - 1],
} as const;

/** Checks a numeric option, or gives its default. */
export function readNumber(
  name: keyof typeof LIMITS,
  value: unknown,
  otherwise: number = LIMITS[name][0],
): number {
  if (value === undefined) return otherwise;
  const [, min, max] = LIMITS[name];
  const number = value as number; // "as number <" would start type arguments to dnt's parser
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new ConfigurationError(`"${name}" must be a whole number from ${min} to ${max}`);
}

/** Checks that a header can carry an API key as it stands; the error does not quote it. */
export function readApiKey(value: unknown): string {
  if (typeof value === "string" && /^[ -~\xa0-\xff]+$/.test(value) && value === value.trim()) {
    return value;
  }
  throw new ConfigurationError(
    '"apiKey" must be Latin-1 text that a header can carry, without spaces around it and line breaks',
  );
}

/** Checks an optional function. */
export function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") {
    throw new ConfigurationError(`"${name}" must be a function`);
  }
}

/** Checks the signal of a call. */
export function checkSignal(signal: CallOptions["signal"]): void {
  if (signal && typeof signal.throwIfAborted !== "function") {
    throw new ConfigurationError('"signal" must be an AbortSignal');
  }
  signal?.throwIfAborted();
}

/** Checks the service's address and gives it the slash at its end. */
export function readBaseUrl({ baseUrl, allowInsecureHttp }: ClientOptions): string {
  let href = "";
  try {
    ({ href } = new URL(baseUrl));
  } catch { /* Reported below. */ }
  if (!/^https?:\/\/[^/@]+\/[^?#]*$/.test(href)) {
    throw new ConfigurationError(
      '"baseUrl" must be an absolute https URL without credentials, query and fragment',
    );
  }
  if (href.startsWith("http:") && !allowInsecureHttp && !LOOPBACK.test(href)) {
    throw new ConfigurationError(
      '"baseUrl" must be an https URL, as http shows the API key; "allowInsecureHttp" accepts that',
    );
  }
  return href.replace(/\/?$/, "/");
}
