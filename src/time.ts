import { TimeoutError } from "./errors.ts";

/** The time and randomness of the waits between attempts; tests pass their own. */
export interface Clock {
  /** Waits; rejects with the reason of a signal when it is aborted. */
  sleep(milliseconds: number, signals: readonly AbortSignal[]): Promise<void>;
  /** Returns a number from 0 to below 1, which spreads the waits of many clients. */
  random(): number;
}

/** Calls a function when one of some signals is aborted; returns a function that stops this. */
function onAbort(
  signals: readonly AbortSignal[],
  abort: (reason: unknown) => void,
): () => void {
  const listeners = signals.map((signal) => {
    const listener = () => abort(signal.reason);
    if (signal.aborted) listener();
    else signal.addEventListener("abort", listener);
    return listener;
  });
  return () => signals.forEach((signal, i) => signal.removeEventListener("abort", listeners[i]!));
}

/** Does work; rejects with the reason of a signal when it is aborted first. */
export async function abortable<T>(
  signals: readonly AbortSignal[],
  work: () => Promise<T>,
): Promise<T> {
  let stop = () => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      let isAborted = false;
      stop = onAbort(signals, (reason) => {
        isAborted = true;
        reject(reason);
      });
      if (!isAborted) work().then(resolve, reject);
    });
  } finally {
    stop();
  }
}

/** The system's time and randomness. */
export const systemClock: Clock = {
  async sleep(milliseconds, signals) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await abortable(signals, () =>
        new Promise<void>((resolve) => {
          timer = setTimeout(resolve, milliseconds);
        }));
    } finally {
      clearTimeout(timer);
    }
  },
  random: () => Math.random(),
};

/** The limits of some work. */
export interface Limits {
  /** The name of the work, for the message. */
  readonly name: string;
  /** In milliseconds. */
  readonly timeout: number;
  readonly signals: readonly AbortSignal[];
}

/**
 * Runs work until it takes too long or a signal is aborted, even if the work itself never ends.
 *
 * The error is made after `await`, so that its stack has the caller.
 */
export async function withTimeout<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { name, timeout, signals }: Limits,
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
      timer = setTimeout(() => {
        isLate = true;
        end(new DOMException("The work took too long", "TimeoutError"));
      }, timeout);
      stop = onAbort(signals, end);
      if (!signal.aborted) work(signal).then(resolve, reject);
    });
  } catch (error) {
    const reason = signal.aborted ? signal.reason : error;
    controller.abort(reason); // closes the connection of a refused response
    if (isLate) throw new TimeoutError(`"${name}" took more than ${timeout} ms`, { timeout });
    throw reason;
  } finally {
    clearTimeout(timer);
    stop();
  }
}
