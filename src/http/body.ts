import { BufferedResponse, isSuccess } from "./parts.ts";
import { isDeno } from "./runtime.ts";

/**
 * Reads the body of a response up to a limit, in bytes, and cancels the rest. With an error status, the
 * part that came before a failure is enough.
 *
 * @param signal The signal of the attempt.
 * @param obeysSignal Whether the body ends with the signal, as that of the global `fetch` does.
 */
export async function readResponse(
  response: Response,
  limit: number,
  signal: AbortSignal,
  obeysSignal: boolean,
): Promise<BufferedResponse> {
  const { body, headers, type } = Object(response) as Response;
  const isMock = body === undefined || !headers || type === "error"; // A mock may return anything.
  if (isMock) throw new TypeError('a custom "fetch" must return a Response');
  // To read a short body at once takes half of the CPU time on Deno.
  if (!body || (obeysSignal && isShort(response, limit))) {
    return new BufferedResponse(response, await response.arrayBuffer(), false);
  }
  const reader = readerOf(body, type);
  const cancel = () => void reader.cancel().catch(() => {});
  // Deno forgets the signal of a response that is garbage-collected while its body is read.
  signal.addEventListener("abort", cancel);
  if (signal.aborted) cancel(); // A custom `fetch` has ignored it.
  let bytes = new Uint8Array(); // one that grows: a list of millions of small chunks fills memory
  let buffer = new Uint8Array(isDeno ? 2 ** 14 : 0);
  let size = 0;
  try {
    while (size <= limit) {
      const { done, value } = await reader.read(buffer);
      if (done) break;
      if (value.BYTES_PER_ELEMENT !== 1) throw new TypeError("a chunk of the body is not bytes");
      if (size + value.length > bytes.length) {
        const larger = new Uint8Array(2 * (size + value.length));
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(value, size);
      size += value.length;
      if (isDeno) buffer = new Uint8Array(value.buffer as ArrayBuffer); // Its content was copied.
    }
  } catch (error) {
    if (isSuccess(response.status)) throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
  return new BufferedResponse(response, bytes.slice(0, Math.min(size, limit)).buffer, size > limit);
}

/** Tells whether a response announces a body within a limit: no runtime reads more than is announced. */
function isShort({ headers, status, type }: Response, limit: number): boolean {
  const isPlain = !headers.has("content-encoding") && !headers.has("transfer-encoding");
  const isOwn = type === "basic"; // the runtime's own
  return isSuccess(status) && isOwn && isPlain &&
    Number(headers.get("content-length") ?? Infinity) <= limit;
}

/** Returns a reader. Deno allocates 64 KiB for each read of its own responses that has no buffer. */
function readerOf(body: ReadableStream, type: ResponseType): ReadableStreamBYOBReader {
  try {
    if (isDeno && type === "basic") return body.getReader({ mode: "byob" });
  } catch { /* It is no stream of bytes: a mock has made it. */ }
  return body.getReader() as object as ReadableStreamBYOBReader; // It ignores the buffer.
}
