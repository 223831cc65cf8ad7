import type { CallContext } from "./call.ts";
import type { ScamAddressError } from "./errors.ts";
import * as failures from "./failures.ts";
import { apiKeyHeader } from "./generated/operations.ts";
import { runWithin } from "./limits.ts";
import { type ApiKey, checkApiKey } from "./options.ts";
import { PlainRequest, PlainResponse } from "./plain.ts";
import { copyResponse, NULL_BODY_STATUSES, readResponse } from "./response.ts";
import { mayRetry, retryDelay } from "./retry.ts";
import { runsOn } from "./runtime.ts";
import { isJsonType, parseUrl } from "./serialize.ts";

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

/** What an attempt ends with: a response, an error, or both if the status is not 2xx. */
type Outcome =
  | { readonly response: PlainResponse; readonly error?: undefined }
  | { readonly response?: PlainResponse; readonly error: ScamAddressError };

/**
 * Sends a request, with the key if the operation needs one, and again after a temporary failure.
 * openapi-fetch calls it in place of `fetch`.
 *
 * @param callSignal The signal of the call, if something limits it.
 * @returns The last response, and the error for it if its status is not 2xx.
 * @throws The error of the last attempt, the reason of a signal, or what the caller's functions throw.
 */
export async function sendRequest(
  request: Request | PlainRequest,
  context: CallContext,
  callSignal?: AbortSignal,
): Promise<{ response: PlainResponse; error?: ScamAddressError }> {
  const parts = await readRequest(request);
  const { method, headers, body } = parts;
  const url = parseUrl(parts.url, context);
  await setHeaders(headers, context);
  const { deadline, requestInitExt, retries } = context;
  const isRetryable = mayRetry(method, context);
  const init: RequestInit = { ...requestInitExt, method, headers, ...body !== null && { body } };
  if (!isRetryable || retries === 0) Object.assign(init, sentOnce(parts));
  const signals = callSignal ? [callSignal] : [];
  // Middleware may make a request without the signal of the call.
  if (request instanceof Request) signals.push(request.signal);
  for (context.attempt = 1;; context.attempt++) {
    const { response, error } = await makeAttempt(url, init, context, signals);
    if (!error) return { response };
    const { attempt } = context;
    const delay = retryDelay(error, attempt, backoff.random(), isRetryable);
    if (attempt > retries || delay === undefined || performance.now() + delay >= deadline) {
      if (!response) throw error;
      return { response, error };
    }
    await runWithin({ signals }, async (controller) => {
      await context.onRetry?.({ attempt, delay, error });
      controller.signal.throwIfAborted(); // It may have been aborted while `onRetry` ran.
      await backoff.sleep(delay, controller.signal);
    });
  }
}

/**
 * Reads the parts of a request, to send them with each attempt. A `Request` itself cannot be sent: its
 * body has been read, and what wraps the global `fetch` may clone it, or ignore the options beside it.
 */
async function readRequest(request: Request | PlainRequest): Promise<PlainRequest> {
  if (!(request instanceof PlainRequest)) return await readParts(request);
  const { url, headers, body } = request;
  if (body === null || (typeof body === "string" && headers.has("content-type"))) return request;
  return await readParts(new Request(url, request)); // which writes a form, and names a type
}

/** Reads the parts of a `Request`. */
async function readParts(request: Request): Promise<PlainRequest> {
  const { url, method } = request;
  // Copied before the body is read: on Bun, a form's Content-Type is lost then. And as a list, because
  // a mock that has replaced `Headers` since the request was made does not know the request's own.
  const headers = new Headers([...request.headers]);
  return { url, method, headers, body: await readRequestBody(request) };
}

/** Reads the body of a request, if it has one: JSON as text, as callers of `fetch` pass it. */
async function readRequestBody(request: Request): Promise<string | ArrayBuffer | null> {
  if (["GET", "HEAD"].includes(request.method)) return null;
  const bytes = await request.arrayBuffer(); // This throws if middleware has read the body.
  if (!request.bodyUsed) return null; // Reading uses a body even if it is empty.
  if (!isJsonType(request.headers.get("content-type") ?? "")) return bytes;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes; // They are not text: they may be compressed.
  }
}

/** Sets the headers that the service needs, and the key, if there is one. */
async function setHeaders(headers: Headers, context: CallContext): Promise<void> {
  const { access, apiKey, parseAs } = context;
  headers.delete(apiKeyHeader); // The caller's own is ignored.
  if (parseAs === "json" && !headers.has("accept")) headers.set("accept", "application/json");
  if (access === "none") return;
  // Authenticated requests have a type, even without a body.
  if (!headers.has("content-type")) headers.set("content-type", "application/json");
  if (apiKey !== undefined) headers.set(apiKeyHeader, await resolveApiKey(apiKey, context));
}

/** Returns the client's key, or what its function returns. */
export async function resolveApiKey(apiKey: ApiKey, context: CallContext): Promise<string> {
  if (typeof apiKey === "string") return apiKey;
  const key: unknown = await apiKey();
  checkApiKey(key, context);
  context.secrets.add(key);
  return key;
}

/**
 * Returns the options that keep the runtime from repeating a request. If a kept connection breaks, Bun
 * repeats requests such as GET unless `keepalive` is `false`, and Deno repeats all requests unless their
 * body is a stream, as that of a `Blob` is (https://github.com/denoland/deno/pull/36415).
 */
function sentOnce({ method, body }: PlainRequest): RequestInit {
  const canHaveBody = !["GET", "HEAD"].includes(method);
  if (!runsOn("Deno") || !canHaveBody) return { keepalive: false };
  return { keepalive: false, body: new Blob(body === null ? [] : [body as BlobPart]) };
}

/** Sends a request once, and reads the response. */
async function makeAttempt(
  url: string,
  init: RequestInit,
  context: CallContext,
  signals: readonly AbortSignal[],
): Promise<Outcome> {
  const { fetch, timeout } = context; // `fetch` is called without a `this`
  // Declared here to keep the request alive during the attempt: in Node.js 20 to 26, a request that is
  // garbage-collected no longer gets its signal (https://github.com/nodejs/node/issues/55428).
  let _request: Request;
  const fetchOnce = async (signal: AbortSignal) => {
    const options: RequestInit = { ...init, redirect: "manual", signal };
    if (fetch) return await fetch(_request = new Request(url, options));
    // Each attempt has headers of its own, because what wraps the global `fetch` may add some.
    return await globalThis.fetch(url, { ...options, headers: new Headers(init.headers) });
  };
  const limits = { signals, timeout, onTimeout: () => failures.timeout(context, timeout) };
  try {
    const response = await runWithin(limits, async (controller) => {
      const { signal } = controller;
      const original = await fetchOnce(signal).catch((thrown) => {
        signal.throwIfAborted();
        // An error of this package that a custom `fetch` throws becomes a `NetworkError`, too.
        throw failures.network(context, thrown, url);
      });
      const body = await readResponse(original, context, signal);
      const response = new PlainResponse(original, body);
      if (!NULL_BODY_STATUSES.includes(original.status)) return response;
      // Node.js otherwise keeps the connection, and so the process, if such a response announces a
      // body, as a 304 with a Content-Length does. After that, only a copy can be read.
      controller.abort();
      return new PlainResponse(copyResponse(response), body);
    });
    if (response.ok) return { response };
    return { response, error: failures.http(context, response.original, response.text()) };
  } catch (thrown) {
    for (const signal of signals) signal.throwIfAborted();
    const isOwn = context.errors.has(thrown);
    return { error: isOwn ? thrown as ScamAddressError : failures.network(context, thrown, url) };
  }
}
