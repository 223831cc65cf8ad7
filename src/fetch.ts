import { readApiKey } from "./api_key.ts";
import type { Call } from "./call.ts";
import { optionError } from "./checks.ts";
import { apiKeyHeader } from "./generated/operations.ts";
import { NULL_BODY_STATUSES, type Sendable } from "./transport/attempt.ts";
import { type Bytes, decode, readStream } from "./transport/body.ts";
import { isIdempotent } from "./transport/retry.ts";
import { sendWithRetries } from "./transport/send.ts";

/**
 * What is sent, again if necessary.
 *
 * In an unwatched call, openapi-fetch makes it in place of a `Request`, which saves 20 to 30 % of
 * openapi-fetch's CPU time; it becomes a `Request` only for a custom `fetch`. In a watched call,
 * `copyRequest` makes it of the `Request`.
 */
export class RequestParts {
  readonly method: string;
  readonly headers: Headers;
  readonly body: BodyInit | null;

  /**
   * openapi-fetch passes what it would pass to `Request`. `copyRequest` also passes the `Request` of the
   * watched call, which has what is not copied, such as `credentials` and `cache`.
   */
  constructor(
    readonly url: string,
    { method, headers, body }: RequestInit,
    readonly original?: Request,
  ) {
    this.method = method!;
    this.headers = headers as Headers;
    this.body = body ?? null;
    if (typeof body !== "string" || this.headers.has("content-type")) return;
    this.headers.set("content-type", "text/plain;charset=UTF-8"); // as a `Request` does
  }
}

/** What openapi-fetch calls in place of `fetch`: adds the key, sends, and throws what failed. */
export async function sendWithKey(
  request: Request | RequestParts,
  call: Call,
  callSignal: AbortSignal | undefined,
  requestInitExt?: RequestInit,
): Promise<Response> {
  const { apiKey, baseUrl, errors, isAuthenticated } = call;
  const { url } = request;
  // The first comparison is enough for almost all requests, and cheaper. It is safe because `baseUrl`
  // is an `href`, which has a slash after the host.
  if (!url.startsWith(baseUrl) && new URL(url).origin !== new URL(baseUrl).origin) {
    throw optionError("baseUrl", "must have the origin of the request: the key goes to no other");
  }
  const parts = request instanceof RequestParts ? request : await copyRequest(request, callSignal);
  let key = isAuthenticated ? apiKey : undefined;
  if (typeof key === "function") {
    key = readApiKey(await key());
    errors.secrets.add(key); // a string was added in `prepareCall`
  }
  setHeaders(parts.headers, key, call);
  const outcome = await sendWithRetries(call, {
    fetchOnce: makeFetchOnce(parts, call, requestInitExt),
    mayRepeat: isRepeatable(parts.method, call),
    signals: [callSignal, parts.original?.signal], // middleware may have made a request with one
  });
  const result = outcome.error ?? toResponse(outcome.response, outcome.body.bytes, call);
  if (result instanceof Error) throw result;
  return result;
}

/** Copies the parts of a request that this client changes or sends again. */
async function copyRequest(original: Request, callSignal: AbortSignal | undefined) {
  const { url, method } = original;
  const init: RequestInit = { method, headers: new Headers(original.headers) };
  // The stream is read here so that an abort also cancels it. Firefox has no `body` to read
  // (https://bugzilla.mozilla.org/show_bug.cgi?id=1387483), and goes on below.
  if (callSignal && original.body && !original.bodyUsed) {
    const read = await readStream(original.body, Infinity, callSignal);
    if ("thrown" in read) throw read.thrown;
    return new RequestParts(url, { ...init, body: read.bytes }, original);
  }
  const bytes = await original.arrayBuffer(); // which throws when somebody has read the body
  // Reading sets `bodyUsed` only if there is a body, even an empty one.
  return new RequestParts(url, { ...init, body: original.bodyUsed ? bytes : null }, original);
}

/** Sets the headers that the service needs, and the key, if there is one. */
function setHeaders(headers: Headers, key: string | undefined, call: Call): void {
  headers.delete(apiKeyHeader); // The caller's own is ignored.
  if (call.isJson && !headers.has("accept")) headers.set("accept", "application/json");
  if (!call.isAuthenticated) return;
  // Authenticated requests have a type, even without a body.
  if (!headers.has("content-type")) headers.set("content-type", "application/json");
  if (key !== undefined) headers.set(apiKeyHeader, key);
}

/** Makes the function that sends a request once, by the caller's `fetch` or the global one. */
function makeFetchOnce(
  { url, method, headers, body, original }: RequestParts,
  { fetch, Request = globalThis.Request }: Call, // `fetch` is called without a `this`
  requestInitExt: RequestInit | undefined,
): Sendable["fetchOnce"] {
  const input = original ?? url;
  // Node.js 20 to 26 loses the signal of a request that is collected as garbage
  // (https://github.com/nodejs/node/issues/55428). This holds it as long as the call lasts.
  const held: Request[] = [];
  return (signal) => {
    // `init` is spread last below, so that `requestInitExt` replaces nothing of it.
    const init: RequestInit = { method, headers, body, redirect: "manual", signal };
    if (!fetch) return globalThis.fetch(input, { ...requestInitExt, ...init });
    const copy = new Request(input, init);
    // Where `headers` is empty, Bun's `Request` keeps those that middleware has set
    // (https://github.com/oven-sh/bun/pull/41994).
    if (!headers.has(apiKeyHeader)) copy.headers.delete(apiKeyHeader);
    held[0] = copy; // in place of the last one, whose body may be large
    if (!requestInitExt) return fetch(copy);
    return (fetch as typeof globalThis.fetch)(copy, { ...requestInitExt, ...init });
  };
}

/** Whether a request may be sent again after any temporary failure. */
function isRepeatable(method: string, call: Call): boolean {
  // Middleware may have made the request, with another method.
  const ofOperation = method === call.method ? call.operation?.idempotent : undefined;
  return call.idempotent ?? ofOperation ?? isIdempotent(method);
}

/**
 * Makes the response that openapi-fetch gets: the runtime's own with its text, or a copy. Returns an
 * error where nobody can make one.
 */
function toResponse(response: Response, bytes: Bytes, { errors, isUnwatched }: Call) {
  const { headers, ok, status, statusText, type, url } = response;
  // To hand it on saves 10 to 15 % of openapi-fetch's CPU time. A custom fetch may have frozen it.
  if (isUnwatched && ok && type === "basic" && Object.isExtensible(response)) {
    const text = decode(bytes);
    return override(response, "text", () => Promise.resolve(text));
  }
  try {
    const body = NULL_BODY_STATUSES.includes(status) ? null : bytes;
    const copy = new Response(body, { headers, status });
    // `statusText` is no option, because Node.js 20 to 26 refuses some reason phrases that it receives.
    return override(override(copy, "url", url), "statusText", statusText);
  } catch (thrown) { // Node.js 20 and 22 receive header names that `Response` refuses.
    return errors.network(thrown, response);
  }
}

/** Gives a response a property in place of the one of its class. */
function override(response: Response, name: keyof Response, value: unknown): Response {
  // It can be changed, because proxies of responses refuse a property that cannot.
  return Object.defineProperty(response, name, { value, configurable: true, writable: true });
}
