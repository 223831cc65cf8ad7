import type { Call } from "./call.ts";
import { HttpError, InvalidResponseError, type Issue, RedirectError } from "./errors.ts";
import { parseRetryAfter } from "./retry.ts";
import type { Secrets } from "./secrets.ts";

/** What comes before the body of a response. */
export type Head = Pick<Response, "headers" | "ok" | "status" | "statusText" | "url">;

/** A response whose body has been read. */
export interface Received {
  /** What openapi-fetch and the caller get. */
  readonly response: Response;
  readonly body: Uint8Array<ArrayBuffer>;
}

const MAX_ERROR_BODY = 64 * 1024;

/** How long chunks that are there already may keep timers from firing, in milliseconds. */
const MAX_BUSY = 20;

const decoder = /* @__PURE__ */ new TextDecoder();

/** Copies headers, except those that no `Headers` takes, which Node.js's parser lets through. */
function copyHeaders(headers: Headers, read = (value: string, _name: string) => value): Headers {
  const copy = new Headers();
  headers.forEach((value, name) => {
    try {
      copy.append(name, read(value, name));
    } catch { /* It is left out. */ }
  });
  return copy;
}

/** Reads the head of a response, which a custom fetch may have made in its own way. */
export function readHead(response: Response): Head & { isForeign: boolean } {
  const { status, statusText, url, type, headers } = response;
  const isRedirect = type === "opaqueredirect";
  if (!isRedirect && !(Number.isInteger(status) && status >= 200 && status <= 999)) {
    throw new TypeError(`The response has the status ${status}`);
  }
  const isForeign = !(response instanceof Response);
  return {
    headers: isForeign ? copyHeaders(headers) : headers,
    ok: status >= 200 && status <= 299,
    status: isRedirect ? 0 : status,
    statusText,
    url,
    isForeign,
  };
}

/** Refuses a redirect; browsers show it with the status 0 and without its location. */
export function refuseRedirect({ status, headers }: Head, { target, secrets }: Call): void {
  if (status > 0 && (status < 300 || status > 399)) return;
  const location = headers.get("location");
  throw new RedirectError(
    `"${secrets.redact(target)}" was redirected; redirects are not followed: check "baseUrl"`,
    { status, ...location !== null && { location: secrets.redact(location) } },
  );
}

/** Says what is wrong with the body of a 2xx response. */
export function invalidResponse(
  { target, secrets }: Call,
  status: number,
  issues: readonly Issue[],
): InvalidResponseError {
  const list = issues.slice(0, 5).map(({ path, rule, message = rule }) =>
    `${path || "body"}: ${message}`
  );
  if (issues.length > list.length) list.push(`and ${issues.length - list.length} more`);
  return new InvalidResponseError(
    `"${secrets.redact(target)}" got an invalid response (${list.join("; ")})`,
    { status, issues },
  );
}

/** Reads chunks into one buffer that grows, because millions of tiny chunks would fill memory. */
async function readChunks(
  body: ReadableStream<unknown>,
  limit: number,
  signal: AbortSignal,
  keep: (body: Uint8Array<ArrayBuffer>) => void,
): Promise<boolean> {
  const reader = body.getReader();
  // A custom fetch may ignore its signal, and its stream may be of another make.
  const cancel = async () => void await reader.cancel();
  const onAbort = () => void cancel().catch(() => {});
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  let buffer = new Uint8Array();
  let size = 0;
  let rested = performance.now();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return true;
    if (!ArrayBuffer.isView(value)) throw new TypeError("The body has a chunk that is not bytes");
    const end = size + value.byteLength;
    if (end > limit) {
      onAbort();
      return false;
    }
    if (end > buffer.length) {
      const larger = new Uint8Array(end + size);
      larger.set(buffer);
      buffer = larger;
    }
    buffer.set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), size);
    keep(buffer.subarray(0, size = end));
    if (performance.now() - rested > MAX_BUSY) {
      await new Promise((resolve) => setTimeout(resolve));
      rested = performance.now();
    }
  }
}

/** Whether the headers of a response bound its body, which the runtime's own fetch ensures. */
function isShort({ ok, headers }: Head, { type }: Response, limit: number): boolean {
  return ok && type === "basic" && // which hides no header
    !headers.has("content-encoding") && !headers.has("transfer-encoding") &&
    Number(headers.get("content-length") || Infinity) <= limit;
}

/**
 * Reads the body of a response, no further than the limit.
 *
 * Of a 4xx or 5xx response it keeps what has come, also when the rest does not come, because the
 * status says more. `isNative` says that the runtime's own fetch has the signal, which alone can
 * stop the fastest way to read.
 */
export async function readBody(
  response: Response,
  head: Head,
  limit: number,
  signal: AbortSignal,
  isNative: boolean,
): Promise<{ body: Uint8Array<ArrayBuffer>; isWhole: boolean }> {
  let body = new Uint8Array();
  try {
    if (isNative && isShort(head, response, limit)) {
      return { body: new Uint8Array(await response.arrayBuffer()), isWhole: true };
    }
    if (!response.body) return { body, isWhole: true };
    if (typeof response.body.getReader === "function") {
      const isWhole = await readChunks(response.body, limit, signal, (bytes) => body = bytes);
      return { body, isWhole };
    }
    body = new Uint8Array(await response.arrayBuffer()); // as other makes of Response have it
    return { body, isWhole: body.byteLength <= limit };
  } catch (error) {
    if (head.ok) throw error;
    return { body, isWhole: false };
  }
}

/** Makes a response whose body can be read again, with statuses and texts that no other can have. */
export function rebuild(
  { headers, ok, status, statusText, url }: Head,
  body: Uint8Array<ArrayBuffer>,
): Response {
  const isEmpty = !body.byteLength || status === 204 || status === 205;
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
export function decode(body: Uint8Array): string {
  return decoder.decode(body);
}

/** Parses the body of a 2xx response as JSON and checks it. */
export function parseJson(body: Uint8Array, status: number, call: Call): unknown {
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

/** Reads the body of an error: JSON or text, cut and without secrets. */
function readErrorBody(text: string, secrets: Secrets): unknown {
  const start = secrets.redactStart(text, MAX_ERROR_BODY);
  const { read } = new TextEncoder().encodeInto(start, new Uint8Array(MAX_ERROR_BODY));
  const body = start.slice(0, read);
  if (text.length > MAX_ERROR_BODY || body !== start) return body;
  try {
    const json = JSON.stringify(JSON.parse(body)); // which can write a character in many ways
    return JSON.parse(secrets.redact(json));
  } catch {
    return body; // It is no JSON, too deep, or no JSON without a secret.
  }
}

/** Makes the error for a 4xx or 5xx response. */
export function httpError(
  { target, secrets }: Call,
  { status, headers: received }: Head,
  text: string,
): HttpError {
  const headers = copyHeaders(received, (value, name) => {
    if (secrets.isIn(name)) throw new Error("A header is named as the key");
    return secrets.redact(value);
  });
  const retryAfter = parseRetryAfter(received.get("retry-after"), Date.now());
  return new HttpError(`"${secrets.redact(target)}" got a response with the status ${status}`, {
    status,
    headers,
    body: readErrorBody(text, secrets),
    ...retryAfter !== undefined && { retryAfter },
  });
}
