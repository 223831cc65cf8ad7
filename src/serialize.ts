import type { CallContext } from "./call.ts";
import { optionError } from "./options.ts";
import { withoutQuery } from "./text.ts";

/**
 * A segment "." or "..", as the URL parser or a server may read it: percent-encoded, beside a
 * backslash, or with a parameter (`..;a`).
 */
const DOT_SEGMENT = /(^|[/\\]|%2f|%5c)(\.|%2e){1,2}(;|%3b|[/\\]|%2f|%5c|$)/i;

/** Tells whether a value is an object that is no array, `Map`, `Blob` or the like. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === "[object Object]";
}

/** Checks the name of an endpoint, and returns it as a path. */
export function toPath(endpoint: string): string {
  const path = endpoint.replace(/^\/?/, "/");
  if (/[{}]/.test(path)) {
    const example = "`reports/${encodeURIComponent(id)}`";
    throw optionError("endpoint", `must not have placeholders: write the value, as in ${example}`);
  }
  // No white space and no control characters: the URL parser removes those at the end.
  const isBelow = /^\/(?!\/|[a-z][a-z\d+.-]*:\/\/)[^?#\\\s\p{Cc}]+$/iu.test(path);
  if (isBelow && !DOT_SEGMENT.test(path)) return path;
  const problem = 'must be a name below "baseUrl", such as "report"; set a query with "query"';
  throw optionError("endpoint", problem);
}

/** Refuses a path, and path parameters, that lead elsewhere; also parameters that are missing or empty. */
export function checkPath(path: string, parameters: Readonly<Record<string, unknown>> = {}): void {
  const template = withoutQuery(path);
  if (DOT_SEGMENT.test(template) || template.includes("\\")) {
    const problem = 'must stay below "baseUrl": it has a segment "." or "..", or a backslash';
    throw optionError("path", problem);
  }
  const values = new Map(Object.entries(parameters)); // without inherited names
  // The forms of openapi-fetch: {id}, {id*}, {.id} and {;id}.
  for (const [, name = ""] of path.matchAll(/\{[.;]?([^{}*]+)\*?\}/g)) {
    const value = values.get(name);
    // A list or an object is written as its values.
    const parts = value === Object(value) ? Object.values(value as object) : [value];
    const isEmpty = parts.every((part) => `${part ?? ""}` === "");
    if (!isEmpty && !DOT_SEGMENT.test(parts.join())) continue;
    const expected = 'that is not empty, and has no segment "." or ".."';
    throw optionError("params.path", `must have a value for "${name}" ${expected}`);
  }
}

/** Writes a query; a list repeats the name; `null` and `undefined` are left out. */
export function toQuery(query: Readonly<Record<string, unknown>> = {}): string {
  if (!isPlainObject(query)) throw optionError("query", "must be an object of names and values");
  return writeParameters("query", query);
}

/** Writes an option, `query` or `body`, as `application/x-www-form-urlencoded`. */
function writeParameters(option: string, values: object, context?: CallContext): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === null || item === undefined) continue;
      const written = item instanceof Date ? item.toJSON() : item;
      const isText = typeof written === "string" || typeof written === "boolean";
      if (!isText && !Number.isFinite(written)) {
        const allowed = "a string, a number, a boolean, a Date or a list of these";
        throw optionError(option, `must have ${allowed} for "${name}"`, context);
      }
      parameters.append(name, `${written}`);
    }
  }
  return parameters.toString();
}

/** Tells whether a media type is JSON, such as `application/problem+json`; not lines of JSON. */
export function isJsonType(type: string): boolean {
  return /^[^;]*(?<!nd)json\s*(;|$)/i.test(type);
}

/** Writes a body: a form as it is, a string of a type other than JSON as it is, all others as JSON. */
export function serializeBody(context: CallContext, body: unknown, headers?: HeadersInit) {
  const type = new Headers(headers).get("content-type");
  if (body instanceof FormData) {
    if (!type) return body;
    const problem = 'must have no Content-Type with a FormData: "fetch" chooses its boundary';
    throw optionError("headers", problem, context);
  }
  if (type && /^application\/x-www-form-urlencoded/i.test(type)) {
    if (isPlainObject(body)) return writeParameters("body", body, context);
    if (typeof body === "string" || body instanceof URLSearchParams) {
      return new URLSearchParams(body).toString();
    }
    const problem = `must be an object, a string or URLSearchParams for the type "${type}"`;
    throw optionError("body", problem, context);
  }
  if (type && !isJsonType(type)) {
    if (typeof body === "string") return body;
    throw optionError("body", `must be a string for the type "${type}"`, context);
  }
  return writeJson(context, body);
}

/** Writes a body as JSON. */
function writeJson(context: CallContext, body: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(body);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // by a `toJSON` of the caller's
    throw optionError("body", `cannot be written as JSON: ${error.message}`, context);
  }
  // JSON keeps nothing of a file or a `Map`. It writes bytes as an object, and so does Bun with forms.
  const isLost = (text === "{}" && !isPlainObject(body)) || ArrayBuffer.isView(body) ||
    body instanceof URLSearchParams;
  if (text !== undefined && !isLost) return text;
  const advice = 'use a typed method, such as POST(), with a "bodySerializer"';
  throw optionError("body", `cannot be written as JSON: ${advice}`, context);
}
