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
export function shown(value: unknown, seen = new Set<unknown>()): string {
  if (seen.has(value)) return "";
  seen.add(value);
  if (typeof value !== "object" || value === null) return String(value);
  const texts = [
    inspect(value, { showHidden: true, depth: 8 }),
    JSON.stringify(value),
    ...(value instanceof Headers ? [...value].flat() : []),
  ];
  const { message, name, stack, cause } = value as Error;
  if (value instanceof Error) texts.push(`${value}`, message, name, stack!, shown(cause, seen));
  for (const key of Reflect.ownKeys(value)) {
    texts.push(String(key), shown(Reflect.get(value, key), seen));
  }
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
