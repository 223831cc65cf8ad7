import { readApiKey } from "./api_key.ts";
import type { Call } from "./call.ts";
import { optionError } from "./checks.ts";
import type { NetworkError } from "./errors.ts";
import { apiKeyHeader } from "./generated/operations.ts";
import { NULL_BODY_STATUSES, type Sendable } from "./transport/attempt.ts";
import { type Bytes, readStream } from "./transport/body.ts";
import { isIdempotent } from "./transport/retry.ts";
import { sendWithRetries } from "./transport/send.ts";
import { captureStack } from "./transport/stack.ts";
import { decode } from "./transport/text.ts";

/** The options of `fetch` that a `Request` has, with their defaults. */
const FETCH_DEFAULTS = {
  cache: "default",
  credentials: "same-origin",
  integrity: "",
  keepalive: false,
  mode: "cors",
  referrer: "about:client",
  referrerPolicy: "",
} as const;

/**
 * Sends a request, with the key if the operation needs one. openapi-fetch calls it in place of `fetch`,
 * and gets the response, or the error that is thrown here.
 */
export async function sendRequest(
  request: Request,
  call: Call,
  callSignal: AbortSignal | undefined,
  requestInitExt?: RequestInit,
): Promise<Response> {
  const { apiKey, baseUrl, errors, hasMiddleware, isAuthenticated, operation } = call;
  const { method, url } = request;
  // The first comparison is enough for almost all requests, and cheaper. It is safe because `baseUrl`
  // is an `href`, which has a slash after the host.
  if (!url.startsWith(baseUrl) && new URL(url).origin !== new URL(baseUrl).origin) {
    throw optionError("baseUrl", "must have the origin of the request: the key goes to no other");
  }
  // Copied before the body is read, because Bun then loses the type of a form.
  const headers = new Headers(request.headers);
  const body = await readRequestBody(request, callSignal);
  let key = isAuthenticated ? apiKey : undefined;
  if (typeof key === "function") {
    key = readApiKey(await key());
    errors.secrets.add(key); // a string was added in `prepareCall`
  }
  setHeaders(headers, key, call);
  // Middleware may have made the request, with another method and with a signal of its own. Any other
  // request has no signal except the call's.
  const ownSignal = hasMiddleware ? request.signal : undefined;
  const documented = method === call.method ? operation?.idempotent : undefined;
  // The parts, not the request: its body has been read, and what wraps the global `fetch` may clone a
  // request, or ignore the options beside it.
  const init: RequestInit = { ...requestInitExt, ...fetchOptionsOf(request), method, headers };
  if (body !== null) init.body = body;
  const outcome = await sendWithRetries(call, {
    fetchOnce: makeFetchOnce(url, init, call),
    mayRepeat: call.idempotent ?? documented ?? isIdempotent(method),
    signals: [callSignal, ownSignal],
  });
  const result = outcome.error ?? toResponse(outcome.response, outcome.body.bytes, call);
  if (!(result instanceof Error)) return result;
  captureStack(result, sendRequest); // again, because Bun's stacks end in `abortable`
  throw result;
}

/** Reads the body, to send it with each attempt: JSON as text, as callers of `fetch` pass it. */
async function readRequestBody(
  request: Request,
  signal: AbortSignal | undefined,
): Promise<BodyInit | null> {
  const bytes = await readBytes(request, signal);
  const { headers } = request;
  const isText = /json/i.test(headers.get("content-type") ?? "") &&
    !headers.has("content-encoding");
  return bytes && isText ? decode(bytes) : bytes;
}

/** Reads the body of a request as bytes; `null` if it has none. */
async function readBytes(request: Request, signal: AbortSignal | undefined): Promise<Bytes | null> {
  // The stream is read here so that an abort also cancels it. Firefox has no `body` to read
  // (https://bugzilla.mozilla.org/show_bug.cgi?id=1387483), and goes on below.
  if (signal && request.body && !request.bodyUsed) {
    const read = await readStream(request.body, Infinity, signal);
    if ("thrown" in read) throw read.thrown;
    return read.bytes;
  }
  const bytes = new Uint8Array(await request.arrayBuffer()); // throws if somebody has read the body
  return request.bodyUsed ? bytes : null; // Reading uses a body even if it is empty.
}

/** Returns the options of `fetch` that middleware, or the options of a call, have set. */
function fetchOptionsOf(request: Request): RequestInit {
  const names = Object.keys(FETCH_DEFAULTS) as (keyof typeof FETCH_DEFAULTS)[];
  const isSet = (name: typeof names[number]) =>
    request[name] !== undefined && request[name] !== FETCH_DEFAULTS[name];
  return Object.fromEntries(names.filter(isSet).map((name) => [name, request[name]]));
}

/** Sets the headers that the service needs, and the key, if there is one. */
function setHeaders(headers: Headers, key: string | undefined, call: Call): void {
  headers.delete(apiKeyHeader); // The caller's own is ignored.
  if (call.parseAs === "json" && !headers.has("accept")) headers.set("accept", "application/json");
  if (!call.isAuthenticated) return;
  // Authenticated requests have a type, even without a body.
  if (!headers.has("content-type")) headers.set("content-type", "application/json");
  if (key !== undefined) headers.set(apiKeyHeader, key);
}

/** Makes the function that sends a request once, by the caller's `fetch` or the global one. */
function makeFetchOnce(
  url: string,
  init: RequestInit,
  { fetch, Request = globalThis.Request }: Call, // `fetch` is called without a `this`
): Sendable["fetchOnce"] {
  // Node.js 20 to 26 loses the signal of a request that is collected as garbage
  // (https://github.com/nodejs/node/issues/55428). This holds it as long as the call lasts.
  const held: Request[] = [];
  return (signal) => {
    const headers = new Headers(init.headers); // of this attempt: what wraps `fetch` may add some
    const options: RequestInit = { ...init, headers, redirect: "manual", signal };
    if (!fetch) return globalThis.fetch(url, options);
    held[0] = new Request(url, options); // in place of the last one, whose body may be large
    return fetch(held[0]);
  };
}

/**
 * Makes the response that openapi-fetch gets: the runtime's own with its text, or a copy. Returns an
 * error where none can be made.
 */
function toResponse(response: Response, bytes: Bytes, call: Call): Response | NetworkError {
  const { errors, hasMiddleware, parseAs } = call;
  const { headers, status, statusText, type, url } = response;
  // Without middleware, only openapi-fetch reads the response. To hand on the runtime's own saves a
  // tenth to a third of openapi-fetch's CPU time on Deno.
  const isReadAsText = !hasMiddleware && (parseAs === "json" || parseAs === "text");
  if (isReadAsText && type === "basic") { // the runtime's own
    const text = decode(bytes);
    if (replaceProperty(response, "text", () => Promise.resolve(text))) return response;
  }
  try {
    const body = NULL_BODY_STATUSES.includes(status) ? null : bytes;
    const copy = new Response(body, { headers, status });
    // `statusText` is no option, because Node.js 20 to 26 refuses some reason phrases that it receives.
    replaceProperty(copy, "url", url);
    replaceProperty(copy, "statusText", statusText);
    return copy;
  } catch (thrown) { // Node.js 20 and 22 receive header names that `Response` refuses.
    return errors.network(thrown, response);
  }
}

/**
 * Replaces a property that a response has from its class. Returns whether that was possible: a custom
 * `fetch` may have frozen the response.
 */
function replaceProperty(response: Response, name: keyof Response, value: unknown): boolean {
  // The new one can be changed, because proxies of responses refuse one that cannot.
  return Reflect.defineProperty(response, name, { value, configurable: true, writable: true });
}
