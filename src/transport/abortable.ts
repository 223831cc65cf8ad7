/** Signals, any of which ends the work. */
export type Signals = readonly (AbortSignal | null | undefined)[];

/**
 * Does work until a signal is aborted, even if the work itself never ends.
 *
 * @param work The work. It should stop when its own signal is aborted.
 * @param controller The controller of the work's signal. Whoever passes one can end the work, too.
 * @returns The result of the work.
 * @throws The reason of the signal that was aborted, or what the work throws.
 */
export async function abortable<T>(
  signals: Signals,
  work: (workSignal: AbortSignal) => Promise<T>,
  controller: AbortController = new AbortController(),
): Promise<T> {
  const workSignal = controller.signal;
  const abort = () => controller.abort(signals.find((signal) => signal?.aborted)?.reason);
  let stop = () => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      stop = () => reject(workSignal.reason);
      workSignal.addEventListener("abort", stop);
      for (const signal of signals) signal?.addEventListener("abort", abort);
      if (signals.some((signal) => signal?.aborted)) abort();
      else work(workSignal).then(resolve, reject);
    });
  } finally {
    for (const signal of signals) signal?.removeEventListener("abort", abort);
    // Node.js keeps the signal of a request as long as the request. A listener left on the signal
    // would keep the request alive (https://github.com/nodejs/undici/pull/5822).
    workSignal.removeEventListener("abort", stop);
  }
}
