// The errors of a call. None shows a key.
import type { CallContext } from "./call.ts";
import { HttpError, InvalidResponseError, NetworkError, TimeoutError } from "./errors.ts";
import type { Issue, ResponseSnapshot, ScamAddressError } from "./errors.ts";
import { readRetryAfter } from "./retry.ts";
import { toLine, withoutQuery } from "./text.ts";

/** Advice about a response that may not be the service's. */
export const CHECK_BASE_URL = 'check "baseUrl"';

/** The largest part of a body that an error keeps, in bytes, or in characters of its text. */
export const MAX_ERROR_BODY = 65_536;

/** The most levels of nesting of a parsed body that an error keeps: `JSON.stringify` fails at some depth. */
const MAX_DEPTH = 500;

/** The largest part of a body in a message, in characters. */
const MAX_EXCERPT = 200;

/** The shortest key that is redacted: replacing a shorter one would garble addresses and logs. */
const MIN_SECRET = 8;

/** What errors have in place of a key. */
export const MARK = "[redacted]";

/** Replaces every key in a text by {@linkcode MARK}. */
export function redact(text: string, { secrets }: CallContext): string {
  if (text.length < MIN_SECRET) return text;
  const keys = [...secrets].filter((key) => key.length >= MIN_SECRET);
  keys.sort((a, b) => b.length - a.length); // The longest comes first, because it may contain another.
  const replace = (mark: string) =>
    keys.reduce((rest, key) => {
      const inJson = JSON.stringify(key).slice(1, -1); // with quotes and backslashes escaped
      return rest.replaceAll(key, mark).replaceAll(inJson, mark);
    }, text);
  const redacted = replace(MARK);
  // A key such as `redacted` is in the mark, or made by it. No key has the characters of the other mark.
  return keys.some((key) => redacted.includes(key)) ? replace("···") : redacted;
}

/** Redacts a parsed body: its strings, its names, and numbers with the digits of a key. */
function redactValue(value: unknown, context: CallContext, levels = MAX_DEPTH): unknown {
  if (typeof value !== "object" || value === null) {
    const text = `${value}`;
    const redacted = redact(text, context);
    return redacted === text ? value : redacted;
  }
  if (levels === 0) throw new RangeError("too deep");
  const redactItem = (item: unknown) => redactValue(item, context, levels - 1);
  if (Array.isArray(value)) return value.map(redactItem);
  const entries = Object.entries(value).map(([name, item]) =>
    [redact(name, context), redactItem(item)] as const
  );
  return Object.fromEntries(entries); // Of names that become the same, the last counts, as in JSON.
}

/** Makes an error of a call, whose message is a line that names the request and shows no key. */
export function make<Fields, Made extends ScamAddressError>(
  context: CallContext,
  errorClass: new (message: string, fields: Fields, options?: { cause?: unknown }) => Made,
  problem: string,
  fields: Fields,
  options?: { cause?: unknown },
): Made {
  const { attempt, errors, name } = context;
  const failed = attempt > 1 ? `failed after ${attempt} attempts: ` : "";
  const line = toLine(redact(`"${name}" ${failed}${problem}`, context));
  // Redacted again: `toLine` joins white space, which may turn a text into a key.
  const error = new errorClass(redact(line, context), { ...fields, wasSent: attempt > 0 }, options);
  errors.add(error);
  return error;
}

/** Makes the error for an attempt, or a call, whose time is up. */
export function timeout(context: CallContext, limit: number): TimeoutError {
  const unsent = context.attempt === 0 ? ", and was not sent yet" : "";
  return make(context, TimeoutError, `took more than ${limit} ms${unsent}`, { timeout: limit });
}

/** Makes the error for what the network or a custom `fetch` has thrown. */
export function network(context: CallContext, thrown: unknown, url: string): NetworkError {
  const { message = `${thrown}`, name, stack, code } = findReason(thrown);
  // Deno's message contains the whole URL, whose query may have what users look up.
  const clean = (text: unknown) => redact(`${text}`.replaceAll(url, withoutQuery(url)), context);
  // A new error, because the rest of the reason may contain the request, with its key.
  const cause = new Error(clean(message));
  cause.stack = clean(stack ?? `${cause}`);
  const reasonCode = name === "NotCapable" ? name : code; // Deno lacks a permission.
  if (typeof reasonCode === "string") Object.assign(cause, { code: clean(reasonCode) });
  const problem = `got no complete response: ${cause.message}`;
  return make(context, NetworkError, problem, {}, { cause });
}

/** Finds the error that says why a `fetch` failed. */
function findReason(thrown: unknown): Partial<Error & { code: unknown }> {
  // Node.js puts the reason in `cause`. With a proxy, it is in the `cause` of that
  // (https://github.com/nodejs/undici/issues/2161). If a host has several addresses, `cause.errors` has
  // an error for each.
  const { cause } = Object(thrown);
  const { cause: innermost, errors } = Object(cause);
  const reasons = [innermost, errors?.[0], cause, thrown];
  return reasons.find((error) => error?.message) ?? {};
}

/** Makes the error for a response that has no 2xx status. */
export function http(context: CallContext, response: Response, text: string): HttpError {
  const { status } = response;
  const snapshot = makeSnapshot(context, response, text);
  const retryAfter = readRetryAfter(snapshot.headers);
  const wait = retryAfter === undefined ? "" : ` (retry after ${Math.ceil(retryAfter)} s)`;
  const advice = status === 404 && context.operation ? ` (${CHECK_BASE_URL})` : "";
  const body = toText(snapshot.body).trim();
  const excerpt = body.length > MAX_EXCERPT ? `${body.slice(0, MAX_EXCERPT)}…` : body;
  const problem = `got the status ${status}${wait}${advice}${excerpt && `: ${excerpt}`}`;
  return make(context, HttpError, problem, { response: snapshot });
}

/** Makes the error for a 2xx response with a wrong body. */
export function invalidResponse(
  context: CallContext,
  response: Response,
  text: string,
  issues: readonly Issue[],
  problem = describeIssues(issues),
): InvalidResponseError {
  const snapshot = makeSnapshot(context, response, text);
  const fields = { issues: redactValue(issues, context) as Issue[], response: snapshot };
  return make(context, InvalidResponseError, `got an invalid response: ${problem}`, fields);
}

/** Says what is wrong with data, in at most five places. */
function describeIssues(issues: readonly Issue[]): string {
  const places = issues.slice(0, 5).map(({ path, rule, message }) =>
    `${path || "the body"}: ${message ?? `does not match the OpenAPI document (${rule})`}`
  );
  return places.join("; ") + (issues.length > 5 ? `; and ${issues.length - 5} more` : "");
}

/** Makes the part of a response that an error keeps. */
function makeSnapshot(context: CallContext, response: Response, text: string): ResponseSnapshot {
  const headers = [...response.headers]
    .filter(([name]) => redact(name, context) === name)
    .map(([name, value]): [string, string] => [name, redact(value, context)]);
  const body = redactBody(text.slice(0, MAX_ERROR_BODY), context);
  return { status: response.status, headers: new Headers(headers), body };
}

/** Parses and redacts a body; it stays text if it is not JSON, or is nested too deeply. */
function redactBody(text: string, context: CallContext): unknown {
  try {
    // Redacted after parsing, because the service may have escaped a key in any way.
    return redactValue(JSON.parse(text), context);
  } catch {
    return redact(text, context);
  }
}

/** Writes a parsed body as text again. */
export function toText(body: unknown = ""): string {
  try {
    return typeof body === "string" ? body : JSON.stringify(body);
  } catch {
    return ""; // It is nested too deeply.
  }
}
