/** The least number of functions in a stack: V8's ten may all be of this client and openapi-fetch. */
const MIN_FRAMES = 30;

/**
 * Gives an error a stack that starts at the caller of a function, as text. It is captured on another
 * error, which is dropped: V8 keeps the functions of a stack until it is read, with the requests and
 * responses that they use, and Deno keeps them even then.
 *
 * It also works where `Error` and its prototype are frozen.
 *
 * @param leftOut The function, which the stack leaves out, with what it has called.
 */
export function captureStack(error: Error, leftOut: (...parameters: never[]) => unknown): void {
  const other = Object.defineProperty(new Error(error.message), "name", { value: error.name });
  if (Error.captureStackTrace) {
    const { stackTraceLimit: limit } = Error;
    try {
      if (limit > 0) Reflect.set(Error, "stackTraceLimit", Math.max(limit, MIN_FRAMES));
      Error.captureStackTrace(other, leftOut);
    } finally {
      Reflect.set(Error, "stackTraceLimit", limit);
    }
  }
  error.stack = other.stack!;
  Object.defineProperty(error, "stack", { enumerable: false }); // which it would be in Firefox
}
