/** Cancels what can be cancelled, and ignores how that ends. */
export function cancel(source: { cancel(): unknown } | null | undefined): void {
  (async () => await source?.cancel())().catch(() => {});
}

/** A `Uint8Array`, in the form that all versions of TypeScript accept as a body. */
export type Bytes = ReturnType<typeof Uint8Array.from>;

/** The part of a body that was read. */
export interface ReadBody {
  readonly bytes: Bytes;
  /** Whether that is all of it. */
  readonly isComplete: boolean;
  /** The error of the stream, or whatever else it failed with. */
  readonly thrown?: unknown;
}

interface Reader {
  /** Reads a chunk, into the view if the reader can do that. */
  read(view: Uint8Array): Promise<{ value?: unknown; done: boolean }>;
  cancel(): unknown;
}

const isDeno = /* @__PURE__ */ /^Deno\//.test(globalThis.navigator?.userAgent);

/**
 * Makes a reader. Deno 2.9 makes a buffer of 64 KiB for each read of a response, unless its caller
 * passes one: a chunked body then takes 1.3 times openapi-fetch's CPU time instead of twice. Other
 * byte streams may never end such a read (https://github.com/whatwg/streams/issues/1321).
 */
function readerOf(stream: ReadableStream<Uint8Array>, readsIntoView: boolean): Reader {
  try {
    if (readsIntoView) return stream.getReader({ mode: "byob" });
  } catch { /* It is not a byte stream. */ }
  return stream.getReader();
}

/**
 * Reads a stream up to a limit, beyond which it does not wait for anything.
 *
 * @param stream The stream, which may ignore signals.
 * @param limit The limit, in bytes.
 * @param signal Ends the reading.
 * @param isNative Whether it is the body of a response of the runtime's own.
 * @returns The part that was read; after an abort, which ends the stream, a part may look complete.
 */
export async function readStream(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
  signal: AbortSignal,
  isNative = false,
): Promise<ReadBody> {
  if (!stream) return { bytes: new Uint8Array(), isComplete: true };
  const readsIntoView = isDeno && isNative;
  const reader = readerOf(stream, readsIntoView);
  const stop = () => cancel(reader);
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  let view = new Uint8Array(readsIntoView ? 16 * 2 ** 10 : 0);
  let bytes = new Uint8Array(); // one that grows: a list of millions of tiny chunks fills memory
  let size = 0;
  const end = (rest: Omit<ReadBody, "bytes">) => ({ bytes: bytes.subarray(0, size), ...rest });
  try {
    for (;;) {
      const { value, done } = await reader.read(view);
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
      if (size >= limit) return end({ isComplete: false });
      // The next chunk is read into the same memory, whose content was copied.
      if (readsIntoView) view = new Uint8Array(value.buffer as ArrayBuffer);
    }
  } catch (thrown) {
    return end({ isComplete: false, thrown });
  } finally {
    signal.removeEventListener("abort", stop);
    cancel(reader);
  }
}
