import type { Secrets } from "./secrets.ts";
import { MAX_ERROR_BODY, startOf } from "./text.ts";
import { withoutQueriesIn } from "./url.ts";

/** The longest message, and the longest stack, that is kept of what was thrown, in characters. */
const MAX_CAUSE = 2_000;

/**
 * Makes an error with the reason of a failure: the message, the `code` and the stack of what was
 * thrown, or of its cause, or of the cause of that: the innermost that has a message.
 *
 * It keeps nothing else, because the rest may contain the request.
 */
export function toCause(thrown: unknown, secrets: Secrets): Error {
  const clean = (text: string) =>
    withoutQueriesIn(startOf(secrets.redact(text.slice(0, MAX_ERROR_BODY)), MAX_CAUSE)).trimEnd();
  const { message, code, name, stack } = findReason(thrown);
  const reason = new Error(clean([message, code, thrown].find(isText) ?? "unknown reason"));
  reason.stack = clean(isText(stack) ? stack : `${reason}`);
  const ownCode = name === "NotCapable" ? name : code; // Deno lacks a permission
  return isText(ownCode) ? Object.assign(reason, { code: clean(ownCode) }) : reason;
}

/** Tells whether a value is a text that says something. */
function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** Finds the error that says why: the innermost one with a message. */
function findReason(thrown: unknown): Record<string, unknown> {
  // Node.js puts the reason in `cause`, which may have an error for each address of a host
  // (https://github.com/nodejs/undici/issues/1116), and a proxy's in `cause.cause`
  // (https://github.com/nodejs/undici/issues/2161).
  const { cause } = Object(thrown);
  const { cause: innermost } = Object(cause);
  for (const error of [innermost, cause, thrown]) {
    if (isText(error?.message)) return error;
    if (isText(error?.errors?.[0]?.message)) return error.errors[0];
  }
  return Object(thrown);
}
