// Waits for errors, and shows them as logs do.
import { inspect } from "node:util";

/** Something that is expected to fail: a promise, or a function to call. */
type Attempt = Promise<unknown> | (() => unknown);

type Class<T> = abstract new (...args: never[]) => T;

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
export async function rejection<T>(errorClass: Class<T>, attempt: Attempt): Promise<T> {
  const error = await caught(attempt);
  if (error instanceof errorClass) return error;
  throw new Error(`A ${errorClass.name} was expected, not ${inspect(error)}`);
}

/** Returns the errors that attempts at the same time fail with, all of them of the class. */
export function rejections<T>(errorClass: Class<T>, attempts: Attempt[]): Promise<T[]> {
  return Promise.all(attempts.map((attempt) => rejection(errorClass, attempt)));
}

/** Everything that logging a value could show. */
export function shown(value: unknown): string {
  const all = { showHidden: true, depth: 8, maxArrayLength: null, maxStringLength: null };
  return `${inspect(value, all)}\n${JSON.stringify(value)}`;
}
