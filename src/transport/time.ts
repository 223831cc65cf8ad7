/** The time and randomness of the waits between attempts; tests pass their own. */
export interface Clock {
  /** Waits; rejects with the reason of the signal when it is aborted. */
  sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
  /** Returns a number from 0 to below 1, which spreads the waits of many clients. */
  random(): number;
}

/** The reason of the abort when the time is up. */
export const timeUp = /* @__PURE__ */ new DOMException("The time is up", "TimeoutError");

/** The reason of the abort when the work has ended; making one each time would take longer. */
const hasEnded = /* @__PURE__ */ new DOMException("The work has ended", "AbortError");

/**
 * Does work until a signal is aborted or its time is up, even if the work itself never ends.
 *
 * @param outer The signal.
 * @param work The work. It should stop when its own signal is aborted.
 * @param timeout In milliseconds; without it, the time is not limited. With it, the signal of the
 * work is aborted at the end in any case, so that nothing is left behind.
 * @returns The result of the work.
 * @throws The reason of the signal, `timeUp`, or what the work throws.
 */
export async function within<T>(
  outer: AbortSignal | null | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  timeout?: number,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = () => controller.abort(outer!.reason);
  const endLate = () => controller.abort(timeUp);
  const timer = timeout === undefined ? undefined : setTimeout(endLate, timeout);
  outer?.addEventListener("abort", abort);
  try {
    return await new Promise<T>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      if (outer?.aborted) abort();
      else work(signal).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", abort);
    if (timeout !== undefined) controller.abort(hasEnded);
  }
}

/** The system's time and randomness. */
export const systemClock: Clock = {
  sleep: (milliseconds, signal) =>
    within(signal, (ended) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        ended.addEventListener("abort", () => clearTimeout(timer));
      })),
  random: () => Math.random(),
};
