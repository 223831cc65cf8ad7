import type { ScamAddressError } from "../errors.ts";
import { decode } from "./body.ts";
import type { Failures } from "./failures.ts";
import { receive, type Received } from "./response.ts";
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
  for (;;) {
    const count = ++failures.attempts;
    let received: Received | undefined;
    let error: ScamAddressError | undefined;
    try {
      received = await receive(sending, start, signal);
    } catch (thrown) {
      if (signal?.aborted) throw thrown;
      error = thrown as ScamAddressError;
    }
    const { ok, status } = received?.response ?? {};
    const mayRepeat = !ok && count <= retries && (isIdempotent || status === 429);
    if (received && mayRepeat) error = failures.http(received.response, decode(received.bytes));
    const delay = mayRepeat && error ? retryDelay(error, count, clock.random()) : undefined;
    if (!error || delay === undefined) {
      if (received) return received.response;
      throw error;
    }
    await onRetry?.({ attempt: count, delay, error });
    await clock.sleep(delay, signal);
  }
}
