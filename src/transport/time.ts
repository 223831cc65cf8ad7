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
  /** The name of the work, for the message. */
  readonly name?: string;
  /** In milliseconds; without it, the time is not limited. */
  readonly timeout?: number | undefined;
  readonly signals: readonly AbortSignal[];
}

/** The time that some work has. */
export interface Time {
  /** Aborted when the time is up or the work has failed. */
  readonly signal: AbortSignal;
  /** Throws when the time is up; for loops that may never pause, so that no timer can fire. */
  check(): void;
}

/** Taken once, so that loops also end where a test replaces the clock. */
const now = /* @__PURE__ */ performance.now.bind(performance);

/** What waits for a signal. It has one listener for all, because runtimes warn about many. */
const waiting = /* @__PURE__ */ new WeakMap<AbortSignal, Set<(reason: unknown) => void>>();

function handleAbort(this: AbortSignal): void {
  for (const abort of waiting.get(this) ?? []) abort(reasonOf(this));
}

/** Returns why a signal was aborted; `AbortSignal` of some libraries does not say. */
function reasonOf(signal: AbortSignal): unknown {
  if ("reason" in signal) return signal.reason;
  return new DOMException("The operation was aborted", "AbortError");
}

/** Throws the reason of a signal that is aborted. */
export function throwIfAborted(signals: readonly AbortSignal[]): void {
  for (const signal of signals) if (signal.aborted) throw reasonOf(signal);
}

/** Calls a function when one of some signals is aborted; returns a function that stops this. */
export function onAbort(
  signals: readonly AbortSignal[],
  abort: (reason: unknown) => void,
): () => void {
  for (const signal of signals) {
    if (signal.aborted) abort(reasonOf(signal));
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
  { name, timeout, signals }: Limits,
  work: (time: Time) => Promise<T>,
  explain = (thrown: unknown) => thrown,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const deadline = timeout === undefined ? Infinity : now() + timeout;
  let isLate = false;
  const late = () => {
    isLate = true;
    return new DOMException(`It took more than ${timeout} ms`, "TimeoutError");
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stop = () => {};
  const check = () => {
    if (now() > deadline) throw late();
  };
  try {
    return await new Promise<T>((resolve, reject) => {
      const end = (reason: unknown) => {
        controller.abort(reason);
        reject(reason);
      };
      stop = onAbort(signals, end);
      if (timeout !== undefined) timer = setTimeout(() => end(late()), timeout);
      if (!signal.aborted) work({ signal, check }).then(resolve, reject);
    });
  } catch (thrown) {
    const isAborted = signal.aborted;
    controller.abort(thrown); // ends what the work has left behind
    if (isLate) {
      throw new TimeoutError(`"${name}" took more than ${timeout} ms`, { timeout: timeout! });
    }
    throw isAborted ? signal.reason : explain(thrown);
  } finally {
    clearTimeout(timer);
    stop();
  }
}

/** The system's time and randomness. */
export const systemClock: Clock = {
  sleep: (milliseconds, signals) =>
    within({ signals }, ({ signal }) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        signal.addEventListener("abort", () => clearTimeout(timer));
      })),
  random: () => Math.random(),
};
