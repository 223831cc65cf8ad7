// What a call says of its requests, and the limits around all of it.
import type { ScamAddressError } from "./errors.ts";
import { type CallRecord, showCaller, timeoutError } from "./failures.ts";
import { runWithin } from "./limits.ts";

/** What {@linkcode ClientOptions.onRetry} is called with before the wait for a retry. */
export interface RetryEvent {
  /** The number of the attempt that failed, counted from 1. */
  readonly attempt: number;
  /** The wait before the next attempt, in whole milliseconds. */
  readonly delay: number;
  /** The error of that attempt. */
  readonly error: ScamAddressError;
}

/** How the requests of one call are sent. */
export interface Call {
  /** The address below which requests stay, because they have the key. */
  readonly baseUrl: string;
  /** Sets the headers that middleware must not see or change. */
  readonly setHeaders: (headers: Headers) => Promise<void>;
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  readonly requestInitExt?: Record<string, unknown> | undefined;
  /** Tells whether a request with a method, which middleware may have changed, is safe to send again. */
  readonly isRepeatable: (method: string) => boolean;
  readonly signal?: AbortSignal | null | undefined;
  readonly retries: number;
  readonly timeout: number;
  readonly totalTimeout: number;
  /** The end of `totalTimeout`, on the clock of `performance.now()`. */
  readonly deadline: number;
  readonly maxResponseBytes: number;
  readonly onRetry?: ((event: RetryEvent) => unknown) | undefined;
  /** What the errors of the call tell. */
  readonly record: CallRecord;
}

/**
 * Does the work of a call until its signal is aborted or its time is up. Its errors get the stack of the
 * caller.
 */
export async function runCall<T>(
  { record, signal, totalTimeout: timeout }: Call,
  work: (signal?: AbortSignal) => Promise<T>,
): Promise<T> {
  const onTimeout = () => timeoutError(record, timeout);
  try {
    // Without a limit, `runWithin` would only cost time: on Deno, a fifth of the call.
    if (!signal && timeout === Infinity) return await work();
    return await runWithin({ signals: [signal], timeout, onTimeout }, work);
  } catch (thrown) {
    showCaller(thrown, runCall);
    throw thrown;
  }
}
