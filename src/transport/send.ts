import type { ScamAddressError } from "../errors.ts";
import { decode } from "./body.ts";
import { type Reading, receive, type Received } from "./response.ts";
import { retryDelay, type RetryEvent } from "./retry.ts";
import type { Clock } from "./time.ts";

/** How often a request is sent, and within which limits. */
export interface Sending extends Reading {
  /** The largest number of attempts after the first. */
  readonly retries: number;
  /** Called before the wait for each retry. */
  readonly onRetry?: ((event: RetryEvent) => void | Promise<void>) | undefined;
  readonly clock: Clock;
}

/** What is sent. */
export interface Sendable {
  /** Sends the request once, without following redirects, until the signal is aborted. */
  readonly start: (signal: AbortSignal) => Promise<Response>;
  /** Whether an attempt may be repeated after any temporary failure; after 429 all may be. */
  readonly isIdempotent: boolean;
  /** Ends the call. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Makes an attempt, and repeats it until it succeeds or may not be repeated.
 *
 * @param sending How often the request is sent, and within which limits.
 * @param what What is sent.
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
  { start, isIdempotent, signal }: Sendable,
): Promise<Received> {
  const { clock, failures, onRetry, retries } = sending;
  for (;;) {
    const count = ++failures.attempts;
    let received: Received | undefined;
    let error: ScamAddressError | undefined;
    try {
      received = await receive(sending, signal, start);
    } catch (thrown) {
      if (signal?.aborted) throw thrown;
      error = thrown as ScamAddressError;
    }
    const { ok, status } = received?.response ?? {};
    const mayRepeat = !ok && count <= retries && (isIdempotent || status === 429);
    if (received && mayRepeat) error = failures.http(received.response, decode(received.bytes));
    const delay = mayRepeat && error ? retryDelay(error, count, clock.random()) : undefined;
    if (!error || delay === undefined) {
      if (received) return received;
      throw error;
    }
    await onRetry?.({ attempt: count, delay, error });
    await clock.sleep(delay, signal);
  }
}
