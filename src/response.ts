import type { CallContext } from "./call.ts";
import { ConfigurationError, RedirectError } from "./errors.ts";
import * as failures from "./failures.ts";
import { type Bytes, isSuccess, type PlainResponse } from "./plain.ts";
import { runsOn } from "./runtime.ts";
import { withoutQuery } from "./text.ts";

/** The statuses of responses that have no body: the null body statuses of the fetch standard. */
export const NULL_BODY_STATUSES = [204, 205, 304];

/**
 * Reads the body of a response within its limit.
 *
 * @param signal The signal of the attempt.
 * @returns The body; with an error status, the part of it that was read.
 * @throws A `ScamAddressError` for a response that cannot be used, or what broke the body.
 */
export async function readResponse(
  response: Response,
  context: CallContext,
  signal: AbortSignal,
): Promise<Bytes> {
  checkUnread(response, context);
  if (response.type === "error") throw new TypeError("the response is a network error");
  refuseRedirect(response, context);
  const { maxResponseBytes, resolvesToErrors } = context;
  const ok = isSuccess(response.status);
  /** The most that an error keeps. */
  const maxKept = Math.min(maxResponseBytes, failures.MAX_ERROR_BODY);
  const maxOfError = resolvesToErrors ? maxResponseBytes : maxKept;
  // The body of an error is cut at its limit. One byte more than data may have shows that it is too large.
  const limit = ok ? maxResponseBytes + 1 : maxOfError;
  const bytes = await readBody(response, limit, signal);
  if (!ok || bytes.length <= maxResponseBytes) return bytes;
  const text = new TextDecoder().decode(bytes.subarray(0, maxKept));
  const rule = "maxResponseBytes";
  const problem = `the body is larger than "${rule}"`;
  throw failures.invalidResponse(context, response, text, [{ path: "", rule }], problem);
}

/** Copies a response, with the body that was read, for middleware and `parseAs`. */
export function copyResponse({ body, original }: PlainResponse): Response {
  const { headers, status, statusText, url } = original;
  // Other statuses are invalid, and count as server errors (RFC 9110, section 15).
  const init = { headers, status: status >= 200 && status <= 599 ? status : 500 };
  const copy = new Response(NULL_BODY_STATUSES.includes(status) ? null : body, init);
  // Set here, because no option sets `url`, and the constructor refuses some statuses and reason phrases
  // that runtimes receive.
  return Object.defineProperties(copy, {
    status: { value: status },
    statusText: { value: statusText },
    url: { value: url },
  });
}

/** Names the `fetch` that returned a response of a kind that no runtime returns. */
function nameOfFetch({ fetch }: CallContext): string {
  return fetch ? 'custom "fetch"' : 'global "fetch", which something has replaced,';
}

/** Refuses what is not a response with an unread body: a mock may return a plain object. */
function checkUnread(response: Response, context: CallContext): void {
  const { body, bodyUsed, headers } = Object(response);
  const isReadable = body === null || (typeof body?.getReader === "function" && !body.locked);
  if (isReadable && !bodyUsed && typeof headers?.get === "function") return;
  const must = `the ${nameOfFetch(context)} must return one whose body has not been read`;
  const problem = `got no usable Response: ${must}, such as new Response("{}")`;
  throw failures.make(context, ConfigurationError, problem, { option: "fetch" });
}

/** Refuses a redirect, and what a custom `fetch` got by following one. */
function refuseRedirect(response: Response, context: CallContext): void {
  const { headers, redirected, status, url } = response;
  const isRedirect = redirected || (status >= 300 && status <= 399 && status !== 304);
  if (!isRedirect) return;
  const location = failures.redact((redirected ? url : headers.get("location")) ?? "", context);
  const to = location && ` to "${withoutQuery(location).slice(0, 200)}"`;
  const problem = redirected
    ? `was redirected${to}: the ${nameOfFetch(context)} must not follow redirects`
    : `got a redirect (${status})${to}, which is not followed`;
  const fields = location ? { location } : {};
  throw failures.make(context, RedirectError, `${problem}: ${failures.CHECK_BASE_URL}`, fields);
}

/**
 * Reads a body up to a limit, in bytes, and cancels the rest. With an error status, the part that came
 * before a failure is enough.
 */
async function readBody(response: Response, limit: number, signal: AbortSignal): Promise<Bytes> {
  // To read it at once saves half of openapi-fetch's CPU time on Deno.
  if (isShort(response, limit)) return new Uint8Array(await response.arrayBuffer());
  let bytes = new Uint8Array(); // one that grows: a list of millions of small chunks fills memory
  if (!response.body) return bytes;
  const reader = readerOf(response.body, response.type);
  const cancel = () => void reader.cancel().catch(() => {});
  // Deno forgets the signal of a response that is garbage-collected while its body is read.
  signal.addEventListener("abort", cancel);
  if (signal.aborted) cancel(); // A custom `fetch` has ignored it.
  let buffer = new Uint8Array(runsOn("Deno") ? 2 ** 14 : 0);
  let size = 0;
  try {
    while (size < limit) {
      const { done, value } = await reader.read(buffer);
      if (done) break;
      if (value?.BYTES_PER_ELEMENT !== 1) throw new TypeError("a chunk of the body is not bytes");
      if (size + value.length > bytes.length) {
        const larger = new Uint8Array(2 * (size + value.length));
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(value, size);
      size += value.length;
      if (runsOn("Deno")) buffer = new Uint8Array(value.buffer as ArrayBuffer); // its content was copied
    }
  } catch (error) {
    if (isSuccess(response.status)) throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
  return bytes.subarray(0, Math.min(size, limit));
}

/** Tells whether a response announces a body within a limit: no runtime reads more than is announced. */
function isShort({ headers, status, type }: Response, limit: number): boolean {
  const isPlain = !headers.has("content-encoding") && !headers.has("transfer-encoding");
  const length = Number(headers.get("content-length") || Infinity);
  const isOwn = type === "basic"; // the runtime's own
  return isSuccess(status) && isOwn && isPlain && length <= limit;
}

/** A reader of bytes, into a buffer if it can do that. */
interface ByteReader {
  read(buffer: Uint8Array): Promise<{ done: boolean; value?: Bytes }>;
  cancel(): Promise<void>;
}

/** Returns a reader; Deno allocates 64 KiB for each read of its own responses that has no buffer. */
function readerOf(body: ReadableStream<Uint8Array>, type: ResponseType): ByteReader {
  try {
    if (runsOn("Deno") && type === "basic") return body.getReader({ mode: "byob" }) as ByteReader;
  } catch { /* It is not a byte stream: a mock has made it. */ }
  return body.getReader() as unknown as ByteReader;
}
