import { NetworkError, type ScamAddressError, TimeoutError } from "../errors.ts";

/** Describes a retry, for {@linkcode ClientOptions.onRetry}. */
export interface RetryEvent {
  /** The number of the attempt that failed, counted from 1. */
  readonly attempt: number;
  /** The wait before the next attempt, in milliseconds. */
  readonly delay: number;
  /** Why the attempt failed. */
  readonly error: ScamAddressError;
}

const BASE_DELAY = 500;
const MAX_DELAY = 8_000;
const MAX_RETRY_AFTER = 60;

const REPEATABLE_METHOD = /^(GET|HEAD|OPTIONS|PUT|DELETE)$/;
const REPEATABLE_STATUS = /^(408|429|50[0234])$/;
const HTTP_DATE = /^[A-Z][a-z]{2,8}, [\w :-]+ GMT$/;

/**
 * Reads a `Retry-After` header, in seconds or as a date (RFC 9110, section 10.2.3).
 *
 * @param value The header's value.
 * @param now The time, in milliseconds since the epoch.
 * @returns Seconds from now; `undefined` when there is no header, or it is invalid or in the past.
 */
export function parseRetryAfter(
  value: string | null | undefined,
  now: number,
): number | undefined {
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
  const delay = HTTP_DATE.test(value) ? (Date.parse(value) - now) / 1_000 : NaN;
  return delay >= 0 ? delay : undefined;
}

/**
 * Tells whether a method is idempotent (RFC 9110, section 9.2.2).
 *
 * @param method The method, in upper case.
 * @returns Whether a request with it may be repeated.
 */
export function isIdempotent(method: string): boolean {
  return REPEATABLE_METHOD.test(method);
}

/** Whether an error may be gone after a while; a permission that Deno lacks stays missing. */
export function mayPass(error: unknown): error is NetworkError | TimeoutError {
  if (error instanceof TimeoutError) return true;
  if (!(error instanceof NetworkError)) return false;
  const { cause } = error as { cause?: { code?: unknown } }; // dnt adds a polyfill for "error.cause"
  return cause?.code !== "NotCapable";
}

/** What {@linkcode retryDelay} needs to know. */
export interface Failure {
  /** The number of the attempt that failed, counted from 1. */
  attempt: number;
  /** The most attempts after the first. */
  retries: number;
  /** Whether the attempt may be repeated after any failure. */
  isIdempotent: boolean;
  /** The status code of the response; `undefined` when there is none, or it broke off. */
  status?: number | undefined;
  /** The wait that the `Retry-After` header asks for, in seconds. */
  retryAfter?: number | undefined;
}

/**
 * Decides whether and when to retry: after exponential back-off with full jitter, unless the
 * service asks for a wait.
 *
 * @param failure The attempt that failed.
 * @param random A number from 0 to below 1, which spreads the delays of many clients.
 * @returns The delay in milliseconds; `undefined` when the attempt was the last.
 */
export function retryDelay(failure: Failure, random: number): number | undefined {
  const { attempt, retries, isIdempotent, status, retryAfter } = failure;
  if (attempt > retries) return undefined;
  if (status !== undefined && !REPEATABLE_STATUS.test(`${status}`)) return undefined;
  if (!isIdempotent && status !== 429) return undefined;
  if (retryAfter !== undefined) {
    return retryAfter <= MAX_RETRY_AFTER ? retryAfter * 1_000 : undefined;
  }
  return random * Math.min(MAX_DELAY, BASE_DELAY * 2 ** (attempt - 1));
}
