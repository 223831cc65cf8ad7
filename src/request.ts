import { defaultBodySerializer, defaultPathSerializer } from "openapi-fetch";

import type { Method } from "./api.ts";
import {
  checkObject,
  classOf,
  convertOption,
  describeKind,
  optionError,
  typeError,
} from "./checks.ts";

/** The HTTP methods that fetch sends. */
export const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"] as const;

/** Checks a method, and returns it in upper case. */
export function readMethod(method: unknown): Method {
  const name = typeof method === "string" ? method.toUpperCase() : "";
  const known = METHODS.find((known) => known === name);
  if (known) return known;
  throw optionError("method", `must be one of ${METHODS.join(", ")}`);
}

/** Checks the name of an endpoint, and returns it as a path. */
export function toPath(endpoint: unknown): string {
  if (typeof endpoint !== "string") throw typeError("endpoint", "a string", endpoint);
  const path = endpoint.replace(/^\/?/, "/");
  if (/[{}]/.test(path)) {
    const example = "`reports/${encodeURIComponent(id)}`";
    throw optionError("endpoint", `must have values in place of parameters: ${example}`);
  }
  const advice =
    'must be a name below "baseUrl", such as "report", without spaces; set a query with "query"';
  if (!/^\/(?![a-z][a-z\d+.-]*:\/\/|\/)[^?#\s]+$/i.test(path)) {
    throw optionError("endpoint", advice);
  }
  checkPath("endpoint", path);
  return path;
}

/** Refuses a path that a URL parser, here or in the service, could read as another one. */
export function checkPath(option: string, path: string): void {
  const expected = 'without a segment "." or "..", a backslash, a control character or a stray "%"';
  const decoded = convertOption(option, expected, () => decodeURIComponent(path));
  // URL parsers remove spaces at the end.
  // deno-lint-ignore no-control-regex
  const isOther = /[\\\0-\x1f\x7f]|(^|\/)\.\.?(;[^/]*)?(\/| *$)/.test(decoded);
  if (isOther) throw optionError(option, `must be ${expected}`);
}

/** Returns a URL without its query and fragment. */
export function withoutQuery(url: string): string {
  return url.replace(/[?#].*/s, "");
}

type PathSerializer = typeof defaultPathSerializer;

/** Makes a path serializer that refuses parameters which are missing, empty, or lead elsewhere. */
export function guardPath(serializePath: PathSerializer = defaultPathSerializer): PathSerializer {
  return (template, values) => {
    const own = { __proto__: null, ...values }; // without a parameter named "toString"
    const url = serializePath(template, own);
    if (/[{}]/.test(url) || Object.values(own).some(isBlank)) {
      const problem = "must have a value that is not empty for each parameter";
      throw optionError("params.path", problem);
    }
    checkPath(Object.keys(own).length > 0 ? "params.path" : "path", withoutQuery(url));
    return url;
  };
}

/** Whether a path parameter is written as nothing: an empty string, list or object. */
function isBlank(value: unknown): boolean {
  return value === "" || typeof value === "object" && Object.values(value ?? {}).join("") === "";
}

/** Writes a query; a list repeats the name, `null` and `undefined` are left out. */
export function toQuery(query: unknown = {}): string {
  checkObject(query, "query");
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query as object)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === null || item === undefined) continue;
      const written = item instanceof Date ? item.toJSON() : item;
      const isText = typeof written === "string" || typeof written === "boolean";
      if (!isText && !Number.isFinite(written)) {
        const allowed = "a string, a number, a boolean, a Date or a list of these";
        throw optionError("query", `must have ${allowed} as "${name}"`);
      }
      parameters.append(name, `${written}`);
    }
  }
  return parameters.toString();
}

/**
 * Whether JSON loses a value: a `Map` or a `Blob` is written as `{}`, bytes as numbers, `NaN` as
 * `null`, a stream of Node.js as its internals. What has a `toJSON` of its own says what is written.
 */
function isLostInJson(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  if (Object.getPrototypeOf(value) === Object.prototype) return false; // as of most objects
  const name = classOf(value);
  // A `toJSON` of these loses them: a `Buffer` of Node.js, an invalid date, and the others on Bun
  // (https://github.com/oven-sh/bun/issues/18805).
  if (ArrayBuffer.isView(value) || ["FormData", "Headers", "URLSearchParams"].includes(name)) {
    return true;
  }
  const { pipe, toJSON } = value as { pipe?: unknown; toJSON?: unknown };
  if (typeof toJSON === "function") return name === "Date" && Number.isNaN(Number(value));
  if (name === "Error" || typeof pipe === "function") return true;
  return !["Boolean", "Number", "Object", "String"].includes(name) &&
    Object.keys(value).length === 0;
}

/** A value that JSON loses, and the name of its field. */
type Lost = { name: string; value: unknown };

/** Finds the first value that JSON loses. */
function findLost(value: unknown, name = "", seen = new Set()): Lost | undefined {
  if (isLostInJson(value)) return { name, value };
  if (typeof value !== "object" || value === null || seen.has(value)) return undefined;
  seen.add(value);
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return undefined;
  for (const [key, field] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const found = findLost(field, `${key}`, seen);
    if (found) return found;
  }
  return undefined;
}

/** Says what a value is that JSON loses. */
function describeLost(value: unknown): string {
  if (typeof value === "number") return `${value}`;
  if (classOf(value) === "Date") return "an invalid Date";
  const isNodeStream = typeof Object(value).pipe === "function"; // an object like any other
  return isNodeStream ? "a stream" : describeKind(value);
}

/** Writes a body as JSON; refuses what JSON would lose, at any depth. */
function writeJson(body: unknown, advice: string): string {
  let lost: Lost | undefined;
  try {
    lost = findLost(body);
    const written = lost ? undefined : JSON.stringify(body);
    if (written !== undefined) return written;
  } catch { /* It refers to itself, or has a BigInt; the message may quote a secret. */ }
  const kind = lost ? `, not ${describeLost(lost.value)}` : "";
  const where = lost?.name ? ` as "${lost.name}"` : "";
  throw optionError("body", `must be a value that JSON can represent${advice}${kind}${where}`);
}

/** Writes a body as JSON, and nothing else. */
export function toJson(body: unknown): string {
  return writeJson(body, "");
}

/** openapi-fetch's own serializer, whose type lacks the second argument. */
const serializeBody: (body: unknown, headers: unknown) => string = defaultBodySerializer;

/** Writes a body as openapi-fetch does, but refuses what JSON would lose. */
export function toBody(body: unknown, headers: Headers): FormData | string {
  if (body instanceof FormData) return body;
  if (headers.get("content-type") === "application/x-www-form-urlencoded") {
    const isForm = body instanceof URLSearchParams;
    const mayBeEmpty = isForm || body !== null && !isLostInJson(body);
    const write = () => serializeBody(body, headers) || (mayBeEmpty ? "" : undefined);
    return convertOption("body", "a value that a form can represent", write);
  }
  return writeJson(body, ' (or set "bodySerializer" and the header "Content-Type")');
}
