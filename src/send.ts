import type { CallContext } from "./call.ts";
import type { ScamAddressError } from "./errors.ts";
import * as failures from "./failures.ts";
import { apiKeyHeader } from "./generated/operations.ts";
import { runWithin } from "./limits.ts";
import { type ApiKey, checkApiKey, optionError } from "./options.ts";
import { NULL_BODY_STATUSES, readResponse } from "./response.ts";
import { mayRepeat, retryDelay } from "./retry.ts";
import { runsOn } from "./runtime.ts";
import { isJsonType } from "./serialize.ts";

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
 * Sends a request, with the key if the operation needs one, and again after a temporary failure.
 * openapi-fetch calls it in place of `fetch`.
 *
 * @param signal The signal of the call, if something limits it.
 * @returns The last response, whatever its status.
 * @throws The error of the last attempt, the reason of a signal, or what the caller's functions throw.
 */
export async function sendRequest(request: Request, context: CallContext, signal?: AbortSignal) {
  const { method, url } = request;
  if (new URL(url).origin !== context.origin) {
    const problem = "must have the same origin as the request, which was not sent";
    throw optionError("baseUrl", `${problem}: the key is only sent there`, context);
  }
  const isRepeatable = mayRepeat(method, context);
  const init = await readRequest(request, context, isRepeatable && context.retries > 0);
  // Middleware may make a request without the signal of the call.
  const signals = signal ? [signal, request.signal] : [request.signal];
  for (context.attempt = 1;; context.attempt++) {
    const outcome = await makeAttempt(url, init, context, signals);
    if (outcome instanceof Response && outcome.ok) return outcome;
    const error = outcome instanceof Response
      ? failures.http(context, outcome, await outcome.clone().text())
      : outcome;
    const { attempt, deadline, retries } = context;
    const delay = retryDelay(error, attempt, backoff.random(), isRepeatable);
    if (attempt > retries || delay === undefined || performance.now() + delay >= deadline) {
      if (!(outcome instanceof Response)) throw outcome;
      context.failure = { response: outcome, error };
      return outcome;
    }
    await runWithin({ signals }, async (controller) => {
      await context.onRetry?.({ attempt, delay, error });
      controller.signal.throwIfAborted(); // It may have been aborted while `onRetry` ran.
      await backoff.sleep(delay, controller.signal);
    });
  }
}

/**
 * Reads the parts of a request, to send them with each attempt. The request itself cannot be sent: its
 * body has been read, and what wraps the global `fetch` may clone it, or ignore the options beside it.
 *
 * @param mayResend Whether the runtime may send the request again. If a kept connection breaks, Bun
 * repeats requests such as GET unless `keepalive` is `false`, and Deno repeats all requests unless their
 * body is a stream, as that of a `Blob` is (https://github.com/denoland/deno/pull/36415).
 */
async function readRequest(request: Request, context: CallContext, mayResend: boolean) {
  // Copied first: on Bun, a form's Content-Type is lost when the body is read.
  const headers = new Headers(request.headers);
  const body = await readRequestBody(request);
  await setHeaders(headers, context);
  const { method } = request;
  const init: RequestInit = { ...context.requestInitExt, method, headers };
  if (body !== undefined) init.body = body;
  if (mayResend) return init;
  const canHaveBody = !["GET", "HEAD"].includes(method);
  if (runsOn("Deno") && canHaveBody) init.body = new Blob(body === undefined ? [] : [body]);
  return { ...init, keepalive: false };
}

/** Reads the body of a request, if it has one: JSON as text, as callers of `fetch` pass it. */
async function readRequestBody(request: Request): Promise<string | ArrayBuffer | undefined> {
  if (["GET", "HEAD"].includes(request.method)) return undefined;
  const bytes = await request.arrayBuffer(); // This throws if middleware has read the body.
  if (!request.bodyUsed) return undefined; // Reading uses a body even if it is empty.
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

/** Sends a request once; returns the response, with its body, or an error. */
async function makeAttempt(
  url: string,
  init: RequestInit,
  context: CallContext,
  signals: readonly AbortSignal[],
): Promise<Response | ScamAddressError> {
  const { fetch, timeout } = context; // `fetch` is called without a `this`
  // Declared here to keep the request alive during the attempt: in Node.js 20 to 26, a request that is
  // garbage-collected no longer gets its signal (https://github.com/nodejs/node/issues/55428).
  let request: Request;
  const fetchOnce = async (signal: AbortSignal) => {
    // Each attempt has headers of its own, because what wraps `fetch` may add some.
    const headers = new Headers(init.headers);
    const options: RequestInit = { ...init, headers, redirect: "manual", signal };
    if (!fetch) return await globalThis.fetch(url, options);
    request = new Request(url, options);
    return await fetch(request);
  };
  const limits = { signals, timeout, onTimeout: () => failures.timeout(context, timeout) };
  try {
    return await runWithin(limits, async (controller) => {
      const { signal } = controller;
      const response = await fetchOnce(signal).catch((thrown) => {
        signal.throwIfAborted();
        // An error of this package that a custom `fetch` throws becomes a `NetworkError`, too.
        throw failures.network(context, thrown, url);
      });
      const copy = await readResponse(response, context, signal);
      // Node.js otherwise keeps the connection, and so the process, if such a response announces a
      // body, as a 304 with a Content-Length does.
      if (NULL_BODY_STATUSES.includes(response.status)) controller.abort();
      return copy;
    });
  } catch (thrown) {
    for (const signal of signals) signal.throwIfAborted();
    const isOwn = context.errors.has(thrown as Error);
    return isOwn ? thrown as ScamAddressError : failures.network(context, thrown, url);
  }
}
