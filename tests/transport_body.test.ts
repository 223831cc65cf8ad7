import { expect } from "@std/expect";

import { TimeoutError } from "../src/errors.ts";
import { cancel, decode, readStream } from "../src/transport/body.ts";
import { type Time, within } from "../src/transport/time.ts";
import { caught, deferred, failure } from "./outcome.ts";
import { observedSignal } from "./signals.ts";
import { partialStream } from "./streams.ts";

/** Bytes that differ from their neighbours. */
const bytesOf = (length: number) => Uint8Array.from({ length }, (_, index) => index * 7);

const noLimit: Time = { signal: new AbortController().signal, check() {} };

/** The two types of streams. */
const types = [undefined, "bytes" as never as undefined];

/** Streams of chunks, by default and of bytes, and whether they were cancelled. */
function streamsOf(chunks: Uint8Array[], end?: Error) {
  return types.map((type) => {
    const left = chunks.map((chunk) => chunk.slice()); // a stream of bytes takes their buffers
    const state = { cancelled: false };
    const stream = new ReadableStream<Uint8Array>({
      type,
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
    return { stream, state };
  });
}

Deno.test("readStream() puts chunks of many sizes together", async () => {
  const body = bytesOf(20_000);
  const chunks: Uint8Array[] = [];
  for (let start = 0, size = 1; start < body.length; start += size++) {
    chunks.push(body.slice(start, start + size));
  }
  for (const list of [[], [body], chunks]) {
    for (const { stream, state } of streamsOf(list)) {
      const read = await readStream(stream, body.length, noLimit);
      expect(read).toEqual(list.length ? body : new Uint8Array());
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
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  expect(await readStream(stream, 100, noLimit)).toEqual(bytesOf(12).slice(1));
  const other = partialStream(() => chunks.shift());
  expect(await readStream(other, 100, noLimit)).toEqual(bytesOf(12).slice(1));
});

Deno.test("readStream() reads a stream that writes into the reader's buffer", async () => {
  for (const autoAllocateChunkSize of [undefined, 7]) {
    let left = 20_000;
    const stream = new ReadableStream({
      type: "bytes",
      ...autoAllocateChunkSize && { autoAllocateChunkSize },
      pull(controller) {
        const { byobRequest } = controller;
        if (left === 0) {
          controller.close();
          return void byobRequest?.respond(0);
        }
        const size = Math.min(left, byobRequest?.view?.byteLength ?? 999, 999);
        left -= size;
        if (!byobRequest) return controller.enqueue(new Uint8Array(size).fill(65));
        const { buffer, byteOffset } = byobRequest.view!;
        new Uint8Array(buffer, byteOffset, size).fill(65);
        byobRequest.respond(size);
      },
    });
    expect(await readStream(stream, 20_000, noLimit)).toEqual(new Uint8Array(20_000).fill(65));
  }
});

Deno.test("readStream() cancels a stream after one byte more than the limit", async () => {
  const body = bytesOf(1_000);
  const chunks = Array.from(
    { length: 10 },
    (_, index) => body.slice(100 * index, 100 * index + 100),
  );
  for (const limit of [0, 1, 99, 100, 555, 999]) {
    for (const list of [chunks, [body]]) {
      for (const { stream, state } of streamsOf(list)) {
        const read = await readStream(stream, limit, noLimit);
        expect(read).toEqual(body.slice(0, limit + 1));
        expect(state.cancelled).toBe(true);
      }
    }
  }
});

Deno.test("readStream() rejects when the stream fails, or has what came before", async () => {
  const end = new RangeError("boom");
  for (const { stream } of streamsOf([bytesOf(3), bytesOf(4)], end)) {
    expect(await caught(readStream(stream, 100, noLimit))).toBe(end);
  }
  for (const { stream } of streamsOf([bytesOf(3), bytesOf(4)], end)) {
    const read = await readStream(stream, 100, noLimit, { onError() {} });
    expect(read).toEqual(Uint8Array.of(...bytesOf(3), ...bytesOf(4)));
  }
});

Deno.test("readStream() refuses chunks that are not bytes, and cancels the stream", async () => {
  for (const chunk of ["text", 1, null, {}, [1], new ArrayBuffer(1)]) {
    const { promise: cancelled, resolve } = deferred();
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(chunk);
      },
      cancel: () => resolve(),
    });
    const error = await failure(TypeError, readStream(stream, 100, noLimit));
    expect(error.message).toBe("The body has a chunk that is not bytes");
    await cancelled;
  }
});

Deno.test("readStream() rejects when another reader has the stream", async () => {
  const stream = new ReadableStream();
  stream.getReader();
  await failure(TypeError, readStream(stream, 100, noLimit));
});

// Streams that do not end

for (const isPartial of [false, true]) {
  const kind = isPartial ? "whose part is enough" : "that is needed whole";
  Deno.test(`readStream() ends in time with a stream ${kind} that never pauses`, async () => {
    for (const chunk of [new Uint8Array(), new Uint8Array(1)]) {
      const { promise: cancelled, resolve } = deferred();
      const end = Date.now() + 5_000; // so that no test hangs
      const next = () => Date.now() < end ? chunk : undefined;
      const streams = [
        new ReadableStream({ pull: (controller) => controller.enqueue(next()), cancel: resolve }),
        partialStream(next),
      ];
      for (const stream of streams) {
        await failure(
          TimeoutError,
          within(
            { timeout: 10, signals: [] },
            (time) => readStream(stream, Infinity, time, isPartial ? { onError() {} } : {}),
          ),
        );
      }
      await cancelled;
    }
  });
}

Deno.test("readStream() cancels a stream when it is aborted during a read", async () => {
  for (const type of types) {
    const { promise: pulled, resolve: pull } = deferred();
    const { promise: cancelled, resolve: cancel } = deferred();
    const { signal, abort, listeners } = observedSignal();
    const stream = new ReadableStream({ type, pull: () => pull(), cancel }, { highWaterMark: 0 });
    const reading = readStream(stream, 100, { signal, check() {} });
    await pulled;
    expect(listeners.size).toBe(1);
    abort();
    await cancelled;
    expect(await reading).toEqual(new Uint8Array());
    expect(listeners.size).toBe(0);
  }
});

Deno.test("readStream() reads nothing when it is aborted, and cancels the stream", async () => {
  for (const { stream, state } of streamsOf([bytesOf(3)])) {
    const time = { signal: AbortSignal.abort(), check() {} };
    expect(await readStream(stream, 100, time)).toEqual(new Uint8Array());
    expect(state.cancelled).toBe(true);
  }
});

Deno.test("readStream() ends whatever becomes of cancelling the stream", async () => {
  const cancels: (() => unknown)[] = [
    () => {}, // no promise
    () => new Promise(() => {}),
    () => Promise.reject(new Error("The stream cannot be cancelled")),
    () => {
      throw new Error("The stream cannot be cancelled");
    },
  ];
  for (const cancel of cancels) {
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(bytesOf(8)),
      cancel: cancel as () => void,
    });
    expect(await readStream(stream, 3, noLimit)).toEqual(bytesOf(4));
    expect(await readStream(partialStream(() => bytesOf(8), cancel), 3, noLimit))
      .toEqual(bytesOf(4));
    const waiting = partialStream(() => new Promise(() => {}), cancel);
    await failure(
      TimeoutError,
      within({ timeout: 5, signals: [] }, (time) => readStream(waiting, 3, time)),
    );
  }
});

Deno.test("cancel() ignores what cannot be cancelled", async () => {
  const locked = new ReadableStream();
  locked.getReader();
  for (const source of [undefined, null, locked, {} as ReadableStream]) cancel(source);
  await new Promise((resolve) => setTimeout(resolve)); // a rejection would be reported now
});

Deno.test("decode() reads UTF-8, without a byte-order mark", () => {
  const text = "größer als €100 😀";
  expect(decode(new TextEncoder().encode(`\ufeff${text}`))).toBe(text);
  expect(decode(Uint8Array.of(0x61, 0xff, 0xf0, 0x9f))).toBe("a\ufffd\ufffd");
  expect(decode(new Uint8Array())).toBe("");
});
