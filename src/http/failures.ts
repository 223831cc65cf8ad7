// Makes the errors of a call. None shows a key.
import { ConfigurationError, HttpError, InvalidResponseError, NetworkError } from "./errors.ts";
import type { Issue, ResponseSnapshot, ScamAddressError } from "./errors.ts";
import { toLine, withoutQuery } from "./text.ts";

/** What errors must know of a call. */
export interface FailedCall {
  /** The method and the address, without the query; `send` sets them as they are sent. */
  name: string;
  /** The number of the last attempt, which `send` counts; 0 before the first. */
  attempt: number;
  /** Whether the address exists, so that the status 404 means that the base URL is wrong. */
  readonly mustExist: boolean;
  /** The keys that errors must not show. */
  readonly secrets: readonly string[];
}

/** Advice about a response that may not be the service's. */
export const CHECK_BASE_URL = 'check "baseUrl"';

/** The largest part of a body that an error keeps, in characters. */
const MAX_BODY = 65_536;

/** The largest part of a body in a message, in characters. */
const MAX_EXCERPT = 200;

/** The shortest key that is redacted: replacing a shorter one would garble addresses and logs. */
const MIN_SECRET = 8;

/** What errors have in place of a key. */
export const MARK = "[redacted]";

/** Replaces every key in a text by {@linkcode MARK}. */
function redact(text: string, { secrets }: FailedCall): string {
  const keys = secrets.filter((key) => key.length >= MIN_SECRET);
  const inJson = keys.map((key) => JSON.stringify(key).slice(1, -1));
  return [...keys, ...inJson].reduce((rest, key) => rest.replaceAll(key, MARK), text);
}

/** Makes the error for an option or an argument: its name, and what is wrong with it. */
export function optionError(option: string, problem: string): ConfigurationError {
  return new ConfigurationError(toLine(`"${option}" ${problem}`), { option });
}

/** Makes an error of a call, whose message is a line that names the request and shows no key. */
export function fail<Fields, Made extends ScamAddressError>(
  call: FailedCall,
  errorClass: new (message: string, fields: Fields, options?: { cause?: unknown }) => Made,
  problem: string,
  fields: Fields,
  options?: { cause?: unknown },
): Made {
  const { attempt, name } = call;
  const failed = attempt > 1 ? `failed after ${attempt} attempts: ` : "";
  return new errorClass(toLine(redact(`"${name}" ${failed}${problem}`, call)), fields, options);
}

/** Makes the error for what the network or a custom `fetch` has thrown. */
export function networkError(call: FailedCall, thrown: unknown, url: string): NetworkError {
  // Node.js puts the reason in `cause` or, if a host has several addresses, in `cause.errors`.
  const { cause: inner } = Object(thrown);
  const reason = inner?.errors?.[0] ?? inner ?? thrown;
  const { message = `${reason}`, stack, code } = Object(reason);
  // Deno's message contains the whole URL, whose query may have what users look up.
  const clean = (text: unknown) => redact(`${text}`.replaceAll(url, () => withoutQuery(url)), call);
  // A new error, because the reason may have the request, with its key.
  const cause = new Error(clean(message));
  cause.stack = clean(stack ?? cause.stack);
  if (typeof code === "string") Object.assign(cause, { code: clean(code) });
  return fail(call, NetworkError, `got no complete response: ${cause.message}`, {}, { cause });
}

/** Makes the error for a response that has no 2xx status. */
export function httpError(call: FailedCall, response: Response, text: string): HttpError {
  const { status, headers } = response;
  const location = status < 400 && headers.get("location");
  const to = location ? ` to "${withoutQuery(location)}", which is not followed` : "";
  const advice = status === 404 && call.mustExist ? ` (${CHECK_BASE_URL})` : "";
  const snapshot = makeSnapshot(call, response, text);
  const body = toText(snapshot.body);
  const excerpt = body.length > MAX_EXCERPT ? `${body.slice(0, MAX_EXCERPT)}…` : body;
  const problem = `got the status ${status}${to}${advice}${excerpt && `: ${excerpt}`}`;
  return fail(call, HttpError, problem, { response: snapshot });
}

/** Makes the error for a 2xx response with a wrong body. */
export function invalidResponse(
  call: FailedCall,
  response: Response,
  text: string,
  issues: readonly Issue[],
): InvalidResponseError {
  const clean = issues.map(({ path, rule, message }): Issue => {
    return { path: redact(path, call), rule, ...message && { message: redact(message, call) } };
  });
  const places = clean.slice(0, 5).map(({ path, rule, message }) =>
    `${path || "the body"}: ${message ?? `does not match the OpenAPI document (${rule})`}`
  );
  const fields = { issues: clean, response: makeSnapshot(call, response, text) };
  return fail(call, InvalidResponseError, `got an invalid response: ${places.join("; ")}`, fields);
}

/** Makes the part of a response that an error keeps: of a 2xx, which was paid for, the whole body. */
function makeSnapshot(call: FailedCall, response: Response, text: string): ResponseSnapshot {
  const { ok, status, headers } = response;
  const pairs = [...headers].map(([name, value]): [string, string] => [name, redact(value, call)]);
  const kept = redact(text, call).slice(0, ok ? undefined : MAX_BODY);
  return { status, headers: new Headers(pairs), body: parseBody(kept, call) };
}

/** Parses a body; it stays text if it is not JSON, or is nested too deeply to be written again. */
function parseBody(text: string, call: FailedCall): unknown {
  try {
    // Redacted again, because the service may have escaped a key in any way.
    const redactValue = (value: unknown) => typeof value === "string" ? redact(value, call) : value;
    const body = JSON.parse(text, (_name, value) => redactValue(value));
    JSON.stringify(body);
    return body;
  } catch {
    return text;
  }
}

/** Writes a body as text again; one that is nested too deeply is left out. */
export function toText(body: unknown = ""): string {
  try {
    return typeof body === "string" ? body : JSON.stringify(body);
  } catch {
    return "";
  }
}
