import {
  ConfigurationError,
  HttpError,
  InvalidResponseError,
  type Issue,
  NetworkError,
  RedirectError,
} from "../errors.ts";
import { type Body, cancel, readStream } from "./body.ts";
import { reasonOf, type Redact } from "./redact.ts";
import { parseRetryAfter } from "./retry.ts";
import { type Limits, within } from "./time.ts";

/** A response, and what was read of its body. */
export interface Received extends Body {
  readonly response: Response;
}

/** What is needed to read a response. */
export interface Reading extends Limits {
  /** Writes the method and the address of the request, without secrets. */
  readonly describe: () => string;
  readonly redact: Redact;
  /** The largest body that is read, in bytes. */
  readonly maxResponseBytes: number;
}

type Naming = Pick<Reading, "describe" | "redact">;

/** The largest part of an error's body that is kept, in bytes. */
const MAX_ERROR_BODY = 64 * 2 ** 10;

const ADVICE = 'check "baseUrl"';

/** Whether a response is a redirect, or what a custom fetch got by following one. */
function isRedirect({ status, type, redirected }: Response): boolean {
  if (redirected || type === "opaqueredirect") return true; // browsers hide the status
  return status >= 300 && status <= 399 && status !== 304;
}

/** Whether a value is a `Response`, also one of another realm, that nobody has read. */
function isUnread(value: unknown): value is Response {
  const { status, statusText, headers, body, bodyUsed } = Object(value);
  return typeof status === "number" && typeof statusText === "string" &&
    typeof headers?.get === "function" && typeof headers.forEach === "function" &&
    bodyUsed === false && (body === null || typeof body?.getReader === "function" && !body.locked);
}

/** Whether the headers limit the size of the body, which the runtime's own fetch enforces. */
function isShort({ ok, headers, type }: Response, limit: number): boolean {
  return ok && type === "basic" && // which hides no header
    !headers.has("content-encoding") && !headers.has("transfer-encoding") &&
    Number(headers.get("content-length") || Infinity) <= limit;
}

/** Reads the body of a response, up to one byte more than the limit. */
async function readBody(response: Response, limit: number, signal: AbortSignal): Promise<Body> {
  const { body, type } = response;
  if (!body) return { bytes: new Uint8Array(), isComplete: true };
  if (isRedirect(response)) cancel(body);
  else if (isShort(response, limit)) {
    return { bytes: new Uint8Array(await response.arrayBuffer()), isComplete: true };
  } else return await readStream(body, limit, signal, type === "basic");
  return { bytes: new Uint8Array(), isComplete: false };
}

/**
 * Waits for a response, and reads it within its limits.
 *
 * When the body of a 4xx or 5xx response breaks off or is too large, the result has the part that
 * was read, because the status matters more.
 *
 * @param reading The limits.
 * @param start Starts to wait for the response.
 * @returns The response and its body.
 * @throws {NetworkError} When there is no response, or it breaks off.
 * @throws {TimeoutError} When the time is up.
 * @throws {RedirectError} When the response is a redirect.
 * @throws {InvalidResponseError} When the body of a 2xx response is too large.
 * @throws {ConfigurationError} When there is something else in place of a response.
 */
export async function receive(
  reading: Reading,
  start: (signal: AbortSignal) => Promise<Response>,
): Promise<Received> {
  const { describe, maxResponseBytes, redact } = reading;
  let failure = "got no response";
  const received = await within(reading, async (signal): Promise<Received | undefined> => {
    const response = await start(signal);
    if (!isUnread(response)) return undefined;
    const { ok, status, type } = response;
    if (!(status >= 200 && status <= 599) && type !== "opaqueredirect") {
      cancel(response.body);
      throw new TypeError(`The response has the status ${status}`);
    }
    failure = "got a response that broke off";
    const body = await readBody(response, maxResponseBytes, signal);
    if (ok && "thrown" in body) throw body.thrown;
    return { ...body, response };
  }, (thrown) => {
    const cause = reasonOf(thrown, redact);
    return new NetworkError(`"${describe()}" ${failure}: ${cause.message}`, {}, { cause });
  });
  if (!received) {
    const problem = '"fetch" must return a Response whose body nobody has read';
    throw new ConfigurationError(problem, { option: "fetch" });
  }
  const { response, isComplete } = received;
  if (isRedirect(response)) {
    const { headers, status, redirected, url } = response;
    const location = redirected ? url : headers.get("location");
    const message = redirected
      ? `"${describe()}" was redirected by "fetch", which must not follow redirects: ${ADVICE}`
      : `"${describe()}" got a redirect, which is not followed: ${ADVICE}`;
    const fields = { status, ...location !== null && { location: redact(location) } };
    throw new RedirectError(message, fields);
  }
  if (response.ok && !isComplete) {
    throw invalidResponse(received, [{ path: "", rule: "maxResponseBytes" }], reading);
  }
  return received;
}

/** Makes the error for a 2xx response with a wrong body. */
export function invalidResponse(
  received: Received,
  issues: readonly Issue[],
  { describe, redact }: Naming,
): InvalidResponseError {
  const { headers, status } = received.response;
  const type = redact(headers.get("content-type") ?? "").replace(/[^\w.+/-].*/s, "");
  const faults: Record<string, string> = {
    json: /^$|\bjson$|^text\/html$/i.test(type)
      ? `the body is not JSON, ${ADVICE}`
      : `the body is "${type}" and not JSON; GET() and other methods read it with "parseAs"`,
    empty: "the body is empty",
    depth: "the body is nested too deep",
    maxResponseBytes: 'the body is larger than "maxResponseBytes"',
    status: `the document has no status ${status} for it`,
  };
  const list = issues.slice(0, 5).map(({ path, rule, message }) => {
    const where = path || "the body";
    if (message !== undefined) return `${where}: ${message}`;
    return path === "" && faults[rule] || `${where} does not match the document (${rule})`;
  });
  if (issues.length > list.length) list.push(`and ${issues.length - list.length} more`);
  return new InvalidResponseError(
    `"${describe()}" got an invalid response: ${list.join("; ")}`,
    { status, issues, body: readErrorBody(received, redact) },
  );
}

/** Copies headers, except names that have a secret, or that Node.js accepts and `Headers` refuses. */
function copyHeaders(headers: Headers, redact: Redact = (text) => text): Headers {
  const copy = new Headers();
  headers.forEach((value, name) => {
    try {
      if (redact(name) === name) copy.append(name, redact(value));
    } catch { /* The header is left out. */ }
  });
  return copy;
}

/** Makes a response with a body that was read. */
export function rebuild({ response, bytes }: Received): Response {
  const { headers, status, url } = response;
  const isEmpty = status === 204 || status === 205 || status === 304;
  const statusText = response.statusText.replace(/[^\t -~\xa0-\xff]/g, "?"); // as Node.js reads it
  const init = { headers: copyHeaders(headers), status, statusText };
  const copy = new Response(isEmpty ? null : bytes, init);
  return Object.defineProperty(copy, "url", { value: url });
}

/** Parses the body of a response for an error: JSON or text, cut and without secrets. */
function readErrorBody({ bytes }: Received, redact: Redact): unknown {
  const start = bytes.subarray(0, MAX_ERROR_BODY);
  // As the start of a stream, it may end within a character.
  const text = new TextDecoder().decode(start, { stream: true });
  if (start.length < bytes.byteLength) return redact(text);
  try {
    return JSON.parse(text, (_name, value) => {
      if (typeof value === "string") return redact(value);
      if (typeof value === "number" && redact(`${value}`) !== `${value}`) return "[redacted]";
      if (Array.isArray(value) || Object(value) !== value) return value;
      const fields = Object.entries(value).map(([name, field]) => [redact(name), field]);
      return Object.fromEntries(fields);
    });
  } catch {
    return redact(text); // It is not JSON, or too deep.
  }
}

/** Makes the error for a response that has no 2xx status. */
export function httpError(received: Received, { describe, redact }: Naming): HttpError {
  const { status, headers } = received.response;
  const retryAfter = parseRetryAfter(headers.get("retry-after"), Date.now());
  const advice = status === 404 ? `: ${ADVICE}` : "";
  return new HttpError(`"${describe()}" got a response with the status ${status}${advice}`, {
    status,
    headers: copyHeaders(headers, redact),
    body: readErrorBody(received, redact),
    ...retryAfter !== undefined && { retryAfter },
  });
}
