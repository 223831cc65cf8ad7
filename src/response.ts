import type { Call } from "./call.ts";
import {
  HttpError,
  InvalidResponseError,
  type Issue,
  NetworkError,
  RedirectError,
} from "./errors.ts";
import { parseRetryAfter } from "./retry.ts";
import type { Secrets } from "./secrets.ts";
import { systemClock, withTimeout } from "./time.ts";

/** What comes before the body of a response. */
export type Head = Pick<Response, "headers" | "ok" | "status" | "statusText" | "url">;

/** A response whose body has been read. */
export interface Received {
  /** What openapi-fetch and the caller get. */
  readonly response: Response;
  readonly body: BufferSource;
}

const MAX_ERROR_BODY = 64 * 1024;

/** How long reading may keep timers from firing when chunks never make it wait, in milliseconds. */
const MAX_BUSY = 20;

/** What is wrong with a body as a whole. */
const BODY_FAULTS: Readonly<Record<string, string>> = {
  json: 'the body is not JSON, check "baseUrl"',
  empty: "the body is empty",
  maxResponseBytes: 'the body is larger than "maxResponseBytes"',
};

const decoder = /* @__PURE__ */ new TextDecoder();

/** Copies headers, except names that `Headers` refuses but Node.js's parser accepts. */
function copyHeaders(headers: Headers, read = (value: string, _name: string) => value): Headers {
  const copy = new Headers();
  headers.forEach((value, name) => {
    try {
      copy.append(name, read(value, name));
    } catch { /* The header is left out. */ }
  });
  return copy;
}

/** Reads the head of a response, which a custom fetch may have made without the Response class. */
export function readHead(response: Response): Head {
  const { headers, status, statusText, type, url } = response;
  if (!(status >= 200 && status <= 999) && type !== "opaqueredirect") {
    throw new TypeError(`The response has the status ${status}`);
  }
  if (response instanceof Response) return response;
  return { headers: copyHeaders(headers), ok: status <= 299, status, statusText, url };
}

/** Throws for a redirect, which browsers give the status 0 and no location. */
export function refuseRedirect({ status, headers }: Head, { name, secrets }: Call): void {
  if (status > 0 && (status < 300 || status > 399)) return;
  const location = headers.get("location");
  throw new RedirectError(`"${name}" got a redirect, which is not followed: check "baseUrl"`, {
    status,
    ...location !== null && { location: secrets.redact(location) },
  });
}

/**
 * Why there is no complete response; {@linkcode inTime} turns it into a {@linkcode NetworkError}.
 */
export class Failure {
  constructor(readonly what: string, readonly reason: unknown) {}
}

/**
 * Does work within the time-out of a call. It makes the errors, so that their stack has the caller.
 */
export async function inTime<T>(
  call: Call,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await withTimeout(work, call);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const cause = call.secrets.reason(error.reason);
    throw new NetworkError(`"${call.name}" ${error.what}: ${cause.message}`, { cause });
  }
}

/** Makes the error for a 2xx response with a wrong body. */
export function invalidResponse(
  { name }: Call,
  status: number,
  issues: readonly Issue[],
): InvalidResponseError {
  const list = issues.slice(0, 5).map(({ path, rule, message = rule }) =>
    path ? `${path}: ${message}` : BODY_FAULTS[rule] ?? `the body: ${message}`
  );
  if (issues.length > list.length) list.push(`and ${issues.length - list.length} more`);
  return new InvalidResponseError(
    `"${name}" got an invalid response (${list.join("; ")})`,
    { status, issues },
  );
}

/** Collects bytes in one growing buffer, because a list of millions of tiny chunks fills memory. */
class Bytes {
  #buffer = new Uint8Array();
  size = 0;

  append(bytes: Uint8Array): void {
    const end = this.size + bytes.length;
    if (end > this.#buffer.length) {
      const larger = new Uint8Array(2 * end);
      larger.set(this.#buffer);
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.size);
    this.size = end;
  }

  toArray(): BufferSource {
    return this.#buffer.subarray(0, this.size);
  }
}

/** Whether the headers limit the size of the body, which the runtime's own fetch enforces. */
function isShort({ ok, headers, type }: Response, limit: number): boolean {
  return ok && type === "basic" && // which hides no header
    !headers.has("content-encoding") && !headers.has("transfer-encoding") &&
    Number(headers.get("content-length") || Infinity) <= limit;
}

/** Appends the chunks of a body, up to one byte more than the limit. */
async function readChunks(
  stream: ReadableStream<unknown>,
  limit: number,
  signal: AbortSignal,
  bytes: Bytes,
): Promise<void> {
  const reader = stream.getReader();
  // A custom fetch may ignore its signal, and its stream may be no standard one.
  const cancel = () => void (async () => await reader.cancel())().catch(() => {});
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel);
  let rested = performance.now();
  while (bytes.size <= limit && !signal.aborted) {
    const { value, done } = await reader.read();
    if (done) return;
    if (!ArrayBuffer.isView(value)) throw new TypeError("The body has a chunk that is not bytes");
    const { buffer, byteOffset, byteLength } = value;
    bytes.append(new Uint8Array(buffer, byteOffset, Math.min(byteLength, limit + 1 - bytes.size)));
    if (performance.now() - rested < MAX_BUSY) continue;
    await systemClock.sleep(0, [signal]); // lets the time-out fire
    rested = performance.now();
  }
  cancel();
}

/**
 * Reads the body of a response, up to the limit.
 *
 * When the body of a 4xx or 5xx response breaks off or is too large, it returns the part that was
 * read, because the status matters more.
 */
export async function readBody(
  response: Response,
  { ok, status }: Head,
  call: Call,
  signal: AbortSignal,
): Promise<BufferSource> {
  const { body } = response;
  const limit = call.maxResponseBytes;
  const bytes = new Bytes();
  try {
    if (!call.fetch && isShort(response, limit)) {
      return new Uint8Array(await response.arrayBuffer());
    }
    if (typeof body?.getReader === "function") await readChunks(body, limit, signal, bytes);
    else if (body) { // as node-fetch has it
      bytes.append(new Uint8Array(await response.arrayBuffer()));
    }
  } catch (error) {
    if (ok) throw new Failure("got a response that broke off", error);
  }
  if (ok && bytes.size > limit) {
    throw invalidResponse(call, status, [{ path: "", rule: "maxResponseBytes" }]);
  }
  return bytes.toArray();
}

/** Makes a response with a body that was read; its status may be one that `Response` refuses. */
export function rebuild(
  { headers, ok, status, statusText, url }: Head,
  body: BufferSource,
): Response {
  const isEmpty = status === 204 || status === 205;
  const response = new Response(isEmpty ? null : body, {
    headers: copyHeaders(headers),
    status: ok ? status : Math.min(status, 599),
  });
  return Object.defineProperties(response, {
    status: { value: status },
    statusText: { value: statusText },
    url: { value: url },
  });
}

/** Decodes a body as UTF-8, without a byte-order mark. */
export function decode(body: BufferSource): string {
  return decoder.decode(body);
}

/** Parses the body of a 2xx response as JSON and checks it. */
export function parseJson(body: BufferSource, status: number, call: Call): unknown {
  const validate = call.validators[status] ?? call.validators["2XX"];
  if (!body.byteLength && !validate) return undefined;
  let value: unknown;
  let issues: readonly Issue[] | undefined;
  try {
    value = JSON.parse(decode(body));
  } catch {
    issues = [{ path: "", rule: body.byteLength ? "json" : "empty" }];
  }
  issues ??= validate?.(value);
  if (issues) throw invalidResponse(call, status, issues);
  return value;
}

/** Parses the body of an error response: JSON or text, cut and without secrets. */
function readErrorBody(text: string, secrets: Secrets): unknown {
  const start = secrets.redactStart(text, MAX_ERROR_BODY);
  const { read } = new TextEncoder().encodeInto(start, new Uint8Array(MAX_ERROR_BODY));
  const body = start.slice(0, read);
  if (text.length > MAX_ERROR_BODY || body !== start) return body;
  try {
    const json = JSON.stringify(JSON.parse(body)); // without needless escapes
    return JSON.parse(secrets.redact(json));
  } catch {
    return body; // It is not JSON, too deep, or no longer JSON without the secret.
  }
}

/** Makes the error for a 4xx or 5xx response. */
export function httpError(
  { name, secrets }: Call,
  { status, headers: received }: Head,
  text: string,
): HttpError {
  const headers = copyHeaders(received, (value, name) => {
    if (secrets.isIn(name)) throw new Error("The name of the header contains the key");
    return secrets.redact(value);
  });
  const retryAfter = parseRetryAfter(received.get("retry-after"), Date.now());
  return new HttpError(`"${name}" got a response with the status ${status}`, {
    status,
    headers,
    body: readErrorBody(text, secrets),
    ...retryAfter !== undefined && { retryAfter },
  });
}
