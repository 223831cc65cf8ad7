import { optionError, wrongType } from "./checks.ts";

/** The longest API key, in characters. */
const MAX_KEY_LENGTH = 4_096;

/** Tells whether a value is an API key that a header can carry. */
export function isApiKey(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_KEY_LENGTH &&
    /^[ -~]+$/.test(value) && value.trim() === value;
}

/** Checks an API key, and returns it; the error does not quote it. */
export function readApiKey(value: unknown): string {
  if (typeof value !== "string") throw wrongType("apiKey", "a string", value);
  if (!value) throw optionError("apiKey", "must not be empty");
  if (isApiKey(value)) return value;
  const length = `of at most ${MAX_KEY_LENGTH} characters`;
  throw optionError("apiKey", `must be printable ASCII, without spaces at its ends, ${length}`);
}
