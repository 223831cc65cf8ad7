import { TimeoutError } from "../errors.ts";
import { abortable } from "./abortable.ts";
import { makeAttempt, type Outcome, type Sendable, type SendContext } from "./attempt.ts";
import { backoff } from "./backoff.ts";
import { decode, parseBody } from "./body.ts";
import { MAX_ERROR_BODY } from "./redact.ts";
import { retryDelay, type RetryEvent } from "./retry.ts";

/** Says whether, and when, another attempt shall follow one that has ended. */
function planRetry(
  { deadline, errors, retries, totalTimeout }: SendContext,
  { mayRepeat }: Sendable,
  attempt: number,
  outcome: Outcome,
): RetryEvent | undefined {
  const { response } = outcome;
  const isAllowed = mayRepeat || response?.status === 429; // The service has not handled it.
  if (response?.ok || !isAllowed || attempt > retries) return undefined;
  const error = outcome.error ??
    errors.http(
      outcome.response,
      parseBody(decode(outcome.body.bytes.subarray(0, MAX_ERROR_BODY))),
    );
  // The time of the call is up, even where a timer was early and the clock says that some is left.
  if (error instanceof TimeoutError && error.timeout === totalTimeout) return undefined;
  const delay = retryDelay(error, attempt, backoff.random());
  if (delay === undefined || performance.now() + delay >= deadline) return undefined;
  return { attempt, delay, error };
}

/** Calls `onRetry`, waits, and makes further attempts. */
async function retry(
  context: SendContext,
  request: Sendable,
  event: RetryEvent,
): Promise<Outcome> {
  const { deadline, errors, onRetry, totalTimeout } = context;
  const { attempt, delay } = event;
  await abortable(request.signals, async () => await onRetry?.(event));
  const timeLeft = Math.max(0, deadline - performance.now()); // `onRetry` may have taken long
  await backoff.sleep(Math.min(delay, timeLeft), request.signals);
  if (delay > timeLeft) return { error: errors.timeout(totalTimeout, undefined) };
  return await sendWithRetries(context, request, attempt + 1);
}

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
  const outcome = await makeAttempt(context, request, attempt);
  const event = planRetry(context, request, attempt, outcome);
  // Not awaited: while an async function waits, it keeps its variables, and the outcome may be large.
  return event ? retry(context, request, event) : outcome;
}
