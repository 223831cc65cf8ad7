import { expect } from "@std/expect";

import { TimeoutError } from "../src/errors.ts";
import { onAbort, systemClock, throwIfAborted, type Time, within } from "../src/transport/time.ts";
import { caught, failure } from "./outcome.ts";
import { legacySignal, observedSignal, reasons } from "./signals.ts";

const never = () => new Promise<never>(() => {});

/** The machine's time, also where a test replaces it. */
const realNow = performance.now.bind(performance);

/** Asks for the time without a pause, as a loop over a stream does; fails after five seconds. */
async function spin({ check }: Time): Promise<never> {
  const start = realNow();
  while (realNow() < start + 5_000) {
    await Promise.resolve();
    check();
  }
  throw new Error("The loop was not ended");
}

Deno.test("within() has the result of the work", async () => {
  let during: boolean | undefined;
  const result = await within({ timeout: 30_000, signals: [] }, ({ signal, check }) => {
    check();
    during = signal.aborted;
    return Promise.resolve("result");
  });
  expect([result, during]).toEqual(["result", false]);
});

Deno.test("within() ends work that never ends, and aborts its signal", async () => {
  let reason: unknown;
  const limits = { name: "GET /report", timeout: 5, signals: [] };
  const error = await failure(
    TimeoutError,
    within(limits, ({ signal }) => {
      signal.addEventListener("abort", () => reason = signal.reason);
      return never();
    }),
  );
  expect([error.message, error.timeout]).toEqual(['"GET /report" took more than 5 ms', 5]);
  expect(reason).toMatchObject({ name: "TimeoutError" });
});

Deno.test("within() ends a loop that never pauses", async () => {
  await failure(TimeoutError, within({ timeout: 5, signals: [] }, spin));
});

Deno.test("within() ends a loop that never pauses when timers and the clock are fake", async () => {
  const { setTimeout, clearTimeout, Date: { now } } = globalThis;
  try {
    globalThis.setTimeout = (() => 1) as unknown as typeof setTimeout;
    globalThis.clearTimeout = () => {};
    performance.now = () => 0;
    Date.now = () => 0;
    await failure(TimeoutError, within({ timeout: 5, signals: [] }, spin));
  } finally {
    Object.assign(globalThis, { setTimeout, clearTimeout });
    delete (performance as { now?: unknown }).now;
    Date.now = now;
  }
  expect(performance.now()).toBeGreaterThan(0);
});

Deno.test("within() leaves time and signals to work without limits", async () => {
  await within({ signals: [] }, async ({ check }) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    check();
  });
});

Deno.test("within() explains what the work throws, and aborts its signal", async () => {
  const thrown = new RangeError("boom");
  const explained = new TypeError("explained");
  const works: ((time: Time) => Promise<never>)[] = [
    () => Promise.reject(thrown),
    () => {
      throw thrown;
    },
  ];
  for (const work of works) {
    let signal: AbortSignal | undefined;
    const given: unknown[] = [];
    const error = await caught(within(
      { timeout: 30_000, signals: [] },
      (time) => {
        signal = time.signal;
        return work(time);
      },
      (thrown) => {
        given.push(thrown);
        return explained;
      },
    ));
    expect(error).toBe(explained);
    expect(given).toEqual([thrown]);
    expect(signal!.reason).toBe(thrown);
  }
  expect(await caught(within({ signals: [] }, () => Promise.reject(thrown)))).toBe(thrown);
});

Deno.test("within() rejects with the reason of a signal, which is not explained", async () => {
  const explain = () => new Error("This was explained");
  for (const reason of reasons) {
    const controller = new AbortController();
    const { signal: other } = new AbortController();
    const limits = { timeout: 30_000, signals: [other, controller.signal] };
    let inner: AbortSignal | undefined;
    const ended = caught(within(limits, ({ signal }) => {
      inner = signal;
      return never();
    }, explain));
    controller.abort(reason);
    expect(await ended).toBe(reason);
    expect(inner!.reason).toBe(reason);
  }
});

Deno.test("within() does no work when a signal is aborted", async () => {
  for (const reason of reasons) {
    const { signal: other } = new AbortController();
    const limits = { timeout: 30_000, signals: [other, AbortSignal.abort(reason)] };
    let isStarted = false;
    const work = () => {
      isStarted = true;
      return never();
    };
    expect(await caught(within(limits, work))).toBe(reason);
    expect(isStarted).toBe(false);
    expect(await caught(() => throwIfAborted(limits.signals))).toBe(reason);
  }
  throwIfAborted([new AbortController().signal]);
});

Deno.test("within() obeys signals that have no reason", async () => {
  const { signal, abort } = legacySignal();
  throwIfAborted([signal]);
  expect(await within({ signals: [signal] }, () => Promise.resolve(1))).toBe(1);
  const ended = caught(within({ signals: [signal] }, never));
  abort();
  const late = caught(within({ signals: [signal] }, never));
  const thrown = caught(() => throwIfAborted([signal]));
  for (const error of await Promise.all([ended, late, thrown])) {
    expect(error).toBeInstanceOf(DOMException);
    expect(error).toMatchObject({ name: "AbortError" });
  }
});

// What is left behind

Deno.test("within() has one listener on a signal that many wait for, and none after", async () => {
  const { signal, listeners, abort } = observedSignal();
  const finishers: (() => void)[] = [];
  const start = () =>
    within(
      { timeout: 30_000, signals: [signal] },
      () => new Promise<void>((resolve) => finishers.push(resolve)),
    );
  const first = Array.from({ length: 15 }, start);
  const rest = Array.from({ length: 15 }, () => caught(start()));
  expect(listeners.size).toBe(1);
  for (const finish of finishers.slice(0, 15)) finish();
  await Promise.all(first);
  expect(listeners.size).toBe(1);
  abort("stop");
  expect(await Promise.all(rest)).toEqual(Array(15).fill("stop"));
  expect(listeners.size).toBe(0);
});

Deno.test("within() leaves no listener however the work ends", async () => {
  const { signal, listeners, abort } = observedSignal();
  const limits = { timeout: 5, signals: [signal, signal] };
  await within(limits, () => Promise.resolve());
  await caught(within(limits, never));
  await caught(within(limits, () => Promise.reject("boom")));
  await caught(within({ signals: [signal, AbortSignal.abort()] }, never));
  await systemClock.sleep(1, [signal]);
  expect(listeners.size).toBe(0);
  abort();
  await caught(within(limits, never)); // aborted from the start
  expect(listeners.size).toBe(0);
});

Deno.test("onAbort() calls each function once, until it is stopped", () => {
  const { signal, listeners, abort } = observedSignal();
  const called: string[] = [];
  onAbort([signal], (reason) => called.push(`first ${reason}`));
  const stop = onAbort([signal], () => called.push("second"));
  stop();
  abort("stop");
  expect(called).toEqual(["first stop"]);
  expect(listeners.size).toBe(1);
});

Deno.test("systemClock waits for a timer, unless a signal is aborted", async () => {
  await systemClock.sleep(1, []);
  const { signal } = new AbortController();
  await systemClock.sleep(1, [signal]);
  expect(await caught(systemClock.sleep(60_000, [signal, AbortSignal.abort("stop")]))).toBe("stop");
  expect(await caught(systemClock.sleep(60_000, [AbortSignal.timeout(5)]))).toMatchObject({
    name: "TimeoutError",
  });
});

Deno.test("systemClock spreads the waits", () => {
  const numbers = Array.from({ length: 100 }, systemClock.random);
  expect(new Set(numbers).size).toBeGreaterThan(1);
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
});
