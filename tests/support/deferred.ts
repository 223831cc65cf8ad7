/** A promise that is resolved from outside, as by `Promise.withResolvers()`, which Node.js 20 lacks. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => resolve = settle);
  return { promise, resolve };
}
