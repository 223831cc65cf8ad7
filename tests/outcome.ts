import { inspect } from "node:util";

/** Hands over what a promise rejects with. */
export async function caught(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`A rejection was expected, not ${inspect(value)}`);
}

/** Everything that a value shows of itself, and of all that hangs on it, to whoever logs it. */
export function shown(value: unknown): string {
  const texts = [inspect(value, { showHidden: true, depth: 8 }), JSON.stringify(value)];
  const seen = new Set<unknown>();
  const collect = (value: unknown) => {
    if (seen.has(value)) return;
    seen.add(value);
    if (value !== Object(value)) return void texts.push(String(value));
    if (value instanceof Headers) [...value].forEach(collect);
    if (value instanceof Error) {
      [`${value}`, value.message, value.name, value.stack].forEach(collect);
    }
    for (const key of Reflect.ownKeys(value as object)) {
      collect(key);
      collect(Reflect.get(value as object, key));
    }
  };
  collect(value);
  return texts.join("\n");
}

/** Makes the back-off between attempts as short as can be, until it is disposed of. */
export function withoutBackOff(): Disposable {
  const { random } = Math;
  Math.random = () => 0;
  return {
    [Symbol.dispose]() {
      Math.random = random;
    },
  };
}

/** A promise that is settled from outside. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => resolve = settle);
  return { promise, resolve };
}
