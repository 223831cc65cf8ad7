// A `fetch` with a key, limits and retries. What is in this folder knows nothing of OpenAPI.
import { ScamAddressError, TimeoutError } from "./errors.ts";
import { fail, type FailedCall } from "./failures.ts";
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
export interface Call extends FailedCall {
  /** The keys, as far as they are known. */
  readonly secrets: string[];
  /** The address below which requests stay, because they have the key. */
  readonly baseUrl: string;
  /** Sets the headers that middleware must not see or change. */
  readonly setHeaders: (headers: Headers) => Promise<void>;
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  readonly requestInitExt?: Record<string, unknown> | undefined;
  /** Whether the request is safe to send again; by default, its method says. */
  readonly idempotent?: boolean | undefined;
  readonly signal?: AbortSignal | null | undefined;
  readonly retries: number;
  readonly timeout: number;
  readonly totalTimeout: number;
  /** The end of `totalTimeout`, on the clock of `performance.now()`. */
  readonly deadline: number;
  readonly maxResponseBytes: number;
  readonly onRetry?: ((event: RetryEvent) => unknown) | undefined;
}

/**
 * Does the work of a call until its signal is aborted or its time is up. Its errors get the stack of the
 * caller.
 */
export async function runCall<T>(
  call: Call,
  work: (signal?: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, totalTimeout: timeout } = call;
  const onTimeout = () => fail(call, TimeoutError, `took more than ${timeout} ms`, { timeout });
  try {
    // Without a limit, `runWithin` would only cost time: on Deno, a fifth of the call.
    if (!signal && timeout === Infinity) return await work();
    return await runWithin({ signals: [signal], timeout, onTimeout }, work);
  } catch (error) {
    // V8 keeps ten frames of a stack, and all of them may be in this client and openapi-fetch.
    if (error instanceof ScamAddressError) Error.captureStackTrace?.(error, runCall);
    throw error;
  }
}
