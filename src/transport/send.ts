import type { TimeoutError } from "../errors.ts";
import { abortable, type Signals } from "./abortable.ts";
import { type AttemptOptions, type FetchOnce, makeAttempt, type Outcome } from "./attempt.ts";
import { backoff } from "./backoff.ts";
import { decode, parseBody } from "./body.ts";
import { MAX_SEARCHED } from "./redact.ts";
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
 * @param fetchOnce Sends the request once.
 * @param mayRepeat Whether an attempt may be repeated after any temporary failure, and not only after
 * the status 429.
 * @param signals End the call.
 * @param attempt The number of the attempt, counted from 1.
 * @returns How the last attempt ended.
 * @throws The reason of a signal that is aborted, and what `onRetry` throws.
 */
export async function sendWithRetries(
  options: SendOptions,
  fetchOnce: FetchOnce,
  mayRepeat: boolean,
  signals: Signals,
  attempt = 1,
): Promise<Outcome> {
  const { deadline, errors, onRetry, retries, totalTimeout } = options;
  errors.attempts = attempt;
  let outcome: Outcome | undefined = await makeAttempt(options, fetchOnce, signals);
  const { response } = outcome;
  if (response?.ok || attempt > retries) return outcome;
  if (!mayRepeat && response?.status !== 429) return outcome;
  const error = outcome.error ??
    errors.http(outcome.response, parseBody(decode(outcome.body.bytes.subarray(0, MAX_SEARCHED))));
  if ((error as Partial<TimeoutError>).timeout === totalTimeout) return outcome; // its timer was early
  const delay = retryDelay(error, attempt, backoff.random());
  if (delay === undefined || performance.now() + delay >= deadline) return outcome;
  // With a deadline, it may be the result below. Otherwise it is of no use, and may be large.
  if (deadline === Infinity) outcome = undefined;
  await abortable(signals, async () => await onRetry?.({ attempt, delay, error }));
  if (outcome && performance.now() + delay >= deadline) return outcome; // `onRetry` has taken long
  // Not awaited here: an async function keeps what it has used while it waits.
  return backoff.sleep(delay, signals)
    .then(() => sendWithRetries(options, fetchOnce, mayRepeat, signals, attempt + 1));
}
