import type { ScamAddressError } from "../errors.ts";
import { abortable, type Signals } from "./abortable.ts";
import { cancel, type ReadBody, readStream } from "./body.ts";
import type { CallErrors } from "./call_errors.ts";
import type { RetryEvent } from "./retry.ts";
import { decode } from "./text.ts";

/** The part of a call that the transport knows: its limits, and what makes its errors. */
export interface SendContext {
  /** The limit of each attempt, in milliseconds. */
  readonly timeout: number;
  /** The limit of the call, in milliseconds; `Infinity` without one. */
  readonly totalTimeout: number;
  /** The end of `totalTimeout`, on the clock of `performance.now()`. */
  readonly deadline: number;
  /** The largest body of a 2xx response, in bytes. */
  readonly maxResponseBytes: number;
  /** The largest part that is read of the body of any other response, in bytes. */
  readonly maxErrorBytes: number;
  /** The largest number of attempts after the first. */
  readonly retries: number;
  /** Called before the wait for each retry. */
  readonly onRetry?: ((event: RetryEvent) => void | Promise<void>) | undefined;
  /** The maker of the errors, which say how many attempts there were. */
  readonly errors: CallErrors;
}

/** A request that can be sent, again if necessary. */
export interface Sendable {
  /** Sends it once, without following redirects, until the signal is aborted. */
  readonly fetchOnce: (attemptSignal: AbortSignal) => Promise<Response>;
  /** Whether it may be sent again after any temporary failure, and not only after the status 429. */
  readonly mayRepeat: boolean;
  /** The signals, any of which ends the call. */
  readonly signals: Signals;
}

/** The end of an attempt: a response that is not a redirect, or an error. */
export type Outcome =
  | { readonly response: Response; readonly body: ReadBody; readonly error?: undefined }
  | { readonly error: ScamAddressError; readonly response?: undefined };

/** The reason of the abort when the time of an attempt is up. */
const timeUp = /* @__PURE__ */ new DOMException("The time is up", "TimeoutError");

/** The statuses of responses that have no body: the null body statuses of the fetch standard. */
export const NULL_BODY_STATUSES = [204, 205, 304];

/** Tells whether a response is a redirect, or what a custom `fetch` got by following one. */
function isRedirect({ redirected, status, type }: Response): boolean {
  if (redirected || type === "opaqueredirect") return true; // browsers hide the status
  return status >= 300 && status <= 399 && status !== 304;
}

/** Tells whether a value is a `Response`, possibly of another realm, that nobody has read. */
function isUnread(value: unknown): value is Response {
  const { headers, body, bodyUsed, status } = Object(value);
  return typeof status === "number" && typeof headers?.get === "function" && bodyUsed === false &&
    (body === null || typeof body?.getReader === "function" && !body.locked);
}

/** Tells whether a body surely fits a limit: no runtime reads more than its `Content-Length`. */
function fitsLimit({ headers }: Response, limit: number): boolean {
  return !headers.has("content-encoding") && !headers.has("transfer-encoding") &&
    Number(headers.get("content-length") || Infinity) <= limit;
}

/**
 * Tells whether a response announces a body where there is none, so that nobody can read or cancel it:
 * Node.js 20 to 26 then keeps the connection open, for some statuses.
 */
function announcesMissingBody({ headers, status }: Response): boolean {
  return NULL_BODY_STATUSES.includes(status) &&
    (headers.has("transfer-encoding") || Number(headers.get("content-length")) > 0);
}

/** Reads the body of a response; of a 2xx response, up to one byte more than its limit. */
async function readResponseBody(
  response: Response,
  { maxErrorBytes, maxResponseBytes }: SendContext,
  signal: AbortSignal,
): Promise<ReadBody> {
  const { ok, type } = response;
  const isNative = type === "basic"; // the runtime's own
  // To read it at once saves 10 to 20 % of openapi-fetch's CPU time on Deno, and 5 % on Node.js.
  if (isNative && ok && fitsLimit(response, maxResponseBytes)) {
    return { bytes: new Uint8Array(await response.arrayBuffer()), isComplete: true };
  }
  const limit = ok ? maxResponseBytes + 1 : maxErrorBytes;
  return await readStream(response.body, limit, signal, isNative);
}

/** Reads a response within its limits; returns an error for one that cannot be used. */
async function readOutcome(response: Response, context: SendContext, signal: AbortSignal) {
  const { errors, maxResponseBytes } = context;
  if (!isUnread(response)) return { error: errors.badFetch() };
  if (isRedirect(response)) {
    cancel(response.body);
    return { error: errors.redirect(response) };
  }
  const { ok, status } = response;
  if (status < 200 || status > 599) {
    return { error: errors.network(new RangeError(`The status is ${status}`), response) };
  }
  const body = await readResponseBody(response, context, signal);
  if (ok && "thrown" in body) return { error: errors.network(body.thrown, response) };
  if (ok && body.bytes.length > maxResponseBytes) {
    const rule = "maxResponseBytes";
    const text = decode(body.bytes.subarray(0, maxResponseBytes));
    const problem = `the body is larger than "${rule}"`;
    return { error: errors.invalid(response, text, [{ path: "", rule }], problem) };
  }
  return { response, body };
}

/**
 * Makes an attempt: waits for a response, and reads it within its limits.
 *
 * When the body of a 4xx or 5xx response is cut short or too large, the outcome has the part that
 * was read, because the status matters more.
 *
 * @param context The limits, and what makes the errors.
 * @param request What is sent.
 * @param attempt The number of the attempt, counted from 1.
 * @returns How the attempt ended.
 * @throws The reason of a signal that is aborted.
 */
export async function makeAttempt(
  context: SendContext,
  { fetchOnce, signals }: Sendable,
  attempt: number,
): Promise<Outcome> {
  const { deadline, errors, timeout, totalTimeout } = context;
  const timeLeft = deadline - performance.now();
  const limit = timeLeft < timeout ? totalTimeout : timeout; // which ends first
  if (timeLeft <= 0) return { error: errors.timeout(limit, `attempt ${attempt} was not begun`) };
  errors.attempts = attempt; // The count begins anew when middleware calls `options.fetch` again.
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(timeUp), Math.min(timeout, timeLeft));
  let response: Response | undefined; // says how far the attempt got
  let isClean = false; // whether nothing is left that needs to be aborted
  const work = async (attemptSignal: AbortSignal): Promise<Outcome> => {
    response = await fetchOnce(attemptSignal);
    const outcome = await readOutcome(response, context, attemptSignal);
    isClean = !outcome.error && outcome.body.isComplete && !announcesMissingBody(response);
    return outcome;
  };
  try {
    return await abortable(signals, work, controller);
  } catch (thrown) {
    for (const signal of signals) signal?.throwIfAborted();
    if (thrown !== timeUp) return { error: errors.network(thrown, response) };
    const progress = response
      ? `the body of the response with the status ${response.status} was not complete`
      : "there was no response";
    return { error: errors.timeout(limit, progress) };
  } finally {
    clearTimeout(timer);
    if (!isClean) controller.abort();
  }
}
