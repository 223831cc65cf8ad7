/** The reason of the abort when the time is up. */
export const timeUp = /* @__PURE__ */ new DOMException("The time is up", "TimeoutError");

/** What limits work in addition to signals. */
interface Limit {
  /** In milliseconds. */
  readonly timeout: number;
  /** Has the signal of the work, which whoever made it may also abort after the work. */
  readonly controller: AbortController;
}

/**
 * Does work until a signal is aborted or its time is up, even if the work itself never ends.
 *
 * @param signals The signals.
 * @param work The work. It should stop when its own signal is aborted.
 * @param limit Limits the time.
 * @returns The result of the work.
 * @throws The reason of the signal, `timeUp`, or what the work throws.
 */
export async function within<T>(
  signals: readonly (AbortSignal | null | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
  limit?: Limit,
): Promise<T> {
  const { controller, timeout } = limit ?? { controller: new AbortController() };
  const { signal } = controller;
  const abort = () => controller.abort(signals.find((outer) => outer?.aborted)?.reason);
  const timer = limit && setTimeout(() => controller.abort(timeUp), timeout);
  let stop = () => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener("abort", stop);
      for (const outer of signals) outer?.addEventListener("abort", abort);
      if (signals.some((outer) => outer?.aborted)) abort();
      else work(signal).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    for (const outer of signals) outer?.removeEventListener("abort", abort);
    // Node.js keeps the signal of a request as long as the request, to which this would lead
    // (https://github.com/nodejs/undici/pull/5822).
    signal.removeEventListener("abort", stop);
  }
}

/** The time and randomness of the waits between attempts; tests replace them. */
export const clock = {
  /** Waits; rejects with the reason of the signal when it is aborted. */
  sleep: (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
    within([signal], (ended) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        ended.addEventListener("abort", () => clearTimeout(timer));
      })),
  /** Returns a number from 0 to below 1, which spreads the waits of many clients. */
  random: (): number => Math.random(),
};
