import { expect } from "@std/expect";

import { systemClock, within } from "../src/transport/time.ts";
import { caught } from "./outcome.ts";
import { observedSignal } from "./signals.ts";

const never = () => new Promise<never>(() => {});

Deno.test("within() explains what the work throws, and aborts its signal", async () => {
  for (const thrown of [new RangeError("boom"), undefined, null]) {
    const works = [
      () => Promise.reject(thrown),
      () => {
        throw thrown;
      },
    ];
    for (const work of works) {
      let signal: AbortSignal | undefined;
      const explained = caught(within(
        { timeout: 30_000, signals: [] },
        (given) => {
          signal = given;
          return work();
        },
        (reason) => ({ explained: reason }),
      ));
      expect(await explained).toEqual({ explained: thrown });
      expect(signal!.aborted).toBe(true);
      expect(await caught(within({ signals: [] }, work))).toBe(thrown);
    }
  }
});

Deno.test("within() leaves no listener and no timer however the work ends", async () => {
  const { setTimeout, clearTimeout } = globalThis;
  const timers = new Set<unknown>();
  globalThis.setTimeout = ((action: () => void, delay: number) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      action();
    }, delay);
    timers.add(timer);
    return timer;
  }) as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    timers.delete(timer);
    clearTimeout(timer as never);
  };
  try {
    const { signal, listeners, abort } = observedSignal();
    const signals = [signal, signal];
    const limits = { timeout: 30_000, signals };
    await within(limits, () => Promise.resolve());
    await caught(within(limits, () => Promise.reject("boom")));
    await caught(within({ ...limits, timeout: 5 }, never));
    await caught(within({ ...limits, signals: [signal, AbortSignal.abort()] }, never));
    await systemClock.sleep(1, signals);
    expect([listeners.size, timers.size]).toEqual([0, 0]);
    const ended = [caught(within(limits, never)), caught(systemClock.sleep(30_000, signals))];
    expect([listeners.size, timers.size]).toEqual([1, 2]);
    abort("stop");
    expect(await Promise.all(ended)).toEqual(["stop", "stop"]);
    await caught(within(limits, never)); // aborted from the start
    await caught(systemClock.sleep(30_000, signals));
    expect([listeners.size, timers.size]).toEqual([0, 0]);
  } finally {
    Object.assign(globalThis, { setTimeout, clearTimeout });
  }
});

Deno.test("systemClock waits for as long as it is told", async () => {
  const start = performance.now();
  await systemClock.sleep(20, [new AbortController().signal]);
  expect(performance.now() - start).toBeGreaterThan(18);
});

Deno.test("systemClock spreads the waits", () => {
  const numbers = Array.from({ length: 100 }, systemClock.random);
  expect(new Set(numbers).size).toBeGreaterThan(1);
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
});
