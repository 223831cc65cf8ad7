import { abortable } from "./abortable.ts";

/** How to wait between attempts; tests replace it. */
export const backoff = {
  /** Waits; rejects with the reason of the signal when it is aborted. */
  sleep: (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
    abortable([signal], (sleepSignal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        sleepSignal.addEventListener("abort", () => clearTimeout(timer));
      })),
  /** Returns a number from 0 to below 1, which spreads the waits of many clients. */
  random: (): number => Math.random(),
};
