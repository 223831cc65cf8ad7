import { abortable } from "./abortable.ts";
import { type Body, type Bytes, cancel, decode, readStream } from "./body.ts";
import type { CallErrors } from "./call_errors.ts";

/** What one attempt needs: its limits, and what makes its errors. */
export interface AttemptOptions {
  /** Limits the attempt, in milliseconds. */
  readonly timeout: number;
  /** The largest body that is read, in bytes. */
  readonly maxResponseBytes: number;
  /** Whether nobody but this client sees the request before `fetch`, and the response after it. */
  readonly isUnwatched: boolean;
  /** Makes the errors. A secret is added to theirs when it is known. */
  readonly errors: CallErrors;
}

/** What an attempt received. */
interface Received {
  /** A response with an unread body. */
  readonly response: Response;
  readonly body: Body;
}

/** The reason of the abort when the time of an attempt is up. */
const timeUp = /* @__PURE__ */ new DOMException("The time is up", "TimeoutError");

/** The statuses of responses that have no body: the null body statuses of the fetch standard. */
const NULL_BODY_STATUSES = [204, 205, 304];

/** Whether a response is a redirect, or what a custom fetch got by following one. */
function isRedirect({ redirected, status, type }: Response): boolean {
  if (redirected || type === "opaqueredirect") return true; // browsers hide the status
  return status >= 300 && status <= 399 && status !== 304;
}

/** Whether a value is a `Response`, possibly of another realm, that nobody has read. */
function isUnread(value: unknown): value is Response {
  const { headers, body, bodyUsed } = Object(value);
  return typeof headers?.get === "function" && bodyUsed === false &&
    (body === null || typeof body?.getReader === "function" && !body.locked);
}

/** Whether the headers limit the size of the body, which the runtime's own `fetch` enforces. */
function fitsLimit({ headers }: Response, limit: number): boolean {
  return !headers.has("content-encoding") && !headers.has("transfer-encoding") &&
    Number(headers.get("content-length") || Infinity) <= limit;
}

/**
 * Whether a response announces a body where there is none, so that nobody can read or cancel it:
 * Node.js 20 to 26 then keeps the connection open, for some statuses.
 */
function announcesMissingBody({ headers, status }: Response): boolean {
  return NULL_BODY_STATUSES.includes(status) &&
    (headers.has("transfer-encoding") || Number(headers.get("content-length")) > 0);
}

/** Gives a response a property in place of the one of its class. */
function override(response: Response, name: keyof Response, value: unknown): Response {
  // It can be changed, because proxies of responses refuse a property that cannot.
  return Object.defineProperty(response, name, { value, configurable: true, writable: true });
}

/** Makes a response with an unread body. */
function rebuild(response: Response, bytes: Bytes): Response {
  const { headers, status, statusText, url } = response;
  const body = NULL_BODY_STATUSES.includes(status) ? null : bytes;
  const copy = new Response(body, { headers, status });
  // As an option, Node.js 20 to 26 refuses some reason phrases that it receives.
  return override(override(copy, "url", url), "statusText", statusText);
}

/** Reads a response, and returns one with an unread body. */
async function read(
  response: Response,
  { isUnwatched, maxResponseBytes }: AttemptOptions,
  signal: AbortSignal,
): Promise<Received> {
  const { ok } = response;
  const isNative = response.type === "basic"; // the runtime's own
  // To read it at once saves 10 to 20 % of openapi-fetch's CPU time on Deno, and 5 % on Node.js.
  const body: Body = isNative && ok && fitsLimit(response, maxResponseBytes)
    ? { bytes: new Uint8Array(await response.arrayBuffer()), isComplete: true }
    : await readStream(response.body, maxResponseBytes, signal, isNative);
  // To hand it on saves 10 to 15 % on both. A custom fetch may have frozen it.
  const isHandedOn = isUnwatched && isNative && ok && Object.isExtensible(response);
  if (!isHandedOn) return { response: rebuild(response, body.bytes), body };
  const text = decode(body.bytes);
  return { response: override(response, "text", () => Promise.resolve(text)), body };
}

/**
 * Makes an attempt: waits for a response, and reads it within its limits.
 *
 * When the body of a 4xx or 5xx response is cut short or too large, the result has the part that
 * was read, because the status matters more.
 *
 * @param options The limits, and what else the attempt needs.
 * @param fetchOnce Sends the request once.
 * @param callSignal Ends the attempt; the call has then rejected with the signal's reason already.
 * @returns The response and its body.
 * @throws {NetworkError} When there is no response, or a 2xx response is cut short.
 * @throws {TimeoutError} When the time is up.
 * @throws {RedirectError} When the response is a redirect.
 * @throws {InvalidResponseError} When the body of a 2xx response is too large.
 * @throws {ConfigurationError} When there is something else in place of a response.
 */
export async function makeAttempt(
  options: AttemptOptions,
  fetchOnce: (attemptSignal: AbortSignal) => Promise<Response>,
  callSignal: AbortSignal | undefined,
): Promise<Received> {
  const { errors, timeout } = options;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(timeUp), timeout);
  let original: Response | undefined; // says how far the attempt got
  let isClean = false; // whether nothing is left that an abort would end
  const work = async (attemptSignal: AbortSignal) => {
    original = await fetchOnce(attemptSignal);
    if (!isUnread(original)) return "unreadable";
    if (!isRedirect(original)) return await read(original, options, attemptSignal);
    cancel(original.body);
    return "redirect";
  };
  const fail = (thrown: unknown): never => {
    throw thrown === timeUp ? errors.timeout(timeout, original) : errors.network(thrown, original);
  };
  try {
    const received = await abortable([callSignal], work, controller).catch(fail);
    if (received === "unreadable") throw errors.badFetch();
    if (received === "redirect") throw errors.redirect(original!);
    const { response, body } = received;
    if (response.ok && "thrown" in body) throw errors.network(body.thrown, response);
    if (response.ok && !body.isComplete) {
      const rule = "maxResponseBytes";
      const problem = `the body is larger than "${rule}"`;
      throw errors.invalid(response, decode(body.bytes), [{ path: "", rule }], problem);
    }
    isClean = body.isComplete && !announcesMissingBody(response);
    return received;
  } finally {
    clearTimeout(timer);
    if (!isClean) controller.abort();
  }
}
