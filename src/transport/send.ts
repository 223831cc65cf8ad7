import type { TimeoutError } from "../errors.ts";
import { abortable } from "./abortable.ts";
import { makeAttempt, type Outcome, type Sendable, type SendContext } from "./attempt.ts";
import { backoff } from "./backoff.ts";
import { decode, parseBody } from "./body.ts";
import { MAX_ERROR_BODY } from "./redact.ts";
import { mayRetry, retryDelay } from "./retry.ts";

/**
 * Makes an attempt, and repeats it until it succeeds or may not be repeated.
 *
 * @param context The limits, and what makes the errors.
 * @param request What is sent.
 * @param attempt The number of the attempt, counted from 1.
 * @returns How the last attempt ended.
 * @throws The reason of a signal that is aborted, and what `onRetry` throws.
 */
export async function sendWithRetries(
  context: SendContext,
  request: Sendable,
  attempt = 1,
): Promise<Outcome> {
  const { deadline, errors, onRetry, retries, totalTimeout } = context;
  const { mayRepeat, signals } = request;
  const outcome = await makeAttempt(context, request, attempt);
  const { response } = outcome;
  if (response?.ok || attempt > retries || !mayRetry(mayRepeat, response?.status)) return outcome;
  const error = outcome.error ??
    errors.http(
      outcome.response,
      parseBody(decode(outcome.body.bytes.subarray(0, MAX_ERROR_BODY))),
    );
  // The time of the call is up, even where a timer was early and the clock says that some is left.
  if ((error as Partial<TimeoutError>).timeout === totalTimeout) return outcome;
  const delay = retryDelay(error, attempt, backoff.random());
  if (delay === undefined || performance.now() + delay >= deadline) return outcome;
  // Nothing is awaited here, because an async function keeps its variables while it waits, and the
  // outcome may be large.
  return abortable(signals, async () => await onRetry?.({ attempt, delay, error }))
    .then(() => {
      const timeLeft = Math.ceil(deadline - performance.now()); // `onRetry` may have taken long
      return backoff.sleep(Math.min(delay, timeLeft), signals);
    })
    .then(() => sendWithRetries(context, request, attempt + 1));
}
