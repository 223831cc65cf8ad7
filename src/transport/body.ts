import type { Time } from "./time.ts";

const isDeno = /* @__PURE__ */ /^Deno\//.test(globalThis.navigator?.userAgent);

/** The size of the buffer that Deno reads into. */
const BUFFER_SIZE = 16 * 2 ** 10;

/** Cancels what can be cancelled, and ignores how that ends. */
export function cancel(source: { cancel(): unknown } | null | undefined): void {
  (async () => await source?.cancel())().catch(() => {});
}

/** What is known of a stream. */
export interface StreamOptions {
  /** Whether it comes from the runtime's own fetch, which Deno reads much faster into a buffer. */
  readonly isNative?: boolean;
  /** Called when it fails; without this, what was read is not enough, and the error is thrown. */
  readonly onError?: () => void;
}

/**
 * Reads a stream, up to one byte more than a limit, and cancels what it does not read.
 *
 * @param stream The stream; it may ignore signals, and never pause.
 * @param limit The limit, in bytes.
 * @param time Ends the reading.
 * @param options What is known of the stream.
 * @returns What was read.
 */
export async function readStream(
  stream: ReadableStream<unknown>,
  limit: number,
  { signal, check }: Time,
  { isNative = false, onError }: StreamOptions = {},
): Promise<BufferSource> {
  const isBuffered = isDeno && isNative;
  const reader = isBuffered ? stream.getReader({ mode: "byob" }) : stream.getReader();
  let bytes = new Uint8Array(); // one that grows: a list of millions of tiny chunks fills memory
  let size = 0;
  const stop = () => cancel(reader);
  let buffer: ArrayBufferLike = new ArrayBuffer(isBuffered ? BUFFER_SIZE : 0);
  let isDone = false;
  signal.addEventListener("abort", stop);
  try {
    while (size <= limit && !signal.aborted) {
      const chunk: { value?: unknown; done: boolean } = await reader.read(new Uint8Array(buffer));
      const { value, done } = chunk;
      check();
      isDone = done;
      if (done) break;
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
  } catch (error) {
    check();
    if (!onError) throw error;
    onError();
  } finally {
    if (!isDone) stop();
    signal.removeEventListener("abort", stop);
  }
  return bytes.subarray(0, size);
}

let decoder: TextDecoder | undefined; // made when it is needed, because jsdom has none

/** Decodes a body as UTF-8, without a byte-order mark. */
export function decode(body: BufferSource): string {
  return (decoder ??= new TextDecoder()).decode(body);
}
