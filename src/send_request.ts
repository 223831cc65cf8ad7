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
  const outcome = await sendWithRetries(call, {
    fetchOnce: makeFetchOnce(request, { method, headers, body }, call, requestInitExt),
    mayRepeat: call.idempotent ?? documented ?? isIdempotent(method),
    signals: [callSignal, ownSignal],
  });
  const result = outcome.error ?? toResponse(outcome.response, outcome.body.bytes, call);
  if (!(result instanceof Error)) return result;
  captureStack(result, sendRequest); // again, because Bun's stacks end in `abortable`
  throw result;
}

/** Reads the body of a request, which is sent again with each attempt. */
async function readRequestBody(request: Request, signal?: AbortSignal): Promise<BodyInit | null> {
  // The stream is read here so that an abort also cancels it. Firefox has no `body` to read
  // (https://bugzilla.mozilla.org/show_bug.cgi?id=1387483), and goes on below.
  if (signal && request.body && !request.bodyUsed) {
    const read = await readStream(request.body, Infinity, signal);
    if ("thrown" in read) throw read.thrown;
    return read.bytes;
  }
  const bytes = await request.arrayBuffer(); // which throws when somebody has read the body
  return request.bodyUsed ? bytes : null; // Reading uses a body even if it is empty.
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

/** The parts of a request that each attempt sets, over those of the request and `requestInitExt`. */
type RequestParts = { method: string; headers: Headers; body: BodyInit | null };

/** Makes the function that sends a request once, by the caller's `fetch` or the global one. */
function makeFetchOnce(
  request: Request,
  parts: RequestParts,
  { fetch, Request = globalThis.Request }: Call, // `fetch` is called without a `this`
  requestInitExt: RequestInit | undefined,
): Sendable["fetchOnce"] {
  // Node.js 20 to 26 loses the signal of a request that is collected as garbage
  // (https://github.com/nodejs/node/issues/55428). This holds it as long as the call lasts.
  const held: Request[] = [];
  return (signal) => {
    // `init` is spread last below, so that `requestInitExt` replaces nothing of it.
    const init: RequestInit = { ...parts, redirect: "manual", signal };
    if (!fetch) return globalThis.fetch(request, { ...requestInitExt, ...init });
    const copy = new Request(request, init);
    // Where `headers` is empty, Bun's `Request` keeps those that middleware has set
    // (https://github.com/oven-sh/bun/pull/41994).
    if (!parts.headers.has(apiKeyHeader)) copy.headers.delete(apiKeyHeader);
    held[0] = copy; // in place of the last one, whose body may be large
    if (!requestInitExt) return fetch(copy);
    return (fetch as typeof globalThis.fetch)(copy, { ...requestInitExt, ...init });
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
