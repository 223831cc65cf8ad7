import { ConfigurationError } from "./errors.ts";

/** Of each numeric option the default, the least and the largest value. */
const LIMITS = {
  timeout: [30_000, 1, 2 ** 31 - 1], // a longer one makes setTimeout fire at once
  retries: [2, 0, 100],
  maxResponseBytes: [10 * 2 ** 20, 1, 2 ** 53 - 1],
} as const;

/** Refuses options that do not exist, so that a misspelt one is not ignored. */
export function checkNames(of: string, options: object, names: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const similar = names.find((each) => each.toLowerCase() === name.toLowerCase());
    const known = similar ? `did you mean "${similar}"?` : `it has ${names.join(", ")}`;
    throw new ConfigurationError(`"${name}" is not an option of ${of}; ${known}`);
  }
}

/** Checks a numeric option, or gives its default. */
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

/** Checks that a header can carry an API key as it is; the error does not quote it. */
export function readApiKey(value: unknown): string {
  if (typeof value !== "string") {
    throw new ConfigurationError(`"apiKey" must be a string, not ${kindOf(value)}`);
  }
  if (!value) throw new ConfigurationError('"apiKey" must not be empty');
  if (!/^[ -~\xa0-\xff]+$/.test(value) || value !== value.trim()) {
    throw new ConfigurationError(
      '"apiKey" must be Latin-1 text that a header can carry: no line breaks or other control ' +
        "characters, and no spaces around it",
    );
  }
  return value;
}

/** Checks an optional function. */
export function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") {
    throw new ConfigurationError(`"${name}" must be a function, not ${kindOf(value)}`);
  }
}

/** Checks the signal of a call, and that it is not aborted; returns it in a list, if there is one. */
export function checkSignal(signal: AbortSignal | null | undefined): AbortSignal[] {
  if (signal === undefined || signal === null) return [];
  if (!(typeof signal.throwIfAborted === "function" && "aborted" in signal)) {
    throw new ConfigurationError(`"signal" must be an AbortSignal, not ${kindOf(signal)}`);
  }
  signal.throwIfAborted();
  return [signal];
}

/** Names the kind of a wrong value, which may be a secret itself. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined || Number.isNaN(value)) return `${value}`;
  if (Array.isArray(value)) return "an array";
  return `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}

/** Refuses a path that a URL parser, here or at the service, could take for another one. */
export function checkPath(name: string, path: string): void {
  let decoded = "\\";
  try {
    decoded = decodeURIComponent(path);
  } catch { /* A stray "%", reported below. */ }
  // deno-lint-ignore no-control-regex
  if (/[\\\0-\x1f\x7f]|(^|\/)\.\.?(;[^/]*)?(\/|$)/.test(decoded)) {
    throw new ConfigurationError(
      `"${name}" must not hold a segment "." or "..", a backslash, a control character or an ` +
        "escape that is not UTF-8",
    );
  }
}
