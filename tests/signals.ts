import { NetworkError } from "../src/errors.ts";

/** A signal, the function that aborts it, and the listeners that it has. */
export function observedSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (type: string, listener: never, options?: never) => {
    listeners.add(listener);
    addEventListener.call(signal, type, listener, options);
  };
  signal.removeEventListener = (type: string, listener: never, options?: never) => {
    listeners.delete(listener);
    removeEventListener.call(signal, type, listener, options);
  };
  return { signal, listeners, abort: (reason?: unknown) => controller.abort(reason) };
}

/** Reasons of an abort, among them what looks like none, or like a failure of an attempt. */
export const reasons: unknown[] = [
  new RangeError("The user left"),
  new NetworkError("Not from here", {}),
  "stop",
  "",
  0,
  false,
  null,
];
