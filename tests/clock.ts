import type { Clock } from "../src/time.ts";

/**
 * Makes a clock that records the delays of retries in place of waiting for them.
 *
 * @param random What stands for randomness: half of the back-off's bound by default.
 */
export function createClock(random = () => 0.5): Clock & { delays: number[] } {
  const delays: number[] = [];
  return {
    delays,
    random,
    // deno-lint-ignore require-await -- it throws as a rejection
    async sleep(delay, signals) {
      delays.push(delay);
      for (const signal of signals) signal.throwIfAborted();
    },
  };
}
