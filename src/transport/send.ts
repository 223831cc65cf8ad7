import type { ScamAddressError } from "../errors.ts";
import { httpError, type Reading, receive, type Received } from "./response.ts";
import { mayPass, parseRetryAfter, retryDelay, type RetryEvent } from "./retry.ts";
import { type Clock, throwIfAborted, within } from "./time.ts";

/** What is sent, how often, and within which limits. */
export interface Sending extends Reading {
  /**
   * Sends the request once.
   *
   * @param init What the request must have for the limits to hold.
   */
  readonly attempt: (init: { redirect: "manual"; signal: AbortSignal }) => Promise<Response>;
  /** The most attempts after the first. */
  readonly retries: number;
  /** Whether an attempt may be repeated after any failure. */
  readonly isIdempotent: boolean;
  /** Called before the wait for each retry. */
  readonly onRetry?: ((event: RetryEvent) => void | Promise<void>) | undefined;
  readonly clock: Clock;
}

/**
 * Makes an attempt, and repeats it until it succeeds or may not be repeated.
 *
 * @param sending What is sent, how often, and within which limits.
 * @returns The last response, with any 2xx, 4xx or 5xx status, and its body.
 * @throws {NetworkError} When there is no response, or it breaks off.
 * @throws {TimeoutError} When the last attempt takes too long.
 * @throws {RedirectError} When the response is a redirect.
 * @throws {InvalidResponseError} When the body of a 2xx response is too large.
 * @throws The reason of a signal that is aborted, and what `onRetry` throws.
 */
export async function send(sending: Sending): Promise<Received> {
  const { attempt, clock, isIdempotent, onRetry, retries, signals } = sending;
  for (let count = 1;; count++) {
    let received: Received | undefined;
    let error: ScamAddressError | undefined;
    try {
      received = await receive(sending, (signal) => attempt({ redirect: "manual", signal }));
      if (received.response.ok) return received;
    } catch (thrown) {
      throwIfAborted(signals);
      if (!mayPass(thrown)) throw thrown;
      error = thrown;
    }
    const { status, headers } = received?.response ?? {};
    const retryAfter = parseRetryAfter(headers?.get("retry-after"), Date.now());
    const failure = { attempt: count, retries, isIdempotent, status, retryAfter };
    const delay = retryDelay(failure, clock.random());
    if (delay === undefined) {
      if (received) return received;
      throw error;
    }
    if (onRetry) {
      error ??= httpError(received!, sending);
      const event = { attempt: count, delay, error };
      await within({ signals }, async () => await onRetry(event));
    }
    await clock.sleep(delay, signals);
  }
}
