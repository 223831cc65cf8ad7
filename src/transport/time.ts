/** The reason of the abort when the time is up. */
export const timeUp = /* @__PURE__ */ new DOMException("The time is up", "TimeoutError");

/** The reason of the abort when the work has ended; making one each time would take longer. */
const hasEnded = /* @__PURE__ */ new DOMException("The work has ended", "AbortError");

/** Limits an attempt. */
interface Limit<T> {
  /** In milliseconds. */
  readonly timeout: number;
  /** Whether a result leaves nothing behind that an abort would end. */
  readonly isOver: (result: T) => boolean;
}

/**
 * Does work until a signal is aborted or its time is up, even if the work itself never ends.
 *
 * @param signals The signals.
 * @param work The work. It should stop when its own signal is aborted.
 * @param limit Limits the time. With it, the signal of the work is aborted at the end, too, if the
 * work has failed or is not over.
 * @returns The result of the work.
 * @throws The reason of the signal, `timeUp`, or what the work throws.
 */
export async function within<T>(
  signals: readonly (AbortSignal | null | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
  limit?: Limit<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = () => controller.abort(signals.find((outer) => outer?.aborted)?.reason);
  const endLate = () => controller.abort(timeUp);
  const timer = limit && setTimeout(endLate, limit.timeout);
  for (const outer of signals) outer?.addEventListener("abort", abort);
  let fail = () => {};
  let mayGoOn = limit !== undefined;
  try {
    const result = await new Promise<T>((resolve, reject) => {
      fail = () => reject(signal.reason);
      signal.addEventListener("abort", fail);
      if (signals.some((outer) => outer?.aborted)) abort();
      else work(signal).then(resolve, reject);
    });
    mayGoOn = limit?.isOver(result) === false;
    return result;
  } finally {
    clearTimeout(timer);
    for (const outer of signals) outer?.removeEventListener("abort", abort);
    // Node.js keeps the signal of a request as long as the request, to which this would lead.
    signal.removeEventListener("abort", fail);
    if (mayGoOn) controller.abort(hasEnded);
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
