// Makes the errors of a call. None shows a key.
import {
  ConfigurationError,
  HttpError,
  InvalidResponseError,
  NetworkError,
  TimeoutError,
} from "./errors.ts";
import type { Issue, ResponseSnapshot, ScamAddressError } from "./errors.ts";
import { isSuccess } from "./parts.ts";
import { toLine, withoutQuery } from "./text.ts";

/** What the errors of a call tell of it, and what they must not show. It changes during the call. */
export interface CallRecord {
  /** The method and the URL without the query: from the document at first, then as `send` sends them. */
  request: string;
  /** The number of the last attempt, which `send` counts; 0 before the first. */
  attempt: number;
  /** The keys that the call uses, as far as they are known. */
  readonly secrets: string[];
  /** Whether the service certainly has this URL, so that the status 404 means a wrong base URL. */
  readonly endpointExists: boolean;
}

/** Advice about a response that may not be the service's. */
export const CHECK_BASE_URL = 'check "baseUrl"';

/** The largest part of an error status's body that an error keeps, in characters. */
const MAX_BODY = 65_536;

/** The largest part of a body in a message, in characters. */
const MAX_EXCERPT = 200;

/** The shortest key that is redacted: replacing a shorter one would garble addresses and logs. */
const MIN_SECRET = 8;

/** What errors have in place of a key. */
export const MARK = "[redacted]";

/** The errors that calls have made, and not thrown yet. */
const ofCalls = new WeakSet<Error>();

/** Remembers that a call makes an error, so that it gets the stack of the caller. */
export function ofCall<Made extends Error>(error: Made): Made {
  ofCalls.add(error);
  return error;
}

/**
 * Replaces the stack of an error that a call has made by that of the caller. An error that a function of
 * the caller's threw keeps its own.
 *
 * @param end The function whose callers are shown.
 */
export function showCaller(thrown: unknown, end: (...args: never[]) => unknown): void {
  // V8 keeps ten frames of a stack, and all of them may be in this client and openapi-fetch.
  if (thrown instanceof Error && ofCalls.delete(thrown)) Error.captureStackTrace?.(thrown, end);
}

/** Replaces every key in a text by {@linkcode MARK}. */
export function redact(text: string, { secrets }: CallRecord): string {
  const keys = secrets.filter((key) => key.length >= MIN_SECRET);
  keys.sort((a, b) => b.length - a.length); // The longest comes first, because it may contain another.
  const inJson = keys.map((key) => JSON.stringify(key).slice(1, -1));
  const withSlashes = inJson.map((key) => key.replaceAll("/", "\\/")); // as PHP writes JSON
  const forms = [...keys, ...inJson, ...withSlashes];
  return forms.reduce((rest, key) => rest.replaceAll(key, MARK), text);
}

/** Makes the error for an option or an argument: its name, and what is wrong with it. */
export function optionError(option: string, problem: string): ConfigurationError {
  return new ConfigurationError(toLine(`"${option}" ${problem}`), { option });
}

/** Makes an error of a call, whose message is a line that names the request and shows no key. */
function fail<Fields, Made extends ScamAddressError>(
  record: CallRecord,
  errorClass: new (message: string, fields: Fields, options?: { cause?: unknown }) => Made,
  problem: string,
  fields: Fields,
  options?: { cause?: unknown },
): Made {
  const { attempt, request } = record;
  const failed = attempt > 1 ? `failed after ${attempt} attempts: ` : "";
  const message = toLine(redact(`"${request}" ${failed}${problem}`, record));
  return ofCall(new errorClass(message, fields, options));
}

/** Makes the error for a limit of time, in milliseconds, that was exceeded. */
export const timeoutError = (record: CallRecord, timeout: number): TimeoutError =>
  fail(record, TimeoutError, `took more than ${timeout} ms`, { timeout });

/** Finds the error that says why a `fetch` failed. */
function findReason(thrown: unknown): Partial<Error & { code: unknown }> {
  // Node.js has it in `cause`, with a proxy in the `cause` of that, and if a host has several addresses in
  // `cause.errors`.
  const { cause } = Object(thrown); // For `thrown.cause`, older versions of dnt add a polyfill.
  const { cause: innermost, errors } = Object(cause);
  const reasons = [innermost, errors?.[0], cause, thrown];
  return reasons.find((reason) => reason?.message) ?? {};
}

/** Makes the error for what the network or a custom `fetch` has thrown. */
export function networkError(record: CallRecord, thrown: unknown, url: string): NetworkError {
  const { message = `${thrown}`, stack, code } = findReason(thrown);
  // Deno's message contains the whole URL, whose query may have what users look up.
  const clean = (text: unknown) =>
    redact(`${text}`.replaceAll(url, () => withoutQuery(url)), record);
  // A new error, because the reason may have the request, with its key.
  const cause = new Error(clean(message));
  cause.stack = clean(stack ?? cause.stack);
  if (typeof code === "string") Object.assign(cause, { code: clean(code) });
  return fail(record, NetworkError, `got no complete response: ${cause.message}`, {}, { cause });
}

/**
 * Makes the error for a response whose status is not 2xx.
 *
 * @param body The text of the body, or what openapi-fetch has parsed.
 */
export function httpError(record: CallRecord, response: Response, body: unknown = ""): HttpError {
  const { status, headers } = response;
  const location = status < 400 && headers.get("location");
  const to = location ? ` to "${withoutQuery(location)}", which is not followed` : "";
  const advice = status === 404 && record.endpointExists ? ` (${CHECK_BASE_URL})` : "";
  const snapshot = makeSnapshot(record, response, body);
  const { body: kept } = snapshot;
  const text = typeof kept === "string" ? kept.trim() : JSON.stringify(kept);
  const excerpt = text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text;
  const problem = `got the status ${status}${to}${advice}${excerpt && `: ${excerpt}`}`;
  return fail(record, HttpError, problem, { response: snapshot });
}

/** Makes the error for a 2xx response with a wrong body. */
export function invalidResponse(
  record: CallRecord,
  response: Response,
  text: string,
  issues: readonly Issue[],
): InvalidResponseError {
  const clean = issues.map(({ path, rule, message }): Issue => {
    return { path: redact(path, record), rule, ...message && { message: redact(message, record) } };
  });
  const places = clean.slice(0, 5).map(({ path, rule, message }) =>
    `${path || "the body"}: ${message ?? `does not match the OpenAPI document (${rule})`}`
  );
  const fields = { issues: clean, response: makeSnapshot(record, response, text) };
  const problem = `got an invalid response: ${places.join("; ")}`;
  return fail(record, InvalidResponseError, problem, fields);
}

/** Makes the part of a response that an error keeps: of a 2xx, which was paid for, the whole body. */
function makeSnapshot(record: CallRecord, response: Response, body: unknown): ResponseSnapshot {
  const { status, headers } = response;
  const pairs = [...headers].map(([name, value]): [string, string] => [
    name,
    redact(value, record),
  ]);
  return { status, headers: new Headers(pairs), body: cleanBody(record, body, isSuccess(status)) };
}

/**
 * Redacts a body, and parses it. It stays text if it is not JSON, or is nested too deeply for
 * `JSON.stringify`, which logs use; what openapi-fetch has parsed is left out then.
 */
function cleanBody(record: CallRecord, body: unknown, isWhole: boolean): unknown {
  let text = "";
  try {
    text = redact(typeof body === "string" ? body : JSON.stringify(body), record);
    if (!isWhole) text = text.slice(0, MAX_BODY);
    // Redacted again, because the service may have escaped a key in any way.
    const value = JSON.parse(
      text,
      (_name, value) => typeof value === "string" ? redact(value, record) : value,
    );
    JSON.stringify(value);
    return value;
  } catch {
    return text;
  }
}
