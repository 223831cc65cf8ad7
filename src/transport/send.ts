import type { ScamAddressError } from "../errors.ts";
import { decode } from "./body.ts";
import { httpError, type Reading, receive, type Received } from "./response.ts";
import { retryDelay, type RetryEvent } from "./retry.ts";
import type { Clock } from "./time.ts";

/** What is sent, how often, and within which limits. */
export interface Sending extends Reading {
  /**
   * Sends the request once.
   *
   * @param init What the request must have for the limits to hold.
   */
  readonly attempt: (init: { redirect: "manual"; signal: AbortSignal }) => Promise<Response>;
  /** The largest number of attempts after the first. */
  readonly retries: number;
  /** Whether an attempt may be repeated after any temporary failure; after 429 all may be. */
  readonly isIdempotent: boolean;
  /** Called before the wait for each retry. */
  readonly onRetry?: ((event: RetryEvent) => void | Promise<void>) | undefined;
  readonly clock: Clock;
}

/**
 * Makes an attempt, and repeats it until it succeeds or may not be repeated.
 *
 * @param sending What is sent, how often, and within which limits.
 * @returns The last response, with any status except a redirect's.
 * @throws {NetworkError} When there is no response, or it is cut short.
 * @throws {TimeoutError} When the last attempt takes too long.
 * @throws {RedirectError} When the response is a redirect.
 * @throws {InvalidResponseError} When the body of a 2xx response is too large.
 * @throws {ConfigurationError} When the attempt gives no response that can be read.
 * @throws The reason of a signal that is aborted, and what `onRetry` throws.
 */
export async function send(sending: Sending): Promise<Response> {
  const { attempt, clock, isIdempotent, onRetry, retries, signal } = sending;
  for (let count = 1;; count++) {
    let received: Received | undefined;
    let error: unknown;
    try {
      received = await receive(sending, (signal) => attempt({ redirect: "manual", signal }));
    } catch (thrown) {
      if (signal?.aborted) throw thrown;
      error = thrown;
    }
    const { ok, status } = received?.response ?? {};
    const mayRepeat = !ok && count <= retries && (isIdempotent || status === 429);
    if (received && mayRepeat) {
      error = httpError(received.response, decode(received.bytes), sending);
    }
    const delay = mayRepeat ? retryDelay(error, count, clock.random()) : undefined;
    if (delay === undefined) {
      if (received) return received.response;
      throw error;
    }
    await onRetry?.({ attempt: count, delay, error: error as ScamAddressError });
    await clock.sleep(delay, signal ?? undefined);
  }
}
