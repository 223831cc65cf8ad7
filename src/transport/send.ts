import { abortable, type Signals } from "./abortable.ts";
import { makeAttempt, type Outcome, type Sendable, type SendContext } from "./attempt.ts";
import { retryDelay, type RetryEvent } from "./retry.ts";
import { decode, MAX_ERROR_BODY, parseBody } from "./text.ts";

/** The means of waiting between attempts; tests replace them. */
export const waiting = {
  /** Waits; rejects with the reason of a signal that is aborted. */
  sleep: (milliseconds: number, signals: Signals): Promise<void> =>
    abortable(signals, (sleepSignal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        sleepSignal.addEventListener("abort", () => clearTimeout(timer));
      })),
  /** Returns a number from 0 to below 1, which spreads the waits of many clients. */
  random: (): number => Math.random(),
};

/**
 * Makes an attempt; returns how it ended, or the retry that is to follow.
 *
 * The outcome, which may be large, is a variable of this function only, so that no wait keeps it.
 */
async function attemptOrRetry(
  context: SendContext,
  request: Sendable,
  attempt: number,
): Promise<Outcome | RetryEvent> {
  const { deadline, errors, retries } = context;
  const outcome = await makeAttempt(context, request, attempt);
  if (outcome.response?.ok || attempt > retries) return outcome;
  const error = outcome.error ??
    errors.http(
      outcome.response,
      parseBody(decode(outcome.body.bytes.subarray(0, MAX_ERROR_BODY))),
    );
  const delay = retryDelay(error, attempt, waiting.random(), request.mayRepeat);
  if (delay === undefined || performance.now() + delay >= deadline) return outcome;
  return { attempt, delay, error };
}

/**
 * Makes an attempt, and repeats it until it succeeds or may not be repeated.
 *
 * @param context The limits, and what makes the errors.
 * @param request What is sent.
 * @returns How the last attempt ended.
 * @throws The reason of a signal that is aborted, and what `onRetry` throws.
 */
export async function sendWithRetries(context: SendContext, request: Sendable): Promise<Outcome> {
  const { deadline, errors, onRetry, totalTimeout } = context;
  const { signals } = request;
  // It is a loop, because attempts that call each other would keep the errors of all.
  for (let attempt = 1;; attempt++) {
    const result = await attemptOrRetry(context, request, attempt);
    if (!("delay" in result)) return result;
    const { delay } = result;
    const start = performance.now();
    await abortable(signals, async () => await onRetry?.(result));
    const now = performance.now();
    const timeLeft = Math.max(0, deadline - now);
    // If `onRetry` has used up the time, the rest is waited for, so that no `TimeoutError` comes early.
    await waiting.sleep(Math.min(delay, timeLeft), signals);
    if (delay < timeLeft) continue;
    const spent = onRetry ? `; "onRetry" took ${Math.round(now - start)} ms` : "";
    return { error: errors.timeout(totalTimeout, `attempt ${attempt + 1} was not begun${spent}`) };
  }
}
