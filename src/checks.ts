import { ConfigurationError } from "./errors.ts";
import { reasonOf, type Redact } from "./transport/redact.ts";
import { throwIfAborted } from "./transport/time.ts";

/** The default, the smallest and the largest value of each numeric option. */
const LIMITS = {
  timeout: [30_000, 1, 2 ** 31 - 1], // a longer one makes setTimeout fire at once
  retries: [2, 0, 100],
  maxResponseBytes: [10 * 2 ** 20, 1, 2 ** 53 - 1],
  port: [0, 0, 65_535], // of the sandbox's server
} as const;

/** Makes the error for an option or an argument: its name, and what is wrong with it. */
export function wrong(option: string, problem: string, cause?: unknown): ConfigurationError {
  const message = `"${option}" ${problem}`;
  return new ConfigurationError(message, { option }, cause === undefined ? {} : { cause });
}

/** Makes the error for an option or an argument that has failed, with the reason. */
export function failed(option: string, problem: string, thrown: unknown, redact: Redact) {
  const cause = reasonOf(thrown, redact);
  return new ConfigurationError(`"${option}" ${problem}: ${cause.message}`, { option }, { cause });
}

/** Makes an error with the kind of a wrong value but not the value, which may be a secret. */
export function mustBe(option: string, requirement: string, value: unknown): ConfigurationError {
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const article = /^(null|undefined)$/.test(kind) ? "" : /^[aeiou]/.test(kind) ? "an " : "a ";
  return wrong(option, `must be ${requirement}, not ${article}${kind}`);
}

/** Finds the name that was probably meant: one that starts so, or differs in case or one place. */
export function closest(given: string, names: readonly string[]): string | undefined {
  const text = given.toLowerCase();
  return names.find((each) => {
    const name = each.toLowerCase();
    let start = 0;
    while (start < name.length && text[start] === name[start]) start++;
    let end = 0;
    const rest = Math.min(text.length, name.length) - start;
    while (end < rest && text.at(-1 - end) === name.at(-1 - end)) end++;
    const isStart = start === text.length && start > 2;
    return isStart || start > 0 && Math.max(text.length, name.length) - start - end <= 2;
  });
}

/** Checks options: an object without names that are not in a list. */
export function checkOptions(options: unknown, names: readonly string[], owner: string): void {
  if (Object(options) !== options) throw mustBe("options", "an object", options);
  const name = Object.keys(options as object).find((name) => !names.includes(name));
  if (name === undefined) return;
  const meant = closest(name, names);
  throw wrong(name, `is not an option${meant ? `; did you mean "${meant}"?` : ` of ${owner}`}`);
}

/** Writes a segment of a JSON Pointer. */
export function toPointer(name: PropertyKey): string {
  return `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
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
  throw wrong(name, `must be a whole number from ${min} to ${max}`);
}

/** Checks that an API key can be sent in a header unchanged; the error does not quote it. */
export function readApiKey(value: unknown): string {
  if (typeof value !== "string") throw mustBe("apiKey", "a string", value);
  if (/^[!-~\xa1-\xff]+([ -~\xa0-\xff]*[!-~\xa1-\xff])?$/.test(value)) return value;
  throw wrong(
    "apiKey",
    value
      ? "must be Latin-1 text without line breaks and other control characters, and without spaces at its ends"
      : "must not be empty",
  );
}

/** Checks the type of an optional value. */
export function checkType(name: string, value: unknown, type: "boolean" | "function"): void {
  if (value !== undefined && typeof value !== type) throw mustBe(name, `a ${type}`, value);
}

/** Checks an argument that must be one of a few values. */
export function checkOneOf(name: string, value: unknown, values: readonly string[]): void {
  if (values.includes(value as string)) return;
  throw wrong(name, `must be one of ${values.join(", ")}`);
}

/** Checks the signal of a call, and throws when it is aborted; returns a list of at most one. */
export function readSignal(signal: AbortSignal | null | undefined): AbortSignal[] {
  if (signal === undefined || signal === null) return [];
  const isSignal = Object.prototype.toString.call(signal) === "[object AbortSignal]";
  if (!isSignal || typeof signal.addEventListener !== "function") {
    throw mustBe("signal", "an AbortSignal", signal);
  }
  throwIfAborted([signal]);
  return [signal];
}
