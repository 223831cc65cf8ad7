import type { ScamAddressError } from "../errors.ts";
import { decode } from "./body.ts";
import { type Failures, parseBody } from "./failures.ts";
import { receive } from "./response.ts";
import { retryDelay, type RetryEvent } from "./retry.ts";
import { clock } from "./time.ts";

/** How a request is sent, and within which limits. */
export interface Sending {
  /** Limits each attempt, in milliseconds. */
  readonly timeout: number;
  /** The largest number of attempts after the first. */
  readonly retries: number;
  /** The largest body of a 2xx response that is read, in bytes. */
  readonly maxResponseBytes: number;
  /** Called before the wait for each retry. */
  readonly onRetry?: ((event: RetryEvent) => void | Promise<void>) | undefined;
  /** Whether nobody but this client sees the request before `fetch`, and the response after it. */
  readonly isPrivate: boolean;
  /** Makes the errors. A secret is added to theirs when it is known. */
  readonly failures: Failures;
}

/**
 * Makes an attempt, and repeats it until it succeeds or may not be repeated.
 *
 * @param sending How the request is sent, and within which limits.
 * @param start Sends the request once, without following redirects, until its signal is aborted.
 * @param isIdempotent Whether an attempt may be repeated after any temporary failure; after 429 all
 * may be.
 * @param signal Ends the call.
 * @returns The last response, with any status except a redirect's.
 * @throws {NetworkError} When there is no response, or it is cut short.
 * @throws {TimeoutError} When the last attempt takes too long.
 * @throws {RedirectError} When the response is a redirect.
 * @throws {InvalidResponseError} When the body of a 2xx response is too large.
 * @throws {ConfigurationError} When the attempt gives no response that can be read.
 * @throws The reason of a signal that is aborted, and what `onRetry` throws.
 */
export async function send(
  sending: Sending,
  start: (signal: AbortSignal) => Promise<Response>,
  isIdempotent: boolean,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const { failures, onRetry, retries } = sending;
  for (let attempt = 1;; attempt++) {
    failures.attempts = attempt;
    const isLast = attempt > retries;
    let response: Response | undefined;
    let reason: ScamAddressError; // why the attempt failed
    try {
      const received = await receive(sending, start, signal);
      response = received.response;
      if (response.ok || isLast || !(isIdempotent || response.status === 429)) return response;
      reason = failures.http(response, parseBody(decode(received.bytes)));
    } catch (thrown) {
      if (isLast || !isIdempotent || signal?.aborted) throw thrown;
      reason = thrown as ScamAddressError;
    }
    const delay = retryDelay(reason, attempt, clock.random());
    if (delay === undefined) {
      if (response) return response;
      throw reason;
    }
    await onRetry?.({ attempt, delay, error: reason });
    await clock.sleep(delay, signal);
  }
}
