import { TimeoutError } from "../errors.ts";

/** The time and randomness of the waits between attempts; tests pass their own. */
export interface Clock {
  /** Waits; rejects with the reason of a signal when it is aborted. */
  sleep(milliseconds: number, signals: readonly AbortSignal[]): Promise<void>;
  /** Returns a number from 0 to below 1, which spreads the waits of many clients. */
  random(): number;
}

/** What ends some work early. */
export interface Limits {
  /** Names the work in a message. */
  readonly describe?: () => string;
  /** In milliseconds; without it, the time is not limited. */
  readonly timeout?: number | undefined;
  readonly signals: readonly AbortSignal[];
}

/** What waits for a signal. It has one listener for all, because Node.js warns about many. */
const waiting = /* @__PURE__ */ new WeakMap<AbortSignal, Set<(reason: unknown) => void>>();

function handleAbort(this: AbortSignal): void {
  for (const abort of waiting.get(this) ?? []) abort(this.reason);
}

/** Calls a function when one of some signals is aborted; returns a function that stops this. */
function onAbort(
  signals: readonly AbortSignal[],
  abort: (reason: unknown) => void,
): () => void {
  for (const signal of signals) {
    if (signal.aborted) abort(signal.reason);
    const aborts = waiting.get(signal) ?? new Set();
    waiting.set(signal, aborts.add(abort));
    signal.addEventListener("abort", handleAbort); // does nothing the second time
  }
  return () => {
    for (const signal of signals) {
      const aborts = waiting.get(signal)!;
      aborts.delete(abort);
      if (aborts.size === 0) signal.removeEventListener("abort", handleAbort);
    }
  };
}

/**
 * Does work until its time is up or a signal is aborted, even if the work itself never ends.
 *
 * Errors are made after `await`, so that their stack has the caller.
 *
 * @param limits What ends the work early.
 * @param work The work; it should stop when its signal is aborted.
 * @param explain Makes the error for what the work throws.
 * @returns The result of the work.
 * @throws {TimeoutError} When the time is up.
 * @throws The reason of a signal that is aborted.
 */
export async function within<T>(
  { describe, timeout, signals }: Limits,
  work: (signal: AbortSignal) => Promise<T>,
  explain = (thrown: unknown) => thrown,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  let isLate = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stop = () => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      const end = (reason: unknown) => {
        controller.abort(reason);
        reject(reason);
      };
      const endLate = () => {
        isLate = true;
        end(new DOMException(`It took more than ${timeout} ms`, "TimeoutError"));
      };
      stop = onAbort(signals, end);
      if (timeout !== undefined) timer = setTimeout(endLate, timeout);
      if (!signal.aborted) work(signal).then(resolve, reject);
    });
  } catch (thrown) {
    const { aborted: isEnded, reason } = signal;
    controller.abort(thrown); // ends what the work has left behind
    if (isLate) {
      throw new TimeoutError(`"${describe!()}" took more than ${timeout} ms`, {
        timeout: timeout!,
      });
    }
    throw isEnded ? reason : explain(thrown);
  } finally {
    clearTimeout(timer);
    stop();
  }
}

/** The system's time and randomness. */
export const systemClock: Clock = {
  sleep: (milliseconds, signals) =>
    within({ signals }, (signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        signal.addEventListener("abort", () => clearTimeout(timer));
      })),
  random: () => Math.random(),
};
