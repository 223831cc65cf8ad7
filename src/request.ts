import { defaultBodySerializer, defaultPathSerializer } from "openapi-fetch";

import type { Method } from "./api.ts";
import { checkObject, classOf, convertOption, optionError, typeError } from "./checks.ts";
import type { ConfigurationError } from "./errors.ts";

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

/** What a body must be. */
const JSON_VALUE = "a value that JSON can represent";

/**
 * Whether JSON has lost a value: what has no fields is written as `{}`, bytes as numbers, and a
 * stream of Node.js as its internals. What has a `toJSON` of its own says what is written.
 */
function isLostInJson(value: unknown, written: string): boolean {
  const { pipe, toJSON } = Object(value);
  const name = classOf(value);
  // These have a `toJSON` that is not their own: a `Buffer` of Node.js, and the other two on Bun
  // (https://github.com/oven-sh/bun/issues/18805).
  if (ArrayBuffer.isView(value) || name === "FormData" || name === "URLSearchParams") return true;
  if (typeof toJSON === "function") return false;
  const isEmpty = !written || written === "{}";
  return typeof pipe === "function" || isEmpty && !["Array", "Object", "String"].includes(name);
}

/** Makes the error for a body that JSON would lose. */
function lostBodyError(body: unknown, expected: string): ConfigurationError {
  const isNodeStream = typeof Object(body).pipe === "function"; // an object like any other
  if (isNodeStream) return optionError("body", `must be ${expected}, not a stream`);
  return typeError("body", expected, body);
}

/** Writes a body as JSON; refuses what JSON cannot represent, such as a form. */
export function toJson(body: unknown): string {
  const written = convertOption("body", JSON_VALUE, () => JSON.stringify(body));
  if (isLostInJson(body, written)) throw lostBodyError(body, JSON_VALUE);
  return written;
}

/** openapi-fetch's own serializer, whose type lacks the second argument. */
const serializeBody: (body: unknown, headers: unknown) => string = defaultBodySerializer;

/** Writes a body as openapi-fetch does, but refuses what JSON would lose. */
export function toBody(body: unknown, headers: unknown): FormData | string {
  if (body instanceof FormData) return body;
  const written = serializeBody(body, headers);
  const isForm = body instanceof URLSearchParams && written === `${body}`; // as the header says
  if (isForm || !isLostInJson(body, written)) return written;
  const advice = 'or set "bodySerializer" and the header "Content-Type"';
  throw lostBodyError(body, `${JSON_VALUE} (${advice})`);
}
