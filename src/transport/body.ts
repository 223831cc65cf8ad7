const isDeno = /* @__PURE__ */ /^Deno\//.test(globalThis.navigator?.userAgent);

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
 * Reads a stream up to a limit, and cancels what it does not read.
 *
 * @param stream The stream, which may ignore signals.
 * @param limit The limit, in bytes.
 * @param signal Ends the reading.
 * @param isNative Whether the stream is of the runtime's own fetch.
 * @returns What was read.
 */
export async function readStream(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
  signal: AbortSignal,
  isNative: boolean,
): Promise<Body> {
  if (!stream) return { bytes: new Uint8Array(), isComplete: true };
  // Deno makes a large buffer for each read. With this one, a chunked body takes 1.3 times the CPU
  // time of openapi-fetch in place of 1.8 to 2.5 times.
  const isBuffered = isDeno && isNative;
  const reader = isBuffered ? stream.getReader({ mode: "byob" }) : stream.getReader();
  signal.addEventListener("abort", () => cancel(reader));
  if (signal.aborted) cancel(reader);
  let buffer: ArrayBufferLike = new ArrayBuffer(isBuffered ? 16 * 2 ** 10 : 0);
  let bytes = new Uint8Array(); // one that grows: a list of millions of tiny chunks fills memory
  let size = 0;
  const end = (rest: Omit<Body, "bytes">) => ({ bytes: bytes.subarray(0, size), ...rest });
  try {
    for (;;) {
      const chunk: { value?: unknown; done: boolean } = await reader.read(new Uint8Array(buffer));
      const { value, done } = chunk;
      if (done) return end({ isComplete: true });
      if (!ArrayBuffer.isView(value)) throw new TypeError("The body has a chunk that is not bytes");
      const length = Math.min(value.byteLength, limit - size);
      const part = new Uint8Array(value.buffer, value.byteOffset, length);
      if (size + length > bytes.length) {
        const larger = new Uint8Array(2 * (size + length));
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(part, size);
      size += length;
      if (length < value.byteLength) return end({ isComplete: false });
      if (isBuffered) buffer = value.buffer;
    }
  } catch (thrown) {
    return end({ isComplete: false, thrown });
  } finally {
    cancel(reader);
  }
}

/** Decodes a body as UTF-8, without a byte-order mark. */
export function decode(bytes: Bytes): string {
  return new TextDecoder().decode(bytes);
}
