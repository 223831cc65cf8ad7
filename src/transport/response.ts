import {
  HttpError,
  InvalidResponseError,
  type Issue,
  NetworkError,
  RedirectError,
} from "../errors.ts";
import { cancel, decode, readStream } from "./body.ts";
import { reasonOf, type Redact } from "./redact.ts";
import { parseRetryAfter } from "./retry.ts";
import { type Limits, type Time, within } from "./time.ts";

/** A response whose body has been read. */
export interface Received {
  readonly response: Response;
  readonly body: BufferSource;
  /** Whether the body broke off or was cut, which only those of errors may be. */
  readonly isIncomplete?: boolean;
}

/** What is needed to read a response. */
export interface Reading extends Limits {
  /** The name of the request, for messages. */
  readonly name: string;
  readonly redact: Redact;
  /** The largest body that is read, in bytes. */
  readonly maxResponseBytes: number;
}

type Naming = Pick<Reading, "name" | "redact">;

const MAX_ERROR_BODY = 64 * 1024;

function isRedirect({ status }: Response): boolean {
  return status === 0 || (status >= 300 && status <= 399); // browsers hide the status
}

/** Whether the headers limit the size of the body, which the runtime's own fetch enforces. */
function isShort({ ok, headers, type }: Response, limit: number): boolean {
  return ok && type === "basic" && // which hides no header
    !headers.has("content-encoding") && !headers.has("transfer-encoding") &&
    Number(headers.get("content-length") || Infinity) <= limit;
}

/** Refuses what is not a response that can be read. */
function checkResponse({ status, type, headers, body }: Response): void {
  if (!(status >= 200 && status <= 999) && type !== "opaqueredirect") {
    cancel(body);
    throw new TypeError(`The response has the status ${status}`);
  }
  if (typeof headers.forEach !== "function" || (body && typeof body.getReader !== "function")) {
    throw new TypeError("The response must be a Response, whose body is a ReadableStream");
  }
}

/** Reads the body of a response, up to one byte more than the limit. */
async function readBody(response: Response, limit: number, time: Time): Promise<Received> {
  const { body: stream, ok, type } = response;
  if (!stream || isRedirect(response)) {
    cancel(stream);
    return { response, body: new Uint8Array() };
  }
  if (isShort(response, limit)) {
    return { response, body: new Uint8Array(await response.arrayBuffer()) };
  }
  let isIncomplete = false;
  const body = await readStream(stream, limit, time, {
    isNative: type === "basic",
    ...!ok && { onError: () => void (isIncomplete = true) },
  });
  return { response, body, isIncomplete: isIncomplete || body.byteLength > limit };
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
 */
export async function receive(
  reading: Reading,
  start: (signal: AbortSignal) => Promise<Response>,
): Promise<Received> {
  const { name, maxResponseBytes, redact } = reading;
  let failure = "got no response";
  const received = await within(reading, async (time) => {
    const response = await start(time.signal);
    checkResponse(response);
    failure = "got a response that broke off";
    return await readBody(response, maxResponseBytes, time);
  }, (thrown) => {
    const cause = reasonOf(thrown, redact);
    return new NetworkError(`"${name}" ${failure}: ${cause.message}`, { cause });
  });
  const { response, isIncomplete } = received;
  if (isRedirect(response)) {
    const location = response.headers.get("location");
    throw new RedirectError(`"${name}" got a redirect, which is not followed: check "baseUrl"`, {
      status: response.status,
      ...location !== null && { location: redact(location) },
    });
  }
  if (response.ok && isIncomplete) {
    throw invalidResponse(reading, response, [{ path: "", rule: "maxResponseBytes" }]);
  }
  return received;
}

/** Makes the error for a 2xx response with a wrong body. */
export function invalidResponse(
  { name, redact }: Naming,
  { status, headers }: Response,
  issues: readonly Issue[],
): InvalidResponseError {
  const [type = ""] = /^[\w.+[\]-]+\/[\w.+[\]-]+/.exec(redact(headers.get("content-type") ?? "")) ??
    [];
  const faults: Record<string, string> = {
    json: /^$|\bjson$|^text\/html$/i.test(type)
      ? 'the body is not JSON, check "baseUrl"'
      : `the body is "${type}" and not JSON; GET() and other methods read it with "parseAs"`,
    empty: "the body is empty",
    maxResponseBytes: 'the body is larger than "maxResponseBytes"',
  };
  const list = issues.slice(0, 5).map(({ path, rule, message = rule }) =>
    path ? `${path}: ${message}` : faults[rule] ?? `the body: ${message}`
  );
  if (issues.length > list.length) list.push(`and ${issues.length - list.length} more`);
  return new InvalidResponseError(
    `"${name}" got an invalid response (${list.join("; ")})`,
    { status, issues },
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

/** Makes a response with a body that was read; its status may be one that `Response` refuses. */
export function rebuild({ response, body }: Received): Response {
  const { headers, ok, status, statusText, url } = response;
  const isEmpty = status === 204 || status === 205;
  const copy = new Response(isEmpty ? null : body, {
    headers: copyHeaders(headers),
    status: ok ? status : Math.min(status, 599),
  });
  return Object.defineProperties(copy, {
    status: { value: status },
    statusText: { value: statusText },
    url: { value: url },
  });
}

/** Parses the body of an error response: JSON or text, cut and without secrets. */
function readErrorBody({ body, isIncomplete }: Received, redact: Redact): unknown {
  const text = decode(body);
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_ERROR_BODY));
  if (read < text.length) return redact(text, read);
  try {
    return JSON.parse(text, (_name, value) => {
      if (typeof value === "string") return redact(value);
      if (Array.isArray(value) || Object(value) !== value) return value;
      const fields = Object.entries(value).map(([name, field]) => [redact(name), field]);
      return Object.fromEntries(fields);
    });
  } catch {
    return redact(text, Infinity, isIncomplete); // It is not JSON, or too deep.
  }
}

/** Makes the error for a 4xx or 5xx response. */
export function httpError(received: Received, { name, redact }: Naming): HttpError {
  const { status, headers } = received.response;
  const retryAfter = parseRetryAfter(headers.get("retry-after"), Date.now());
  return new HttpError(`"${name}" got a response with the status ${status}`, {
    status,
    headers: copyHeaders(headers, redact),
    body: readErrorBody(received, redact),
    ...retryAfter !== undefined && { retryAfter },
  });
}
