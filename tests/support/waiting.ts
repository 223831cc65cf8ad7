// Replaces the wait between attempts.
import { backoff } from "./internals.ts";

/**
 * Records the delays of retries, and does not wait, as long as the result is in use.
 *
 * Randomness is replaced by half of the longest back-off.
 */
export function replaceWaiting(): Disposable & { delays: number[] } {
  const delays: number[] = [];
  const original = { ...backoff };
  backoff.random = () => 0.5;
  // deno-lint-ignore require-await -- it throws as a rejection
  backoff.sleep = async (delay, signal) => {
    delays.push(delay);
    signal.throwIfAborted();
  };
  return { delays, [Symbol.dispose]: () => void Object.assign(backoff, original) };
}
