import { ConfigurationError } from "./errors.ts";
import { captureStack } from "./transport/stack.ts";

/** The smallest and the largest value of a number. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** The range of each numeric option. */
const RANGES = {
  timeout: { min: 1, max: 2 ** 31 - 1 }, // a longer one makes setTimeout fire at once
  totalTimeout: { min: 1, max: 2 ** 31 - 1 },
  retries: { min: 0, max: 100 },
  maxResponseBytes: { min: 1, max: 2 ** 53 - 1 },
  port: { min: 0, max: 65_535 },
} as const satisfies Record<string, Range>;

/** Makes the error for an option or an argument: its name, and what is wrong with it. */
export function optionError(option: string, problem: string): ConfigurationError {
  const error = new ConfigurationError(`"${option}" ${problem}`, { option });
  captureStack(error, optionError);
  return error;
}

/** Returns the class of a value, even one of another realm: `Array`, `Null`, `AbortSignal`. */
export function classOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** Names the type of a value: "a Blob", "an array", "null". */
function describeType(value: unknown): string {
  if (value === null || value === undefined) return `${value}`;
  const name = classOf(value);
  const ofObject = ["Array", "Object"].includes(name) ? name.toLowerCase() : name;
  const type = typeof value === "object" ? ofObject : typeof value;
  return /^[aeio]/i.test(type) ? `an ${type}` : `a ${type}`; // not "u": a URLSearchParams
}

/** Makes an error that names the type of a wrong value but not the value, which may be a secret. */
export function wrongType(option: string, expected: string, value: unknown): ConfigurationError {
  return optionError(option, `must be ${expected}, not ${describeType(value)}`);
}

/** Converts the value of an option; refuses one for which `make` throws or returns `undefined`. */
export function convertOption<T>(option: string, expected: string, make: () => T | undefined): T {
  try {
    const result = make();
    if (result !== undefined) return result;
  } catch { /* The message may quote a secret. */ }
  throw optionError(option, `must be ${expected}`);
}

/** Checks the value of an option that is given. */
type OptionCheck = (value: unknown, option: string) => void;

/**
 * The check of each option of an interface. It is `null` for an option that is not checked, and for
 * one that is checked where it is used.
 */
export type OptionChecks<Options> = Readonly<Record<keyof Options, OptionCheck | null>>;

/** Reads options: refuses unknown names, checks the values, and returns a copy. */
export function readOptions<Options extends object>(
  options: Options,
  checks: OptionChecks<Options>,
  owner: string,
  others: readonly string[] = [], // names of options that are not checked
): Options {
  const names = [...Object.keys(checks), ...others];
  if (classOf(options) !== "Object") {
    throw wrongType("options", `an object, such as { ${names.slice(0, 2).join(", ")} }`, options);
  }
  const copy = { ...options };
  for (const [name, value] of Object.entries(copy)) {
    if (!names.includes(name)) {
      throw optionError(name, `is not an option of ${owner}, which has ${names.join(", ")}`);
    }
    if (value !== undefined) checks[name as keyof Options]?.(value, name);
  }
  return copy;
}

/** Checks a boolean. */
export function checkBoolean(value: unknown, option: string): void {
  if (typeof value !== "boolean") throw wrongType(option, "a boolean", value);
}

/** Checks a function. */
export function checkFunction(value: unknown, option: string): void {
  if (typeof value !== "function") throw wrongType(option, "a function", value);
}

/** Checks a number against the range of its option. */
export function checkNumber(value: unknown, option: string): void {
  const { min, max } = RANGES[option as keyof typeof RANGES];
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  throw optionError(option, `must be a whole number from ${min} to ${max}`);
}
