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
 * Makes an attempt, and returns how long to wait for the next one or, if there is none, how this one
 * ended. It is a function of its own because an async function keeps what it has used while it waits,
 * and the body of a response may be large.
 */
async function tryOnce(
  attempt: number,
  options: SendOptions,
  fetchOnce: FetchOnce,
  mayRepeat: boolean,
  signals: Signals,
): Promise<{ readonly delay: number } | Outcome> {
  const { deadline, errors, onRetry, retries, totalTimeout } = options;
  errors.attempts = attempt;
  let outcome: Outcome | undefined = await makeAttempt(options, fetchOnce, signals);
  const { response } = outcome;
  if (response?.ok || attempt > retries) return outcome;
  if (!mayRepeat && response?.status !== 429) return outcome;
  const reason = outcome.error ??
    errors.http(outcome.response, parseBody(decode(outcome.body.bytes.subarray(0, MAX_SEARCHED))));
  if ((reason as Partial<TimeoutError>).timeout === totalTimeout) return outcome; // a timer was early
  const delay = retryDelay(reason, attempt, backoff.random());
  if (delay === undefined || performance.now() + delay >= deadline) return outcome;
  if (deadline === Infinity) outcome = undefined; // is not needed any more, and may be large
  await abortable(signals, async () => await onRetry?.({ attempt, delay, error: reason }));
  // `onRetry` may have taken long.
  return outcome && performance.now() + delay >= deadline ? outcome : { delay };
}

/**
 * Makes an attempt, and repeats it until it succeeds or may not be repeated.
 *
 * @param options How the request is sent, and within which limits.
 * @param fetchOnce Sends the request once.
 * @param mayRepeat Whether an attempt may be repeated after any temporary failure, and not only after
 * the status 429.
 * @param signals End the call.
 * @returns How the last attempt ended.
 * @throws The reason of a signal that is aborted, and what `onRetry` throws.
 */
export async function sendWithRetries(
  options: SendOptions,
  fetchOnce: FetchOnce,
  mayRepeat: boolean,
  signals: Signals,
): Promise<Outcome> {
  for (let attempt = 1;; attempt++) {
    const result = await tryOnce(attempt, options, fetchOnce, mayRepeat, signals);
    if (!("delay" in result)) return result;
    await backoff.sleep(result.delay, signals);
  }
}
