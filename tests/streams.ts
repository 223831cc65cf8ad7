import { deferred } from "./outcome.ts";

/** A body that repeats a chunk until it is cancelled. */
export function endlessBody(chunk: Uint8Array, pause: number) {
  const { promise: cancelled, resolve } = deferred();
  let timer: ReturnType<typeof setInterval>;
  const body = new ReadableStream({
    start(controller) {
      timer = setInterval(() => controller.enqueue(chunk), pause);
    },
    cancel() {
      clearInterval(timer);
      resolve();
    },
  });
  return { body, cancelled };
}

/** A stream that is not a `ReadableStream`; its reader's `cancel` returns no promise. */
export function partialStream(
  next: () => unknown,
  cancel: () => unknown = () => {},
): ReadableStream<unknown> {
  const read = async () => {
    const value = await next();
    return { value, done: value === undefined };
  };
  return { getReader: () => ({ read, cancel }) } as unknown as ReadableStream<unknown>;
}

/** A response that is not a `Response` but has its parts, as another realm's has. */
export function partialResponse(status: number, body: unknown, more: object = {}): Response {
  const headers = { get: () => null, has: () => false, forEach() {} };
  const ok = status < 300;
  return {
    status,
    statusText: "",
    headers,
    body,
    bodyUsed: false,
    ok,
    ...more,
  } as unknown as Response;
}
