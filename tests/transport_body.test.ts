import { expect } from "@std/expect";

import { cancel, decode, readStream } from "../src/transport/body.ts";
import { deferred } from "./outcome.ts";
import { expectLinear } from "./growth.ts";
import { partialStream } from "./streams.ts";

/** Bytes that differ from their neighbours. */
const bytesOf = (length: number) => Uint8Array.from({ length }, (_, index) => index * 7);

const unused = () => new AbortController().signal;

/**
 * Makes streams of chunks that fail or end after the last one, and are read in each way: without
 * and with a buffer of the reader's, which Deno uses for its own fetch.
 */
function streamsOf(chunks: Uint8Array[], end?: Error) {
  return [false, true].map((isNative) => {
    const left = chunks.map((chunk) => chunk.slice()); // a stream of bytes takes their buffers
    const state = { cancelled: false };
    const stream = new ReadableStream<Uint8Array>({
      ...isNative && { type: "bytes" as never },
      pull(controller) {
        const chunk = left.shift();
        if (chunk) return controller.enqueue(chunk);
        if (end) return controller.error(end);
        controller.close();
        (controller as { byobRequest?: ReadableStreamBYOBRequest | null }).byobRequest?.respond(0);
      },
      cancel() {
        state.cancelled = true;
      },
    }, { highWaterMark: 0 });
    return { stream, state, isNative };
  });
}

Deno.test("readStream() puts chunks of many sizes together", async () => {
  const body = bytesOf(40_000);
  const chunks: Uint8Array[] = [];
  for (let start = 0, size = 1; start < body.length; start += size++) {
    chunks.push(body.slice(start, start + size));
  }
  for (const list of [[], [body], chunks]) {
    for (const { stream, state, isNative } of streamsOf(list)) {
      const { bytes, ...rest } = await readStream(stream, body.length, unused(), isNative);
      expect(rest).toEqual({ isComplete: true });
      expect(bytes.join()).toBe(list.length ? body.join() : ""); // which is fast
      expect(state.cancelled).toBe(false);
    }
  }
});

Deno.test("readStream() reads views of any type, and empty ones", async () => {
  const { buffer } = bytesOf(12);
  const chunks = [
    new Uint8Array(),
    new Uint8Array(buffer, 1, 2),
    new DataView(buffer, 3, 1),
    new Uint8Array(buffer, 4, 0),
    new Uint32Array(buffer, 4, 2),
  ];
  const { bytes } = await readStream(partialStream(() => chunks.shift()), 100, unused(), false);
  expect(bytes).toEqual(bytesOf(12).slice(1));
});

Deno.test("readStream() takes time that is linear when all chunks are tiny", async () => {
  const chunk = new Uint8Array(1);
  await expectLinear(async (size) => {
    let left = size;
    const { bytes } = await readStream(
      partialStream(() => left-- > 0 ? chunk : undefined),
      size,
      unused(),
      false,
    );
    expect(bytes.length).toBe(size);
  }, 2 ** 14);
});

Deno.test("readStream() cancels a stream after one byte more than the limit", async () => {
  const body = bytesOf(1_000);
  const chunks = Array.from(
    { length: 10 },
    (_, index) => body.slice(100 * index, 100 * index + 100),
  );
  for (const limit of [1, 99, 100, 555, 999]) {
    for (const list of [chunks, [body]]) {
      for (const { stream, state, isNative } of streamsOf(list)) {
        const read = await readStream(stream, limit, unused(), isNative);
        expect(read).toEqual({ bytes: body.slice(0, limit + 1), isComplete: false });
        expect(state.cancelled).toBe(true);
      }
    }
  }
});

Deno.test("readStream() has what came before the stream failed, and the failure", async () => {
  const thrown = new RangeError("boom");
  for (const { stream, isNative } of streamsOf([bytesOf(3), bytesOf(4)], thrown)) {
    const bytes = Uint8Array.of(...bytesOf(3), ...bytesOf(4));
    const read = await readStream(stream, 100, unused(), isNative);
    expect(read).toEqual({ bytes, isComplete: false, thrown });
  }
});

Deno.test("readStream() fails with chunks that are not bytes, and cancels the stream", async () => {
  for (const chunk of ["text", null, [1], new ArrayBuffer(1)]) {
    const { promise: cancelled, resolve } = deferred();
    const stream = partialStream(() => chunk, resolve);
    const { isComplete, thrown } = await readStream(stream, 100, unused(), false);
    expect(isComplete).toBe(false);
    expect(thrown).toEqual(new TypeError("The body has a chunk that is not bytes"));
    await cancelled;
  }
});

Deno.test("readStream() cancels a stream when it is aborted during a read", async () => {
  for (const isNative of [false, true]) {
    const { promise: pulled, resolve: pull } = deferred();
    const { promise: cancelled, resolve: cancel } = deferred();
    const type = isNative ? "bytes" as never : undefined;
    const stream = new ReadableStream({ type, pull: () => pull(), cancel }, { highWaterMark: 0 });
    const controller = new AbortController();
    const reading = readStream(stream, 100, controller.signal, isNative);
    await pulled;
    controller.abort();
    await cancelled;
    expect((await reading).bytes).toEqual(new Uint8Array());
  }
});

Deno.test("cancel() ignores what cannot be cancelled", async () => {
  const locked = new ReadableStream();
  locked.getReader();
  const throwing = () => {
    throw new Error("It cannot be cancelled");
  };
  const sources = [{ cancel: throwing }, { cancel: () => Promise.reject(new Error("No")) }];
  for (const source of [undefined, null, locked, ...sources]) cancel(source);
  await new Promise((resolve) => setTimeout(resolve)); // a rejection would be reported now
});

Deno.test("decode() reads UTF-8, without a byte-order mark", () => {
  const text = "größer als €100 😀";
  expect(decode(new TextEncoder().encode(`\ufeff${text}`))).toBe(text);
  expect(decode(Uint8Array.of(0x61, 0xff, 0xf0, 0x9f))).toBe("a\ufffd\ufffd");
});
