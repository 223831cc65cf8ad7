import type { ScamAddressError } from "../errors.ts";
import { backoff } from "./backoff.ts";
import { decode, parseBody } from "./body.ts";
import { type AttemptOptions, makeAttempt } from "./response.ts";
import { retryDelay, type RetryEvent } from "./retry.ts";

/** How a request is sent, again if necessary, and within which limits. */
export interface SendOptions extends AttemptOptions {
  /** The largest number of attempts after the first. */
  readonly retries: number;
  /** Called before the wait for each retry. */
  readonly onRetry?: ((event: RetryEvent) => void | Promise<void>) | undefined;
}

/**
 * Makes an attempt, and repeats it until it succeeds or may not be repeated.
 *
 * @param options How the request is sent, and within which limits.
 * @param fetchOnce Sends the request once, without following redirects, until its signal is aborted.
 * @param mayRepeat Whether an attempt may be repeated after any temporary failure; after 429 all
 * may be.
 * @param callSignal Ends the call.
 * @returns The last response, with any status except a redirect's.
 * @throws {NetworkError} When there is no response, or it is cut short.
 * @throws {TimeoutError} When the last attempt takes too long.
 * @throws {RedirectError} When the response is a redirect.
 * @throws {InvalidResponseError} When the body of a 2xx response is too large.
 * @throws {ConfigurationError} When something other than an unread response comes back.
 * @throws The reason of a signal that is aborted, and what `onRetry` throws.
 */
export async function sendWithRetries(
  options: SendOptions,
  fetchOnce: (attemptSignal: AbortSignal) => Promise<Response>,
  mayRepeat: boolean,
  callSignal: AbortSignal | undefined,
): Promise<Response> {
  const { errors, onRetry, retries } = options;
  for (let attempt = 1;; attempt++) {
    errors.attempts = attempt;
    const isLast = attempt > retries;
    let response: Response | undefined;
    let reason: ScamAddressError; // why the attempt failed
    try {
      const received = await makeAttempt(options, fetchOnce, callSignal);
      response = received.response;
      if (response.ok || isLast || !(mayRepeat || response.status === 429)) return response;
      reason = errors.http(response, parseBody(decode(received.body.bytes)));
    } catch (thrown) {
      if (isLast || !mayRepeat || callSignal?.aborted) throw thrown;
      reason = thrown as ScamAddressError;
    }
    const delay = retryDelay(reason, attempt, backoff.random());
    if (delay === undefined) {
      if (response) return response;
      throw reason;
    }
    errors.last = undefined; // `onRetry` gets it, and may change it
    await onRetry?.({ attempt, delay, error: reason });
    await backoff.sleep(delay, callSignal);
  }
}
