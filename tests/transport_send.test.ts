import { expect } from "@std/expect";

import {
  type HttpError,
  InvalidResponseError,
  NetworkError,
  RedirectError,
  TimeoutError,
} from "../src/errors.ts";
import { redactor } from "../src/transport/redact.ts";
import type { RetryEvent } from "../src/transport/retry.ts";
import { send, type Sending } from "../src/transport/send.ts";
import { systemClock } from "../src/transport/time.ts";
import { createClock } from "./clock.ts";
import { json, type Responder, serve } from "./server.ts";
import { legacySignal, observedSignal, reasons } from "./signals.ts";
import { reading } from "./transport.ts";

type Init = Parameters<Sending["attempt"]>[0];

const respondWith = (status: number, retryAfter?: string): Responder => (_, response) => {
  const headers = {
    connection: "close",
    ...retryAfter !== undefined && { "retry-after": retryAfter },
  };
  response.writeHead(status, headers).end(`{"status":${status}}`);
};
const reset: Responder = (_, response) => void response.socket!.destroy();
const cutOff: Responder = (_, response) => {
  response.writeHead(200, { "content-length": "100", connection: "close" });
  response.write("[1,", () => setTimeout(() => response.socket!.destroy(), 5));
};
const hang: Responder = () => {};

/** Sends to a server that responds to each attempt in turn; its last response is repeated. */
async function sendTo(responders: Responder[], more: Partial<Sending> = {}) {
  const clock = createClock();
  const events: RetryEvent[] = [];
  const inits: Init[] = [];
  await using server = await serve((request, response, count) =>
    responders[Math.min(count, responders.length) - 1]!(request, response, count)
  );
  const sent = send({
    ...reading,
    attempt(init) {
      inits.push(init);
      return fetch(server.url, init);
    },
    retries: 2,
    isIdempotent: true,
    onRetry: (event) => void events.push(event),
    clock,
    ...more,
  });
  const outcome = await sent.then((received) => ({ received }), (error: unknown) => ({ error }));
  return {
    received: undefined,
    error: undefined,
    ...outcome,
    attempts: inits.length,
    inits,
    events,
    delays: clock.delays,
  };
}

Deno.test("send() has the first response that succeeds, and its body", async () => {
  const ok: Responder = (_, response) => json(response, [1], 201);
  const { received, attempts, events } = await sendTo([ok]);
  expect([received!.response.status, attempts, events]).toEqual([201, 1, []]);
  expect(new TextDecoder().decode(received!.body)).toBe("[1]");
});

Deno.test("send() repeats what failed for a while, and says so before each wait", async () => {
  const responders = [respondWith(503), reset, cutOff, hang, respondWith(429, "3")];
  const ok: Responder = (_, response) => json(response, [1]);
  const { received, events, delays } = await sendTo([...responders, ok], {
    retries: 5,
    timeout: 200,
  });
  expect(received!.response.status).toBe(200);
  expect(events.map(({ attempt, delay, error }) => [attempt, delay, error.code])).toEqual([
    [1, 250, "http"],
    [2, 500, "network"],
    [3, 1_000, "network"],
    [4, 2_000, "timeout"],
    [5, 3_000, "http"],
  ]);
  expect(delays).toEqual(events.map(({ delay }) => delay));
  expect(events[4]!.error).toMatchObject({ status: 429, body: { status: 429 }, retryAfter: 3 });
});

Deno.test("send() has the last response when no attempt is left", async () => {
  const { received, attempts } = await sendTo([
    respondWith(503),
    respondWith(502),
    respondWith(500),
  ]);
  expect([received!.response.status, attempts]).toEqual([500, 3]);
  expect(new TextDecoder().decode(received!.body)).toBe('{"status":500}');
});

Deno.test("send() rejects with the last failure when no attempt is left", async () => {
  const network = await sendTo([respondWith(503), reset], { retries: 1 });
  expect([network.attempts, network.error instanceof NetworkError]).toEqual([2, true]);
  const late = await sendTo([reset, hang], { retries: 1, timeout: 200 });
  expect([late.attempts, late.error instanceof TimeoutError]).toEqual([2, true]);
  const single = await sendTo([reset], { retries: 0 });
  expect([single.attempts, single.error instanceof NetworkError]).toEqual([1, true]);
});

Deno.test("send() repeats an attempt that is not idempotent only after 429", async () => {
  const responders = [respondWith(429), respondWith(503)];
  const { received, attempts } = await sendTo(responders, { isIdempotent: false });
  expect([received!.response.status, attempts]).toEqual([503, 2]);
  const { error, events } = await sendTo([reset], { isIdempotent: false });
  expect([error instanceof NetworkError, events]).toEqual([true, []]);
});

Deno.test("send() repeats nothing that stays wrong", async () => {
  const redirected = await sendTo([respondWith(307)]);
  expect([redirected.error instanceof RedirectError, redirected.attempts]).toEqual([true, 1]);
  const large = await sendTo([(_, response) => json(response, [1])], { maxResponseBytes: 2 });
  expect([large.error instanceof InvalidResponseError, large.attempts]).toEqual([true, 1]);
  const { received, attempts } = await sendTo([respondWith(400)]);
  expect([received!.response.status, attempts]).toEqual([400, 1]);
});

Deno.test("send() repeats no attempt that lacks a permission", async () => {
  const missing = Object.assign(new Error("Requires net access"), { name: "NotCapable" });
  for (const thrown of [missing, new TypeError("fetch failed", { cause: missing })]) {
    let attempts = 0;
    const { error, events } = await sendTo([], {
      attempt() {
        attempts++;
        return Promise.reject(thrown);
      },
    });
    expect(error).toBeInstanceOf(NetworkError);
    expect((error as Error).message).toBe('"GET /report" got no response: Requires net access');
    expect([attempts, events]).toEqual([1, []]);
  }
});

Deno.test("send() gives each attempt what the limits need", async () => {
  const { inits } = await sendTo([reset, respondWith(503), respondWith(200)]);
  expect(inits.map(({ signal, ...others }) => [signal instanceof AbortSignal, others]))
    .toEqual(Array(3).fill([true, { redirect: "manual" }]));
  expect(new Set(inits.map(({ signal }) => signal)).size).toBe(3);
  expect(inits.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
});

// Retry-After

Deno.test("send() waits for the time in Retry-After", async () => {
  for (const [value, delay] of [["0", 0], ["1", 1_000], ["60", 60_000]] as const) {
    const { events, delays } = await sendTo([respondWith(429, value)], { isIdempotent: false });
    expect(delays).toEqual([delay, delay]);
    expect((events[0]!.error as HttpError).retryAfter).toBe(delay / 1_000);
  }
  const date = new Date(Date.now() + 50_000).toUTCString();
  const { delays: [delay] } = await sendTo([respondWith(503, date)]);
  expect(delay).toBeGreaterThan(30_000); // the test itself takes time
  expect(delay).toBeLessThanOrEqual(50_000);
});

Deno.test("send() repeats nothing when Retry-After is more than 60 s", async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  for (const value of ["61", "3600", "9".repeat(30), date]) {
    const { received, attempts, events } = await sendTo([respondWith(429, value)]);
    expect([received!.response.status, attempts, events]).toEqual([429, 1, []]);
  }
});

Deno.test("send() backs off when Retry-After is invalid", async () => {
  const past = new Date(Date.now() - 60_000).toUTCString();
  for (const value of ["-1", "soon", "1.5", "", past, "1, 2"]) {
    const { events, delays } = await sendTo([respondWith(503, value)]);
    expect(delays).toEqual([250, 500]);
    expect("retryAfter" in events[0]!.error).toBe(false);
  }
});

Deno.test("send() waits for the time in a Retry-After that is redacted in errors", async () => {
  const { events, delays } = await sendTo([respondWith(429, "1")], { redact: redactor("1") });
  expect(delays).toEqual([1_000, 1_000]);
  expect((events[0]!.error as HttpError).headers.get("retry-after")).toBe("[redacted]");
});

// Early ends

Deno.test("send() makes no attempt when a signal is aborted", async () => {
  for (const reason of reasons) {
    const { signal } = new AbortController();
    const { error, inits, events } = await sendTo([], {
      signals: [signal, AbortSignal.abort(reason)],
    });
    expect(error).toBe(reason);
    expect([inits, events]).toEqual([[], []]);
  }
});

Deno.test("send() rejects with the signal's reason when it is aborted during an attempt", async () => {
  for (const reason of reasons) {
    const { signal, abort, listeners } = observedSignal();
    const { error, inits, events } = await sendTo([() => abort(reason)], { signals: [signal] });
    expect(error).toBe(reason);
    expect(inits.map(({ signal }) => signal.reason)).toEqual([reason]);
    expect(events).toEqual([]);
    expect(listeners.size).toBe(0);
  }
});

Deno.test("send() rejects with the signal's reason when it is aborted during onRetry", async () => {
  for (const reason of reasons) {
    for (const when of ["at once", "later"]) {
      const { signal, abort, listeners } = observedSignal();
      const { error, attempts, delays } = await sendTo([respondWith(503, "60")], {
        signals: [signal],
        onRetry() {
          if (when === "at once") abort(reason);
          else setTimeout(() => abort(reason), 1);
          return new Promise(() => {});
        },
      });
      expect(error).toBe(reason);
      expect([attempts, delays]).toEqual([1, []]);
      expect(listeners.size).toBe(0);
    }
  }
});

Deno.test("send() rejects with the signal's reason when it is aborted during a wait", async () => {
  for (const reason of reasons) {
    const { signal, abort, listeners } = observedSignal();
    const { error, attempts } = await sendTo([respondWith(503, "60")], {
      signals: [signal],
      onRetry: () => void setTimeout(() => abort(reason), 5),
      clock: systemClock,
    });
    expect(error).toBe(reason);
    expect(attempts).toBe(1);
    expect(listeners.size).toBe(0);
  }
});

Deno.test("send() obeys signals that have no reason", async () => {
  const { signal, abort } = legacySignal();
  const onRetry = () => void setTimeout(abort, 1);
  const options = { signals: [signal], onRetry, clock: systemClock };
  for (const attempts of [1, 0]) { // the second time it is aborted from the start
    const result = await sendTo([respondWith(503, "60")], options);
    expect(result.error).toMatchObject({ name: "AbortError" });
    expect(result.attempts).toBe(attempts);
  }
});

Deno.test("send() waits for onRetry, and rejects with what it throws", async () => {
  const log: string[] = [];
  const clock = { ...createClock(), sleep: () => Promise.resolve(void log.push("wait")) };
  await sendTo([respondWith(503), respondWith(200)], {
    clock,
    async onRetry() {
      await new Promise((resolve) => setTimeout(resolve, 1));
      log.push("onRetry");
    },
  });
  expect(log).toEqual(["onRetry", "wait"]);
  for (const thrown of [new RangeError("boom"), new NetworkError("boom"), null]) {
    for (
      const onRetry of [
        () => Promise.reject(thrown),
        () => {
          throw thrown;
        },
      ]
    ) {
      const { error, attempts } = await sendTo([respondWith(503)], { onRetry });
      expect(error).toBe(thrown);
      expect(attempts).toBe(1);
    }
  }
});

Deno.test("send() reports an attempt that throws as one that rejects", async () => {
  const attempt = () => {
    throw new TypeError("boom");
  };
  const { error } = await sendTo([], { attempt, retries: 0 });
  expect(error).toBeInstanceOf(NetworkError);
  expect((error as Error).message).toBe('"GET /report" got no response: boom');
});
