import { inspect } from "node:util";

/** Something that is expected to fail: a promise, or a function to call. */
type Attempt = Promise<unknown> | (() => unknown);

// deno-lint-ignore no-explicit-any
type Class<T> = abstract new (...args: any[]) => T;

/** Returns what a promise rejects with or a function throws. */
export async function caught(attempt: Attempt): Promise<unknown> {
  let value: unknown;
  try {
    value = await (typeof attempt === "function" ? attempt() : attempt);
  } catch (error) {
    return error;
  }
  throw new Error(`An error was expected, not ${inspect(value)}`);
}

/** Returns the error that an attempt fails with, which must be of the class. */
export async function failure<T>(errorClass: Class<T>, attempt: Attempt): Promise<T> {
  const error = await caught(attempt);
  if (error instanceof errorClass) return error;
  throw new Error(`A ${errorClass.name} was expected, not ${inspect(error)}`);
}

/** Returns the errors that attempts at the same time fail with, all of them of the class. */
export function failures<T>(errorClass: Class<T>, attempts: Attempt[]): Promise<T[]> {
  return Promise.all(attempts.map((attempt) => failure(errorClass, attempt)));
}

/** Everything that logging a value could show, with all values that can be reached from it. */
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

/** A promise that is settled from outside. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => resolve = settle);
  return { promise, resolve };
}
