import { ConfigurationError } from "./errors.ts";

/** The default, the smallest and the largest value of each numeric option. */
const LIMITS = {
  timeout: [30_000, 1, 2 ** 31 - 1], // a longer one makes setTimeout fire at once
  retries: [2, 0, 100],
  maxResponseBytes: [10 * 2 ** 20, 1, 2 ** 53 - 1],
  port: [0, 0, 65_535], // of the sandbox's server
} as const;

/** Makes the error for an option or an argument: its name, and what is wrong with it. */
export function wrong(option: string, problem: string): ConfigurationError {
  return new ConfigurationError(`"${option}" ${problem}`, { option });
}

/** Returns the class of a value, such as `Array`, `Null` or `AbortSignal`. */
export function classOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** Makes an error that names the kind of a wrong value but not the value, which may be a secret. */
export function mustBe(option: string, requirement: string, value: unknown): ConfigurationError {
  const name = classOf(value);
  const isOther = typeof value === "object" && !/^(Array|Null|Object)$/.test(name);
  const kind = isOther ? name : name.toLowerCase();
  const article = /^(null|undefined)$/.test(kind) ? "" : /^[aeio]/i.test(kind) ? "an " : "a ";
  return wrong(option, `must be ${requirement}, not ${article}${kind}`);
}

/** Returns the result of a function, or throws the error for the option that has none. */
export function resultOf<T>(option: string, requirement: string, make: () => T | undefined): T {
  try {
    const result = make();
    if (result !== undefined) return result;
  } catch { /* The message may quote a secret. */ }
  throw wrong(option, `must be ${requirement}`);
}

/** Checks an object with names, which an `AbortSignal`, for example, is not. */
export function checkObject(name: string, value: unknown): void {
  if (classOf(value) !== "Object") throw mustBe(name, "an object", value);
}

/** Checks options, an object without names that are not in a list, and returns a copy. */
export function readOptions<Options extends object>(
  options: Options,
  names: readonly string[],
  owner: string,
): Options {
  checkObject("options", options);
  const name = Object.keys(options).find((name) => !names.includes(name));
  if (name === undefined) return { ...options };
  throw wrong(name, `is not an option of ${owner}, which has ${names.join(", ")}`);
}

/** Checks a numeric option; returns its default when it is undefined. */
export function readNumber(
  name: keyof typeof LIMITS,
  value: number | undefined,
  otherwise: number = LIMITS[name][0],
): number {
  if (value === undefined) return otherwise;
  const [, min, max] = LIMITS[name];
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw wrong(name, `must be a whole number from ${min} to ${max}`);
}

/** Whether a value is an API key that a header can carry. */
export function isApiKey(value: unknown): value is string {
  return typeof value === "string" && /^[ -~]{1,4096}$/.test(value) && value.trim() === value;
}

/** Checks an API key; the error does not quote it. */
export function readApiKey(value: unknown): string {
  if (typeof value !== "string") throw mustBe("apiKey", "a string", value);
  if (!value) throw wrong("apiKey", "must not be empty");
  if (isApiKey(value)) return value;
  const requirement = "printable ASCII, without spaces at its ends, of at most 4,096 characters";
  throw wrong("apiKey", `must be ${requirement}`);
}

/** Checks the type of an optional value. */
export function checkType(name: string, value: unknown, type: "boolean" | "function"): void {
  if (value !== undefined && typeof value !== type) throw mustBe(name, `a ${type}`, value);
}

/** Checks the signal of a call; returns `undefined` when it has none. */
export function readSignal(signal: AbortSignal | null | undefined): AbortSignal | undefined {
  if (signal === undefined || signal === null) return undefined;
  if (classOf(signal) === "AbortSignal") return signal;
  throw mustBe("signal", "an AbortSignal", signal);
}
