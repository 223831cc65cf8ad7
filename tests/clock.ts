import type { Clock } from "../src/transport/time.ts";

/**
 * Makes a clock that records the delays of retries and does not wait.
 *
 * @param random Replaces randomness; by default, half of the longest back-off.
 */
export function createClock(random = () => 0.5): Clock & { delays: number[] } {
  const delays: number[] = [];
  return {
    delays,
    random,
    // deno-lint-ignore require-await -- it throws as a rejection
    async sleep(delay, signal) {
      delays.push(delay);
      signal?.throwIfAborted();
    },
  };
}
