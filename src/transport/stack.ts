/**
 * Gives an error a stack that starts at the caller of a function, as text. V8 keeps the functions of a
 * stack that nobody has read, with the requests and responses that they use; Deno keeps them always.
 *
 * @param error The error, which may be frozen.
 * @param below The function.
 */
export function captureStack(error: Error, below: (...parameters: never[]) => unknown): void {
  if (!Object.isExtensible(error)) return;
  const copy = Object.assign(new Error(error.message), { name: error.name });
  Error.captureStackTrace?.(copy, below);
  error.stack = copy.stack!;
  Object.defineProperty(error, "stack", { enumerable: false }); // which Firefox makes it
}
