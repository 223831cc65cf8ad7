import { ConfigurationError } from "./errors.ts";

/** The default, the smallest and the largest value of each numeric option. */
const LIMITS = {
  timeout: [30_000, 1, 2 ** 31 - 1], // a longer one makes setTimeout fire at once
  retries: [2, 0, 100],
  maxResponseBytes: [10 * 2 ** 20, 1, 2 ** 53 - 1],
} as const;

/** Makes an error with the kind of a wrong value but not the value, which may be a secret. */
export function mustBe(name: string, requirement: string, value: unknown): ConfigurationError {
  let kind = `${value === null || Number.isNaN(value) ? value : typeof value}`;
  if (Array.isArray(value)) kind = "array";
  const article = /^(null|NaN|undefined)$/.test(kind) ? "" : /^[aeiou]/.test(kind) ? "an " : "a ";
  return new ConfigurationError(`"${name}" must be ${requirement}, not ${article}${kind}`);
}

/** Checks a numeric option; returns its default when it is undefined. */
export function readNumber(
  name: keyof typeof LIMITS,
  value: unknown,
  otherwise: number = LIMITS[name][0],
): number {
  if (value === undefined) return otherwise;
  const [, min, max] = LIMITS[name];
  const number = value as number; // "as number <" would start type arguments to dnt's parser
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new ConfigurationError(`"${name}" must be a whole number from ${min} to ${max}`);
}

/** Checks that an API key can be sent in a header unchanged; the error does not quote it. */
export function readApiKey(value: unknown): string {
  if (typeof value !== "string") throw mustBe("apiKey", "a string", value);
  if (/^[!-~\xa1-\xff]+([ -~\xa0-\xff]*[!-~\xa1-\xff])?$/.test(value)) return value;
  throw new ConfigurationError(
    value
      ? '"apiKey" must be Latin-1 text without control characters, and without spaces at its ends'
      : '"apiKey" must not be empty',
  );
}

/** Checks an optional function. */
export function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") throw mustBe(name, "a function", value);
}

/** Checks an argument that must be one of a few values. */
export function checkOneOf(name: string, value: unknown, values: readonly string[]): void {
  if (values.includes(value as string)) return;
  throw new ConfigurationError(`"${name}" must be one of ${values.join(", ")}`);
}

/** Checks the signal of a call, and throws when it is aborted; returns a list of at most one. */
export function readSignal(signal: AbortSignal | null | undefined): AbortSignal[] {
  if (signal === undefined || signal === null) return [];
  if (Object.prototype.toString.call(signal) !== "[object AbortSignal]") {
    throw mustBe("signal", "an AbortSignal", signal);
  }
  signal.throwIfAborted();
  return [signal];
}

/** Refuses a path that a URL parser, here or in the service, could read as another one. */
export function checkPath(name: string, path: string): void {
  let decoded = "\\";
  try {
    decoded = decodeURIComponent(path);
  } catch { /* A stray "%", reported below. */ }
  // deno-lint-ignore no-control-regex
  if (/[\\\0-\x1f\x7f]|(^|\/)\.\.?(;[^/]*)?(\/|$)/.test(decoded)) {
    throw new ConfigurationError(
      `"${name}" must not contain ".", "..", a backslash, a control character or a stray "%"`,
    );
  }
}
