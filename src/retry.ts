import type { ScamAddressError } from "./errors.ts";

/** What {@linkcode ClientOptions.onRetry} is called with before each wait. */
export interface RetryEvent {
  /** The number of the attempt that failed, counted from 1. */
  readonly attempt: number;
  /** How long the client waits before the next attempt, in milliseconds. */
  readonly delay: number;
  /** What made the attempt fail. */
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
 * @returns Seconds from now on; `undefined` for no header, junk and the past.
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
 * Whether HTTP lets a method be repeated (RFC 9110, section 9.2.2).
 *
 * @param method The method, in upper case.
 * @returns Whether two requests have the effect of one.
 */
export function isIdempotent(method: string): boolean {
  return REPEATABLE_METHOD.test(method);
}

/** What {@linkcode retryDelay} decides on. */
export interface Failure {
  /** The number of the attempt that failed, counted from 1. */
  attempt: number;
  /** How many attempts may follow the first. */
  retries: number;
  /** Whether the operation may be repeated. */
  idempotent: boolean;
  /** The status code of the response; `undefined` when none came, or not all of it. */
  status?: number | undefined;
  /** What the `Retry-After` header asks for, in seconds. */
  retryAfter?: number | undefined;
}

/**
 * Decides whether and when a failed attempt is repeated: exponential back-off with full jitter,
 * unless the service says when.
 *
 * @param failure What failed.
 * @param random A number from 0 to below 1, which spreads the delays of many clients.
 * @returns The delay in milliseconds; `undefined` when the attempt was the last.
 */
export function retryDelay(failure: Failure, random: number): number | undefined {
  const { attempt, retries, idempotent, status, retryAfter } = failure;
  if (attempt > retries) return undefined;
  if (status !== undefined && !REPEATABLE_STATUS.test(`${status}`)) return undefined;
  if (!idempotent && status !== 429) return undefined;
  if (retryAfter !== undefined) {
    return retryAfter <= MAX_RETRY_AFTER ? retryAfter * 1_000 : undefined;
  }
  return random * Math.min(MAX_DELAY, BASE_DELAY * 2 ** (attempt - 1));
}
