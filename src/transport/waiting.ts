import { abortable, type Signals } from "./abortable.ts";

/** The means of waiting between attempts; tests replace them. */
export const waiting = {
  /** Waits; rejects with the reason of a signal that is aborted. */
  sleep: (milliseconds: number, signals: Signals): Promise<void> =>
    abortable(signals, (sleepSignal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        sleepSignal.addEventListener("abort", () => clearTimeout(timer));
      })),
  /** Returns a number from 0 to below 1, which spreads the waits of many clients. */
  random: (): number => Math.random(),
};
