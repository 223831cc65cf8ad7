const isDeno = /* @__PURE__ */ /^Deno\//.test(globalThis.navigator?.userAgent);

/** The size of the buffer that Deno reads into. */
const BUFFER_SIZE = 16 * 2 ** 10;

/** Cancels what can be cancelled, and ignores how that ends. */
export function cancel(source: { cancel(): unknown } | null | undefined): void {
  (async () => await source?.cancel())().catch(() => {});
}

/** A `Uint8Array`, in the form that all versions of TypeScript accept as a body. */
export type Bytes = ReturnType<typeof Uint8Array.from>;

/** What was read of a body. */
export interface Body {
  readonly bytes: Bytes;
  /** Whether that is all of it. */
  readonly isComplete: boolean;
  /** What the stream failed with, if it did. */
  readonly thrown?: unknown;
}

/**
 * Reads a stream, up to one byte more than a limit, and cancels what it does not read.
 *
 * @param stream The stream, which may ignore signals.
 * @param limit The limit, in bytes.
 * @param signal Ends the reading.
 * @param isNative Whether it is of the runtime's own fetch, which Deno reads faster into a buffer.
 * @returns What was read.
 */
export async function readStream(
  stream: ReadableStream<unknown>,
  limit: number,
  signal: AbortSignal,
  isNative: boolean,
): Promise<Body> {
  const isBuffered = isDeno && isNative;
  const reader = isBuffered ? stream.getReader({ mode: "byob" }) : stream.getReader();
  signal.addEventListener("abort", () => cancel(reader));
  if (signal.aborted) cancel(reader);
  let bytes = new Uint8Array(); // one that grows: a list of millions of tiny chunks fills memory
  let size = 0;
  let buffer: ArrayBufferLike = new ArrayBuffer(isBuffered ? BUFFER_SIZE : 0);
  try {
    while (size <= limit) {
      const chunk: { value?: unknown; done: boolean } = await reader.read(new Uint8Array(buffer));
      const { value, done } = chunk;
      if (done) return { bytes: bytes.subarray(0, size), isComplete: true };
      if (!ArrayBuffer.isView(value)) throw new TypeError("The body has a chunk that is not bytes");
      const length = Math.min(value.byteLength, limit + 1 - size);
      if (size + length > bytes.length) {
        const larger = new Uint8Array(2 * (size + length));
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(new Uint8Array(value.buffer, value.byteOffset, length), size);
      size += length;
      if (isBuffered) buffer = value.buffer;
    }
    cancel(reader);
    return { bytes: bytes.subarray(0, size), isComplete: false };
  } catch (thrown) {
    cancel(reader);
    return { bytes: bytes.subarray(0, size), isComplete: false, thrown };
  }
}

let decoder: TextDecoder | undefined; // made once, because that takes time on Deno

/** Decodes a body as UTF-8, without a byte-order mark. */
export function decode(bytes: Bytes): string {
  return (decoder ??= new TextDecoder()).decode(bytes);
}
