/** What ends work before it is done. */
interface Limits {
  readonly signals: readonly (AbortSignal | null | undefined)[];
  /** The time for the work, in milliseconds; by default without a limit. */
  readonly timeout?: number;
  /** Makes the error for when the time is up. */
  readonly onTimeout?: () => Error;
}

/**
 * Does work until a signal is aborted or the time is up, even if the work itself never ends.
 *
 * @param limits What ends the work.
 * @param work The work. It should stop when its own signal is aborted.
 * @returns The result of the work.
 * @throws The reason of a signal, the error of `onTimeout`, or what the work throws.
 */
export async function runWithin<T>(
  { signals, timeout = Infinity, onTimeout }: Limits,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  for (const signal of signals) signal?.throwIfAborted();
  const controller = new AbortController();
  // No listener is added to the signal of the work: on Node.js, a request would keep the listener, and
  // all that it refers to, in memory.
  let stop!: (reason: unknown) => void;
  const stopped = new Promise<never>((_resolve, reject) => stop = reject);
  const onAbort = ({ target }: Event) => stop((target as AbortSignal).reason);
  for (const signal of signals) signal?.addEventListener("abort", onAbort);
  // `setTimeout` would fire at once for `Infinity`.
  const timer = timeout < Infinity ? setTimeout(() => stop(onTimeout?.()), timeout) : undefined;
  try {
    return await Promise.race([work(controller.signal), stopped]);
  } catch (thrown) {
    controller.abort(); // This ends what the work has begun. Node.js changes the stack of a reason.
    throw thrown;
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal?.removeEventListener("abort", onAbort);
  }
}
