import type { Time } from "./time.ts";

const isDeno = /* @__PURE__ */ /^Deno\//.test(globalThis.navigator?.userAgent);

/** The size of the buffer that Deno reads into. */
const BUFFER_SIZE = isDeno ? 16 * 2 ** 10 : 0;

/** Collects bytes in one growing buffer, because a list of millions of tiny chunks fills memory. */
class Bytes {
  #buffer = new Uint8Array();
  size = 0;

  /** Appends bytes, up to a size. */
  append({ buffer, byteOffset, byteLength }: ArrayBufferView, limit: number): void {
    const bytes = new Uint8Array(buffer, byteOffset, Math.min(byteLength, limit - this.size));
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

/** Cancels what can be cancelled, and ignores how that ends. */
export function cancel(source: { cancel(): unknown } | null | undefined): void {
  (async () => await source?.cancel())().catch(() => {});
}

/** Opens a reader; the one of Deno reads into a buffer, which is much faster there. */
function openReader(stream: ReadableStream<unknown>): ReadableStreamBYOBReader {
  try {
    if (isDeno) return stream.getReader({ mode: "byob" });
  } catch { /* It is not a stream of bytes. */ }
  return stream.getReader() as unknown as ReadableStreamBYOBReader; // it ignores the buffer
}

/**
 * Reads a stream, up to one byte more than a limit, and cancels what it does not read.
 *
 * @param stream The stream; it may ignore signals, and never pause.
 * @param limit The limit, in bytes.
 * @param time Ends the reading.
 * @param isPartial Whether a stream that fails has the bytes that came before.
 * @returns What was read.
 */
export async function readStream(
  stream: ReadableStream<unknown>,
  limit: number,
  { signal, check }: Time,
  isPartial = false,
): Promise<BufferSource> {
  const reader = openReader(stream);
  const bytes = new Bytes();
  const stop = () => cancel(reader);
  let buffer: ArrayBufferLike = new ArrayBuffer(BUFFER_SIZE);
  let isDone = false;
  signal.addEventListener("abort", stop);
  try {
    while (bytes.size <= limit && !signal.aborted) {
      const chunk: { value?: unknown; done: boolean } = await reader.read(new Uint8Array(buffer));
      const { value, done } = chunk;
      check();
      isDone = done;
      if (done) break;
      if (!ArrayBuffer.isView(value)) throw new TypeError("The body has a chunk that is not bytes");
      bytes.append(value, limit + 1);
      if (isDeno && reader instanceof ReadableStreamBYOBReader) buffer = value.buffer;
    }
  } catch (error) {
    check();
    if (!isPartial) throw error;
  } finally {
    if (!isDone) stop();
    signal.removeEventListener("abort", stop);
  }
  return bytes.toArray();
}

let decoder: TextDecoder | undefined; // made when it is needed, because jsdom has none

/** Decodes a body as UTF-8, without a byte-order mark. */
export function decode(body: BufferSource): string {
  return (decoder ??= new TextDecoder()).decode(body);
}
