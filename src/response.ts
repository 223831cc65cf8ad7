import {
  type Call,
  CHECK_BASE_URL,
  invalidResponse,
  makeError,
  MAX_ERROR_BODY,
  redact,
  withoutQuery,
} from "./call.ts";
import { ConfigurationError, RedirectError } from "./errors.ts";

/** The statuses of responses that have no body: the null body statuses of the fetch standard. */
const NULL_BODY_STATUSES = [204, 205, 304];

/**
 * Reads the body of a response within its limit.
 *
 * @returns A response with the body; with an error status, with the part of the body that was read.
 * @throws A `ScamAddressError` for a response that cannot be used, or what broke the body.
 */
export async function readResponse(response: Response, call: Call): Promise<Response> {
  checkUnread(response, call);
  refuseRedirect(response, call);
  const { maxResponseBytes, resolvesToErrors } = call;
  const { headers, ok, status, statusText, url } = response;
  const errorLimit = resolvesToErrors
    ? maxResponseBytes
    : Math.min(maxResponseBytes, MAX_ERROR_BODY);
  const { bytes, problem } = await readBody(response, ok ? maxResponseBytes + 1 : errorLimit);
  if (ok && problem) throw problem; // With an error status, a part of the body is enough.
  if (ok && bytes.length > maxResponseBytes) {
    const rule = "maxResponseBytes";
    const text = new TextDecoder().decode(
      bytes.subarray(0, Math.min(maxResponseBytes, MAX_ERROR_BODY)),
    );
    const why = `the body is larger than "${rule}"`;
    throw invalidResponse(call, response, text, [{ path: "", rule }], why);
  }
  const copy = new Response(NULL_BODY_STATUSES.includes(status) ? null : bytes, {
    headers,
    status,
  });
  // No options: there is none for `url`, and Node.js refuses some reason phrases that it receives.
  return Object.defineProperties(copy, { url: { value: url }, statusText: { value: statusText } });
}

/** Refuses what is not a response with an unread body: a mock may return a plain object. */
function checkUnread(response: Response, call: Call): void {
  const { body, bodyUsed, headers } = Object(response);
  const isReadable = body === null || (typeof body?.getReader === "function" && !body.locked);
  if (isReadable && !bodyUsed && typeof headers?.get === "function") return;
  const advice = "such as new Response(JSON.stringify(data))";
  const problem =
    `failed: the custom "fetch" must return a Response that nobody has read, ${advice}`;
  throw makeError(call, ConfigurationError, problem, { option: "fetch" });
}

/** Refuses a redirect, and what a custom `fetch` got by following one. */
function refuseRedirect({ headers, redirected, status, url }: Response, call: Call): void {
  const isRedirect = redirected || (status >= 300 && status <= 399 && status !== 304);
  if (!isRedirect) return;
  const location = redact((redirected ? url : headers.get("location")) ?? "", call);
  const to = location && ` to "${withoutQuery(location).slice(0, 200)}"`;
  const problem = redirected
    ? `was redirected${to} by the custom "fetch", which must not follow redirects`
    : `got a redirect (${status})${to}, which is not followed`;
  const fields = location ? { location } : {};
  throw makeError(call, RedirectError, `${problem}: ${CHECK_BASE_URL}`, fields);
}

/** A `Uint8Array`, in the form that all versions of TypeScript accept as a body. */
type Bytes = ReturnType<typeof Uint8Array.from>;

/** The part of a body that was read, and what it failed with. */
interface ReadBody {
  readonly bytes: Bytes;
  readonly problem?: unknown;
}

/** Reads a body up to a limit, in bytes, beyond which it waits for nothing. */
async function readBody(response: Response, limit: number): Promise<ReadBody> {
  const { body, headers, ok, type } = response;
  const isNative = type === "basic"; // a response of the runtime's own
  // No runtime reads more than is announced. To read that at once, and to read into a buffer, each save
  // half of openapi-fetch's CPU time on Deno.
  const isPlain = !headers.has("content-encoding") && !headers.has("transfer-encoding");
  if (ok && isNative && isPlain && Number(headers.get("content-length") || Infinity) <= limit) {
    return { bytes: new Uint8Array(await response.arrayBuffer()) };
  }
  const reader = body ? readerOf(body, isNative) : undefined;
  let buffer = new Uint8Array(isDeno ? 2 ** 14 : 0);
  let bytes = new Uint8Array(); // one that grows: a list of millions of small chunks fills memory
  let size = 0;
  try {
    while (reader && size < limit) {
      const { done, value } = await reader.read(buffer);
      if (done) break;
      if (value?.BYTES_PER_ELEMENT !== 1) {
        throw new TypeError("the body has a chunk that is not bytes");
      }
      if (size + value.length > bytes.length) {
        const larger = new Uint8Array(2 * (size + value.length));
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(value, size);
      size += value.length;
      if (isDeno) buffer = new Uint8Array(value.buffer as ArrayBuffer); // its content was copied
    }
    return { bytes: bytes.subarray(0, Math.min(size, limit)) };
  } catch (problem) {
    return { bytes: bytes.subarray(0, size), problem };
  } finally {
    reader?.cancel().catch(() => {});
  }
}

/** A reader of bytes; one of a byte stream reads them into the buffer. */
interface ByteReader {
  read(buffer: Uint8Array): Promise<{ done: boolean; value?: Bytes }>;
  cancel(): Promise<void>;
}

// Not `"Deno" in globalThis`, which dnt would shim.
const isDeno = /* @__PURE__ */ /^Deno\//.test(globalThis.navigator?.userAgent);

/** Returns a reader; Deno allocates 64 KiB for each read of its own responses that has no buffer. */
function readerOf(body: ReadableStream<Uint8Array>, isNative: boolean): ByteReader {
  try {
    if (isDeno && isNative) return body.getReader({ mode: "byob" }) as ByteReader;
  } catch { /* It is not a byte stream. */ }
  return body.getReader() as unknown as ByteReader;
}
