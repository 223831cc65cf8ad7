import { readResponse } from "./body.ts";
import type { Call } from "./call.ts";
import { type ScamAddressError, TimeoutError } from "./errors.ts";
import * as failures from "./failures.ts";
import { runWithin } from "./limits.ts";
import { type ReadResponse, RequestParts } from "./parts.ts";
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
): Promise<ReadResponse> {
  const { deadline, retries } = call;
  const { url, init } = await readRequest(request, call);
  const signals = [signal, request.signal]; // Middleware may have made the request.
  const isRepeatable = call.idempotent ?? isIdempotent(request.method);
  if (!isRepeatable || retries === 0) Object.assign(init, sentOnce(init));
  for (call.attempt = 1;; call.attempt++) {
    const { response, error } = await attemptOnce(url, init, call, signals);
    if (!error) return response;
    const { attempt } = call;
    const delay = retryDelay(error, attempt, backoff.random(), isRepeatable);
    const isLast = attempt > retries || delay === undefined;
    if (isLast || performance.now() + delay >= deadline) {
      if (response) return response;
      throw error;
    }
    await runWithin({ signals }, async (signal) => {
      await call.onRetry?.({ attempt, delay, error });
      signal.throwIfAborted(); // It may have been aborted while `onRetry` ran.
      await backoff.sleep(delay, signal);
    });
  }
}

/**
 * Reads the parts of a request, to send them with each attempt. The `Request` itself cannot be sent
 * twice, and what wraps the global `fetch` may clone it, or ignore the options beside it.
 */
async function readRequest(request: Request | RequestParts, call: Call) {
  const { method, headers, body, ...parts } = await readParts(request);
  const url = new URL(parts.url).href;
  if (!url.startsWith(call.baseUrl)) {
    throw failures.optionError("path", 'must stay below "baseUrl", to protect the key');
  }
  call.name = `${method} ${withoutQuery(url)}`;
  await call.setHeaders(headers);
  const init: RequestInit = { ...call.requestInitExt, method, headers, redirect: "manual" };
  return { url, init: body === null ? init : { ...init, body } };
}

/** Reads the parts of a request: JSON as text, as callers of `fetch` pass it. */
async function readParts(request: Request | RequestParts): Promise<RequestParts> {
  const { url, method } = request;
  if (request instanceof RequestParts) {
    const isText = typeof request.body === "string" && request.headers.has("content-type");
    if (isText || request.body === null) return request;
    request = new Request(url, request); // which writes a form, and names its type
  }
  const headers = new Headers([...request.headers]);
  const isText = /json/.test(headers.get("content-type") ?? "") && !headers.has("content-encoding");
  const body = request.body && await (isText ? request.text() : request.arrayBuffer());
  return new RequestParts(url, { method, headers, body });
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

/** What an attempt ends with: a response, an error, or both if the status is not 2xx. */
type Outcome =
  | { readonly response: ReadResponse; readonly error?: undefined }
  | { readonly response?: ReadResponse; readonly error: ScamAddressError };

/** What is wrong with a response that cannot be used, by rule. */
const PROBLEMS = {
  maxResponseBytes: 'is larger than "maxResponseBytes"',
  redirected: 'comes from a redirect, which a custom "fetch" must not follow',
};

/** Sends a request once, and reads the response. */
async function attemptOnce(
  url: string,
  init: RequestInit,
  call: Call,
  signals: readonly (AbortSignal | null | undefined)[],
): Promise<Outcome> {
  const { fetch, maxResponseBytes, timeout } = call; // `fetch` is called without a `this`
  const onTimeout = () =>
    failures.fail(call, TimeoutError, `took more than ${timeout} ms`, { timeout });
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
  let received: ReadResponse;
  try {
    received = await runWithin({ signals, timeout, onTimeout }, work);
  } catch (thrown) {
    for (const signal of signals) signal?.throwIfAborted();
    const isTimeout = thrown instanceof TimeoutError;
    return { error: isTimeout ? thrown : failures.networkError(call, thrown, url) };
  }
  const { isCut, ok, original } = received;
  const rule = original.redirected ? "redirected" : ok && isCut ? "maxResponseBytes" : undefined;
  if (ok && !rule) return { response: received };
  const text = received.text();
  if (!rule) return { response: received, error: failures.httpError(call, original, text) };
  const issue = { path: "", rule, message: PROBLEMS[rule] };
  return { error: failures.invalidResponse(call, original, text, [issue]) };
}
