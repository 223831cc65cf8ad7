import { readResponse } from "./body.ts";
import type { Call } from "./call.ts";
import type { NetworkError, TimeoutError } from "./errors.ts";
import * as failures from "./failures.ts";
import { runWithin } from "./limits.ts";
import { type BufferedResponse, RequestParts } from "./parts.ts";
import { isIdempotent, retryDelay } from "./retry.ts";
import { isDeno } from "./runtime.ts";
import { withoutQuery } from "./text.ts";

/** How to wait between attempts; tests replace these functions. */
export const backoff = {
  sleep: (milliseconds: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      signal.addEventListener("abort", () => clearTimeout(timer));
    }),
  /** Returns a number from 0 to below 1, which spreads the waits of many clients. */
  random: (): number => Math.random(),
};

/**
 * Sends a request, and again after a temporary failure.
 *
 * @param signal The signal of the call, if something limits it.
 * @returns The last response, whatever its status.
 * @throws The error of the last attempt, the reason of the signal, or what `onRetry` throws.
 */
export async function send(
  request: Request | RequestParts,
  call: Call,
  signal?: AbortSignal,
): Promise<BufferedResponse> {
  const { deadline, record, retries } = call;
  const { url, init } = await prepare(request, call);
  const signals = [signal, request.signal]; // Middleware may have made the request.
  const isRepeatable = call.isRepeatable(request.method);
  if (!isRepeatable || retries === 0) Object.assign(init, sentOnce(init));
  for (let attempt = 1;; attempt++) {
    record.attempt = attempt;
    const { response, error } = await attemptOnce(url, init, call, signals);
    if (response?.ok) return response;
    const delay = retryDelay(response, attempt, backoff.random(), isRepeatable);
    const isLast = attempt > retries || delay === undefined;
    if (isLast || performance.now() + delay >= deadline) {
      if (response) return response;
      throw error;
    }
    await runWithin({ signals }, async (signal) => {
      await call.onRetry?.({
        attempt,
        delay,
        error: error ?? failures.httpError(record, response.original, response.text()),
      });
      signal.throwIfAborted(); // It may have been aborted while `onRetry` ran.
      await backoff.sleep(delay, signal);
    });
  }
}

/** Checks where a request goes, sets the key, and returns what each attempt passes to `fetch`. */
async function prepare(request: Request | RequestParts, call: Call) {
  const { method, headers, body, ...parts } = await partsOf(request);
  const url = new URL(parts.url).href;
  if (!url.startsWith(call.baseUrl)) {
    const problem = 'must begin with "/", and stay below "baseUrl", to protect the key';
    throw failures.ofCall(failures.optionError("path", problem));
  }
  call.record.request = `${method} ${withoutQuery(url)}`;
  await call.setHeaders(headers);
  const init: RequestInit = { ...call.requestInitExt, method, headers, redirect: "manual" };
  return { url, init: body === null ? init : { ...init, body } };
}

/**
 * Returns the parts of a request. A `Request` cannot be sent twice, and what wraps the global `fetch` may
 * clone it, or ignore the options beside it.
 */
async function partsOf(request: Request | RequestParts): Promise<RequestParts> {
  const { url, method } = request;
  if (request instanceof RequestParts) {
    const isText = typeof request.body === "string" && request.headers.has("content-type");
    if (isText || request.body === null) return request;
    request = new Request(url, request); // which writes a form, and names its type
  }
  // Copied before the body is read: on Bun, a form's Content-Type is lost then. And as a list, because
  // a mock that has replaced `Headers` since the request was made does not know the request's own.
  const headers = new Headers([...request.headers]);
  const body = request.body && readText(await request.arrayBuffer(), headers);
  return new RequestParts(url, { method, headers, body });
}

const utf8 = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns JSON as text, as callers of `fetch` pass it. Other bytes stay as they are. */
function readText(bytes: ArrayBuffer, headers: Headers): string | ArrayBuffer {
  if (!/json/i.test(headers.get("content-type") ?? "")) return bytes;
  try {
    return utf8.decode(bytes);
  } catch {
    return bytes; // They are not text: they may be compressed.
  }
}

/**
 * Returns the options that keep the runtime from repeating a request. If a kept connection breaks, Bun
 * repeats requests with an idempotent method unless `keepalive` is `false`, and Deno repeats all requests
 * unless their body is a stream, as that of a `Blob` is (https://github.com/denoland/deno/pull/36415).
 */
function sentOnce({ method = "GET", body }: RequestInit): RequestInit {
  const options: RequestInit = isIdempotent(method) ? { keepalive: false } : {};
  if (!isDeno || ["GET", "HEAD"].includes(method)) return options;
  return { ...options, body: new Blob(body ? [body as BlobPart] : []) };
}

/** What an attempt ends with: a response, whatever its status, or a temporary failure. */
type Outcome =
  | { readonly response: BufferedResponse; readonly error?: undefined }
  | { readonly response?: undefined; readonly error: NetworkError | TimeoutError };

/** What is wrong with a response that cannot be used, by rule. */
const PROBLEMS = {
  maxResponseBytes: 'is larger than "maxResponseBytes"',
  redirected: 'comes from a redirect, which a custom "fetch" must not follow',
};

/**
 * Sends a request once, and reads the response.
 *
 * @throws The reason of a signal, or an `InvalidResponseError`, which no retry would mend.
 */
async function attemptOnce(
  url: string,
  init: RequestInit,
  call: Call,
  signals: readonly (AbortSignal | null | undefined)[],
): Promise<Outcome> {
  const { fetch, maxResponseBytes, record, timeout } = call; // `fetch` is called without a `this`
  let timedOut: TimeoutError | undefined;
  const onTimeout = () => timedOut = failures.timeoutError(record, timeout);
  // Declared here to keep the request alive during the attempt: in Node.js 20 to 26, a request that is
  // garbage-collected no longer gets its signal (https://github.com/nodejs/node/issues/55428).
  let _request: Request;
  const work = async (signal: AbortSignal) => {
    // Each attempt has headers of its own, because what wraps the global `fetch` may add some.
    const options = { ...init, headers: new Headers(init.headers), signal };
    const response = fetch
      ? await fetch(_request = new Request(url, options))
      : await globalThis.fetch(url, options);
    return await readResponse(response, maxResponseBytes, signal, !fetch);
  };
  let response: BufferedResponse;
  try {
    response = await runWithin({ signals, timeout, onTimeout }, work);
  } catch (thrown) {
    for (const signal of signals) signal?.throwIfAborted();
    return { error: timedOut ?? failures.networkError(record, thrown, url) };
  }
  const { isCut, ok, original } = response;
  const rule = original.redirected ? "redirected" : ok && isCut ? "maxResponseBytes" : undefined;
  if (!rule) return { response };
  const issue = { path: "", rule, message: PROBLEMS[rule] };
  throw failures.invalidResponse(record, original, response.text(), [issue]);
}
