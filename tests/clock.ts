import { clock } from "../src/transport/clock.ts";

/**
 * Records the delays of retries, and does not wait, as long as the result is in use.
 *
 * Randomness is replaced by half of the longest back-off.
 */
export function replaceClock(): Disposable & { delays: number[] } {
  const delays: number[] = [];
  const original = { ...clock };
  clock.random = () => 0.5;
  // deno-lint-ignore require-await -- it throws as a rejection
  clock.sleep = async (delay, signal) => {
    delays.push(delay);
    signal?.throwIfAborted();
  };
  return { delays, [Symbol.dispose]: () => void Object.assign(clock, original) };
}
