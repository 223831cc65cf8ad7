import { expect } from "@std/expect";

import {
  ConfigurationError,
  HttpError,
  InvalidResponseError,
  NetworkError,
  RedirectError,
  type ScamAddressError,
  TimeoutError,
} from "../src/errors.ts";
import { parseRetryAfter, retryDelay } from "../src/retry.ts";

/** What an error keeps of an empty response. */
const snapshot = (status: number) => ({ response: { status, headers: new Headers(), body: "" } });

/** The error for a response. */
const httpError = (status: number, retryAfter?: number) =>
  new HttpError("failed", {
    ...snapshot(status),
    ...retryAfter !== undefined && { retryAfter },
  });

Deno.test("parseRetryAfter() reads seconds and dates", () => {
  const now = Date.UTC(2026, 10, 6, 8, 49, 30);
  const values: [string, number][] = [
    ["0", 0],
    ["00120", 120],
    ["1.5", 1.5],
    ["5, 5", 5],
    ["5s", 5],
    ["Fri, 06 Nov 2026 08:49:37 GMT", 7],
    ["Friday, 06-Nov-26 08:49:37 GMT", 7],
    ["Fri, 06 Nov 2026 08:49:30 GMT", 0],
  ];
  for (const [value, seconds] of values) {
    expect([value, parseRetryAfter(value, now)]).toEqual([value, seconds]);
  }
});

Deno.test("parseRetryAfter() ignores invalid values, negative values and the past", () => {
  const values = ["", "-1", "soon", "Infinity", "Thu, 05 Nov 2026 08:49:37 GMT"];
  const now = Date.UTC(2026, 10, 6);
  for (const value of values) {
    expect([value, parseRetryAfter(value, now)]).toEqual([value, undefined]);
  }
});

Deno.test("retryDelay() spreads the delay from nothing to a bound that doubles up to 8 s", () => {
  const bounds = [500, 1_000, 2_000, 4_000, 8_000, 8_000];
  for (const [index, bound] of bounds.entries()) {
    const delays = [0, 0.25, 0.9999].map((random) =>
      retryDelay(httpError(503), index + 1, random, true)
    );
    expect(delays).toEqual([0, bound / 4, Math.round(bound * 0.9999)]);
  }
  expect(retryDelay(httpError(503), 100, 0.5, true)).toBe(4_000);
});

Deno.test("retryDelay() is what the service asks for, up to 60 s, and up to a quarter more", () => {
  const delays = (retryAfter: number) =>
    [0, 0.5, 0.9999].map((random) => retryDelay(httpError(429, retryAfter), 1, random, true));
  expect(delays(0)).toEqual([0, 0, 0]);
  expect(delays(0.0001)).toEqual([1, 1, 1]); // whole milliseconds
  expect(delays(1)).toEqual([1_000, 1_125, 1_250]);
  expect(delays(60)).toEqual([60_000, 67_500, 74_999]);
  expect(delays(60.001)).toEqual([undefined, undefined, undefined]);
});

Deno.test("retryDelay() is undefined where isTemporary is false", () => {
  const reason = (fields: object) => ({ cause: Object.assign(new Error("reason"), fields) });
  const temporary = [
    new TimeoutError("late", { timeout: 1 }),
    new NetworkError("no connection", {}),
    new NetworkError("no connection", {}, { cause: "reset" }),
    new NetworkError("no connection", {}, reason({ code: "ECONNRESET" })),
  ];
  const lasting = [
    new NetworkError("no permission", {}, reason({ code: "NotCapable" })),
    new RedirectError("elsewhere", {}),
    new InvalidResponseError("malformed", { ...snapshot(503), issues: [] }),
    new ConfigurationError("misspelled", {}),
  ];
  const found = (errors: ScamAddressError[]) =>
    errors.map((error) => [error.isTemporary, retryDelay(error, 1, 0.5, true)]);
  expect(found(temporary)).toEqual(temporary.map(() => [true, 250]));
  expect(found(lasting)).toEqual(lasting.map(() => [false, undefined]));
  const statuses = Array.from({ length: 300 }, (_, index) => index + 300);
  const retried = statuses.filter((status) =>
    retryDelay(httpError(status), 1, 0.5, true) !== undefined
  );
  expect(retried).toEqual([408, 429, 500, 502, 503, 504]);
  expect(statuses.filter((status) => httpError(status).isTemporary)).toEqual(retried);
});
