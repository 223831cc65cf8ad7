import { ConfigurationError } from "./errors.ts";

/** 10 MiB: the largest body of a response by default, and of a request to the sandbox's server. */
export const MAX_BODY_BYTES = 10 * 2 ** 20;

/** The longest API key, in characters. */
const MAX_KEY_LENGTH = 4_096;

/** The smallest and the largest value of a number. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** The range of each numeric option. */
export const RANGES = {
  timeout: { min: 1, max: 2 ** 31 - 1 }, // a longer one makes setTimeout fire at once
  retries: { min: 0, max: 100 },
  maxResponseBytes: { min: 1, max: 2 ** 53 - 1 },
  port: { min: 0, max: 65_535 },
} as const satisfies Record<string, Range>;

/** Makes the error for an option or an argument: its name, and what is wrong with it. */
export function optionError(option: string, problem: string): ConfigurationError {
  return new ConfigurationError(`"${option}" ${problem}`, { option });
}

/** Returns the class of a value, even one of another realm: `Array`, `Null`, `AbortSignal`. */
export function classOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** Makes an error that names the type of a wrong value but not the value, which may be a secret. */
export function typeError(option: string, expected: string, value: unknown): ConfigurationError {
  const name = classOf(value);
  const isClass = typeof value === "object" && !["Array", "Null", "Object"].includes(name);
  const type = isClass ? name : name.toLowerCase();
  const article = /^[aeio]/i.test(type) ? "an " : "a ";
  const kind = value === null || value === undefined ? type : `${article}${type}`;
  return optionError(option, `must be ${expected}, not ${kind}`);
}

/** Converts the value of an option; throws the error for one that cannot be converted. */
export function convertOption<T>(option: string, expected: string, make: () => T | undefined): T {
  try {
    const result = make();
    if (result !== undefined) return result;
  } catch { /* The message may quote a secret. */ }
  throw optionError(option, `must be ${expected}`);
}

/** Checks the value of an option that is given. */
type Check = (value: unknown, option: string) => void;

/** The check of each option of an interface; `null` for what is not checked, or where it is used. */
export type Checks<Options> = Readonly<Record<keyof Options, Check | null>>;

/** Reads options: refuses unknown names, checks the values, and returns a copy. */
export function readOptions<Options extends object>(
  options: Options,
  checks: Checks<Options>,
  owner: string,
  others: readonly string[] = [], // names of options that are not checked
): Options {
  checkObject(options, "options");
  const copy = { ...options };
  const names = [...Object.keys(checks), ...others];
  for (const [name, value] of Object.entries(copy)) {
    if (!names.includes(name)) {
      throw optionError(name, `is not an option of ${owner}, which has ${names.join(", ")}`);
    }
    if (value !== undefined) checks[name as keyof Options]?.(value, name);
  }
  return copy;
}

/** Checks an object that is no array, `Map`, `AbortSignal` or the like. */
export function checkObject(value: unknown, option: string): void {
  if (classOf(value) !== "Object") throw typeError(option, "an object", value);
}

/** Checks a boolean. */
export function checkBoolean(value: unknown, option: string): void {
  if (typeof value !== "boolean") throw typeError(option, "a boolean", value);
}

/** Checks a function. */
export function checkFunction(value: unknown, option: string): void {
  if (typeof value !== "function") throw typeError(option, "a function", value);
}

/** Checks a number against the range of its option. */
export function checkNumber(value: unknown, option: string): void {
  const { min, max } = RANGES[option as keyof typeof RANGES];
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  throw optionError(option, `must be a whole number from ${min} to ${max}`);
}

/** Checks the signal of a call, which may be `null`. */
export function checkSignal(value: unknown, option: string): void {
  if (value !== null && classOf(value) !== "AbortSignal") {
    throw typeError(option, "an AbortSignal", value);
  }
}

/** Whether a value is an API key that a header can carry. */
export function isApiKey(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_KEY_LENGTH &&
    /^[ -~]+$/.test(value) && value.trim() === value;
}

/** Checks an API key, and returns it; the error does not quote it. */
export function readApiKey(value: unknown): string {
  if (typeof value !== "string") throw typeError("apiKey", "a string", value);
  if (!value) throw optionError("apiKey", "must not be empty");
  if (isApiKey(value)) return value;
  const limit = MAX_KEY_LENGTH.toLocaleString("en");
  const expected = `printable ASCII, without spaces at its ends, of at most ${limit} characters`;
  throw optionError("apiKey", `must be ${expected}`);
}
