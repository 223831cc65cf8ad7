import { expect } from "@std/expect";

import { NetworkError, RedirectError, TimeoutError } from "../src/errors.ts";
import { isIdempotent, mayPass, parseRetryAfter, retryDelay } from "../src/transport/retry.ts";

Deno.test("parseRetryAfter() reads seconds", () => {
  expect(parseRetryAfter("0", 0)).toBe(0);
  expect(parseRetryAfter("60", 0)).toBe(60);
  expect(parseRetryAfter("00120", 0)).toBe(120);
  expect(parseRetryAfter("9".repeat(400), 0)).toBe(Number.MAX_SAFE_INTEGER);
});

Deno.test("parseRetryAfter() reads dates", () => {
  const now = Date.UTC(2026, 10, 6, 8, 49, 30);
  expect(parseRetryAfter("Fri, 06 Nov 2026 08:49:37 GMT", now)).toBe(7);
  expect(parseRetryAfter("Friday, 06-Nov-26 08:49:37 GMT", now)).toBe(7);
  expect(parseRetryAfter("Fri, 06 Nov 2026 08:49:30 GMT", now)).toBe(0);
});

Deno.test("parseRetryAfter() ignores invalid values, negative values and the past", () => {
  const junk = [
    ...[null, "", " ", "-1", "-0", "+1", "1.5", "1e3", "0x10", "1s", "1, 2", "١", "Infinity"],
    ...["NaN", "soon", "2099-01-01", "2099-01-01T00:00:00Z"],
    "Fri, 32 Foo 2099 99:99:99 GMT",
    "Fri, 06 Nov 2099 08:49:37 +0100",
    "Thu, 05 Nov 2026 08:49:37 GMT",
  ];
  const now = Date.UTC(2026, 10, 6);
  for (const value of junk) {
    expect([value, parseRetryAfter(value, now)]).toEqual([value, undefined]);
  }
});

Deno.test("retryDelay() spreads the delay from nothing to a bound that doubles up to 8 s", () => {
  const bounds = [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000];
  for (const [index, bound] of bounds.entries()) {
    const failure = { attempt: index + 1, retries: 9, isIdempotent: true, status: 503 };
    expect(retryDelay(failure, 0)).toBe(0);
    expect(retryDelay(failure, 0.25)).toBe(bound / 4);
    expect(retryDelay({ ...failure, status: undefined }, 0.999)).toBe(bound * 0.999);
  }
  const failure = { attempt: 100, retries: 100, isIdempotent: true };
  expect(retryDelay(failure, 0.5)).toBe(4_000);
});

Deno.test("retryDelay() ends after the last attempt", () => {
  const failure = { retries: 2, isIdempotent: true, status: 429, retryAfter: 0 };
  const delays = [1, 2, 3, 4].map((attempt) => retryDelay({ ...failure, attempt }, 0.5));
  expect(delays).toEqual([0, 0, undefined, undefined]);
  expect(retryDelay({ attempt: 1, retries: 0, isIdempotent: true }, 0.5)).toBe(undefined);
});

Deno.test("retryDelay() repeats after some statuses, and others than idempotent ones after 429", () => {
  const statuses = Array.from({ length: 600 }, (_, index) => index + 400);
  const repeated = (isIdempotent: boolean) =>
    statuses.filter((status) =>
      retryDelay({ attempt: 1, retries: 1, isIdempotent, status }, 0.5) !== undefined
    );
  expect(repeated(true)).toEqual([408, 429, 500, 502, 503, 504]);
  expect(repeated(false)).toEqual([429]);
  expect(retryDelay({ attempt: 1, retries: 1, isIdempotent: true }, 0.5)).toBe(250);
  expect(retryDelay({ attempt: 1, retries: 1, isIdempotent: false }, 0.5)).toBe(undefined);
});

Deno.test("retryDelay() is what the service asks for, up to 60 s", () => {
  const delay = (retryAfter: number) =>
    retryDelay({ attempt: 1, retries: 1, isIdempotent: false, status: 429, retryAfter }, 0.5);
  expect([0, 0.5, 1, 60].map(delay)).toEqual([0, 500, 1_000, 60_000]);
  expect([60.001, 61, Number.MAX_SAFE_INTEGER].map(delay)).toEqual(Array(3).fill(undefined));
});

Deno.test("isIdempotent() names the methods of RFC 9110 that a client may repeat", () => {
  const methods = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "get", "GETS", ""];
  expect(methods.filter(isIdempotent)).toEqual(["DELETE", "GET", "HEAD", "OPTIONS", "PUT"]);
});

Deno.test("mayPass() is true for failures of the network and the time", () => {
  const missing = Object.assign(new Error("Requires net access"), { code: "NotCapable" });
  const reset = Object.assign(new Error("reset"), { code: "ECONNRESET" });
  const passing = [
    new TimeoutError("late", { timeout: 1 }),
    new NetworkError("no connection"),
    new NetworkError("no connection", { cause: reset }),
  ];
  const others = [
    new NetworkError("no permission", { cause: missing }),
    new RedirectError("elsewhere", { status: 307 }),
    new TypeError("other"),
    "text",
    undefined,
  ];
  expect(passing.map(mayPass)).toEqual([true, true, true]);
  expect(others.map(mayPass)).toEqual(Array(5).fill(false));
});
