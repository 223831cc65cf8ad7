// The policy of retries: which failures are temporary, what may be sent again, and when.

const BASE_DELAY = 500; // milliseconds
const MAX_DELAY = 8_000; // milliseconds
const MAX_RETRY_AFTER = 60; // seconds

/** Tells whether a status reports a temporary failure; 501 says that the service lacks the endpoint. */
export function isTemporaryStatus(status: number): boolean {
  const isServerError = status >= 500 && status <= 599 && status !== 501;
  return isServerError || status === 408 || status === 429;
}

/** Tells whether a method is idempotent (RFC 9110, section 9.2.2). */
export function isIdempotent(method: string): boolean {
  return ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].includes(method);
}

/**
 * Reads the header `Retry-After`, in seconds or as a date (RFC 9110, section 10.2.3).
 *
 * @returns Seconds from now; `undefined` without the header, or if it is invalid or in the past.
 */
export function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after") ?? "";
  const seconds = /^\d/.test(value) ? parseFloat(value) : (Date.parse(value) - Date.now()) / 1_000;
  return seconds >= 0 ? seconds : undefined;
}

/**
 * Decides when to retry, if at all: after exponential back-off with full jitter, or after the wait
 * that the service asks for, plus up to a quarter of it, so that not all clients come back at once.
 *
 * @param response The response, whose status is not 2xx; `undefined` if there was none, or not all of it.
 * @param attempt The number of the attempt, counted from 1.
 * @param random A number from 0 to below 1, which spreads the waits of many clients.
 * @param isRepeatable Whether the request may be sent again after any temporary failure. All requests may
 * be sent again after the status 429, because the service has not handled them.
 * @returns The delay in whole milliseconds; `undefined` if a retry is of no use, or not allowed.
 */
export function retryDelay(
  response: { readonly status: number; readonly headers: Headers } | undefined,
  attempt: number,
  random: number,
  isRepeatable: boolean,
): number | undefined {
  if (response && !isTemporaryStatus(response.status)) return undefined;
  if (!isRepeatable && response?.status !== 429) return undefined;
  const retryAfter = response && readRetryAfter(response.headers);
  if (retryAfter === undefined) {
    return Math.round(random * Math.min(MAX_DELAY, BASE_DELAY * 2 ** (attempt - 1)));
  }
  if (retryAfter > MAX_RETRY_AFTER) return undefined;
  return Math.ceil(retryAfter * (1 + random / 4) * 1_000);
}
