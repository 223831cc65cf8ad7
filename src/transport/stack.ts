/** How many functions a stack names: V8's ten may all be of this client and of openapi-fetch. */
const MAX_FRAMES = 30;

/**
 * Gives an error a stack that starts at the caller of a function, as text. It is captured on another
 * error, which is dropped: V8 keeps the functions of a stack until it is read, with the requests and
 * responses that they use, and Deno keeps them even then.
 *
 * It also works where `Error` and its prototype are frozen.
 *
 * @param error The error.
 * @param leftOut The function, which the stack leaves out, with what it has called.
 */
export function captureStack(error: Error, leftOut: (...parameters: never[]) => unknown): void {
  const other = Object.defineProperty(new Error(error.message), "name", { value: error.name });
  if (Error.captureStackTrace) {
    const { stackTraceLimit } = Error;
    Reflect.set(Error, "stackTraceLimit", MAX_FRAMES);
    Error.captureStackTrace(other, leftOut);
    Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  }
  error.stack = other.stack!;
  Object.defineProperty(error, "stack", { enumerable: false }); // which it would be in Firefox
}
