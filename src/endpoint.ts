import { defaultPathSerializer } from "openapi-fetch";

import { checkOneOf, mustBe, toPointer, wrong } from "./checks.ts";

/** The HTTP methods that fetch sends. */
export const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

/** Checks a method, and returns it in upper case. */
export function readMethod(method: unknown): string {
  const name = typeof method === "string" ? method.toUpperCase() : "";
  checkOneOf("method", name, METHODS);
  return name;
}

/** Whether requests with the method have no body. */
export function isBodiless(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/** Checks the name of an endpoint, and returns it as a path. */
export function toPath(endpoint: unknown): string {
  if (typeof endpoint !== "string") throw mustBe("endpoint", "a string", endpoint);
  const path = endpoint.replace(/^\/?/, "/");
  if (!/^\/(?![a-z][a-z\d+.-]*:|\/)[^?#\s]+$/i.test(path)) {
    throw wrong(
      "endpoint",
      'must be a name below "baseUrl", such as "report", without spaces; set a query with "query"',
    );
  }
  checkPath("endpoint", path);
  return path;
}

/** Refuses a path that a URL parser, here or in the service, could read as another one. */
export function checkPath(option: string, path: string): void {
  let decoded = "\\";
  try {
    decoded = decodeURIComponent(path);
  } catch { /* A stray "%", reported below. */ }
  // deno-lint-ignore no-control-regex
  if (/[\\\0-\x1f\x7f]|(^|\/)\.\.?(;[^/]*)?(\/|$)/.test(decoded)) {
    throw wrong(
      option,
      'must not contain a segment "." or "..", a backslash, a control character or a stray "%"',
    );
  }
}

/**
 * Refuses a URL outside the base URL's origin, or with a path that could be read as another one.
 */
export function checkUrl(url: string, baseUrl: string): void {
  const isBelow = url.startsWith(baseUrl);
  if (!isBelow && new URL(url).origin !== new URL(baseUrl).origin) {
    throw wrong("baseUrl", "is at another origin than the request, which must not leave it");
  }
  checkPath("path", (isBelow ? url.slice(baseUrl.length) : url).replace(/[?#].*/s, ""));
}

type PathSerializer = typeof defaultPathSerializer;

/**
 * Makes a path serializer that guards the URL that it gets: it refuses missing parameters, and what
 * leaves the base URL.
 *
 * @param serializer The caller's own, which may write parameters as it likes.
 * @param values The path parameters; without them, openapi-fetch calls no serializer.
 * @param baseUrl The base URL.
 */
export function guardPath(
  serializer: PathSerializer | undefined,
  values: Record<string, unknown> | undefined,
  baseUrl: string,
): PathSerializer {
  return (template) => {
    if (!serializer || !values) checkPathParameters(template, values);
    const url = values ? `${(serializer ?? defaultPathSerializer)(template, values)}` : template;
    checkUrl(url, baseUrl);
    return url;
  };
}

/** Refuses path parameters that are missing, empty, or cannot be written. */
function checkPathParameters(template: string, values: Record<string, unknown> = {}): void {
  for (const placeholder of template.match(/\{[^{}]+\}/g) ?? []) {
    let text = "";
    try {
      text = defaultPathSerializer(placeholder, values);
    } catch { /* A lone surrogate, or an object that is too deep: reported below. */ }
    if (text !== placeholder && !/^[.;]?$/.test(text)) continue;
    const name = placeholder.replace(/^\{[.;]?|\*?\}$/g, "");
    throw wrong(
      "params.path",
      `must have a value for "${name}" that is not empty and can be part of a URL`,
    );
  }
}

/**
 * Writes a query as JSON writes values: a list repeats the name, the fields of an object become
 * `name[field]`, `null` and `undefined` are left out.
 */
export function toQuery(query: unknown = {}): string {
  const record = JSON.parse(toJson(query, "query"));
  if (!isObject(record)) throw mustBe("query", "an object of names and values", query);
  const parameters = new URLSearchParams();
  const append = (name: string, value: unknown) => {
    if (Object(value) === value) {
      throw wrong("query", `must be flat, but "${name}" has an object or a list in another one`);
    }
    if (value !== null) parameters.append(name, `${value}`);
  };
  for (const [name, value] of Object.entries(record)) {
    if (isObject(value)) {
      Object.entries(value).forEach(([field, inner]) => append(`${name}[${field}]`, inner));
    } else for (const item of Array.isArray(value) ? value : [value]) append(name, item);
  }
  return parameters.toString();
}

function isObject(value: unknown): value is object {
  return Object(value) === value && !Array.isArray(value);
}

const JSON_TYPE = / (Array|Boolean|Null|Number|Object|String|Undefined)\]$/;

/** Writes a value as JSON, and refuses what JSON.stringify would leave out or change. */
export function toJson(value: unknown, option: string): string {
  const places = new Map<unknown, string>();
  let place = "";
  let json: string | undefined;
  try {
    json = JSON.stringify(value, function (name: string, value: unknown) {
      if (places.has(this)) place = `${places.get(this)}${toPointer(name)}`;
      places.set(value, place);
      const type = Object.prototype.toString.call(value);
      const isInfinite = type === "[object Number]" && !isFinite(value as number);
      const isInvalidDate = value === null && this[name] !== null;
      if (isInfinite || isInvalidDate || !JSON_TYPE.test(type)) throw new TypeError("Not in JSON");
      return value;
    });
  } catch { /* Reported below, with what JSON.stringify leaves out. */ }
  if (json !== undefined) return json;
  const where = place && `; the one at "${place}" is not`;
  throw wrong(option, `must be a value that JSON can represent${where}`);
}
