// What the generated checks of responses consist of. Only they have names that begin with `check`.
import type { Issue } from "./http/errors.ts";

/** Checks a value; returns the first thing that does not match its schema, or `undefined`. */
// deno-lint-ignore no-explicit-any -- any value that JSON can have
export type Check = (value: any) => Issue | undefined;

/** Makes an issue; `path` is a JSON Pointer, `rule` a keyword of the schema. */
export const issueAt = (path: string, rule: string): Issue => ({ path, rule });

/** Moves an issue of a part of a value to where the part is. */
const below = (path: string, { path: rest, rule }: Issue): Issue => issueAt(path + rest, rule);

/** Checks a part of a value. */
export function findInPart(path: string, part: unknown, check: Check): Issue | undefined {
  const issue = check(part);
  return issue && below(path, issue);
}

/** Checks each item of a list. */
export function findInItems(path: string, list: readonly unknown[], check: Check) {
  for (let index = 0; index < list.length; index++) {
    const issue = check(list[index]);
    if (issue) return below(`${path}/${index}`, issue);
  }
}

/** Checks the properties of an object whose names the schema lacks. These may be secrets. */
export function findInOthers(path: string, object: object, known: readonly string[], check: Check) {
  for (const [name, value] of Object.entries(object)) {
    const issue = known.includes(name) ? undefined : check(value);
    if (issue) return below(`${path}/*`, issue);
  }
}

/** Tells whether an object has a property of its own. For `Object.hasOwn`, older versions of dnt add a polyfill. */
export const has = (object: object, name: string): boolean =>
  Object.prototype.hasOwnProperty.call(object, name);

/** Tells whether a value matches one of some schemas, or more. */
export const matchesAny = (value: unknown, checks: readonly Check[]): boolean =>
  checks.some((check) => !check(value));

/** Tells whether a value is an object of JSON. */
export const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Counts the characters of a text: one that has two units in JavaScript counts once. */
export const lengthOf = (text: string): number =>
  /[\ud800-\udfff]/.test(text) ? [...text].length : text.length;
