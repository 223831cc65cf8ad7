import { defaultPathSerializer } from "openapi-fetch";

import { checkOneOf, checkPath, mustBe } from "./checks.ts";
import { ConfigurationError } from "./errors.ts";

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
    throw new ConfigurationError(
      '"endpoint" must be a name below "baseUrl", such as "report", without spaces; ' +
        'set a query with "query"',
    );
  }
  checkPath("endpoint", path);
  return path;
}

/** Refuses path parameters that are missing, empty, or cannot be written. */
export function checkPathParameters(path: string, values: Record<string, unknown> = {}): void {
  for (const [placeholder] of path.matchAll(/\{[^{}]+\}/g)) {
    let text = "";
    try {
      text = defaultPathSerializer(placeholder, values);
    } catch { /* A lone surrogate, or an object that is too deep: reported below. */ }
    if (text !== placeholder && !/^[.;]?$/.test(text)) continue;
    const name = placeholder.replace(/^\{[.;]?|\*?\}$/g, "");
    throw new ConfigurationError(
      `"params.path" must have a value for "${name}" that is not empty and can be part of a URL`,
    );
  }
}

/**
 * Writes a query: a list repeats the name, the fields of an object become `name[field]`, `null` and
 * `undefined` are left out.
 */
export function toQuery(query: unknown = {}): string {
  const parameters = new URLSearchParams();
  const append = (name: string, value: unknown) => {
    if (value !== undefined && value !== null) parameters.append(name, toText(value));
  };
  if (!isRecord(query)) throw mustBe("query", "an object of names and values", query);
  for (const [name, value] of Object.entries(query)) {
    if (isRecord(value)) {
      Object.entries(value).forEach(([field, inner]) => append(`${name}[${field}]`, inner));
    } else for (const item of Array.isArray(value) ? value : [value]) append(name, item);
  }
  return parameters.toString();
}

/** Whether a value is a plain object, and not one with its own form in JSON. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === "[object Object]" &&
    typeof (value as { toJSON?: unknown }).toJSON !== "function";
}

/** Writes a value of a query as JSON does, but strings without quotes. */
function toText(value: unknown): string {
  const { toJSON } = Object(value);
  const json = typeof toJSON === "function" ? toJSON.call(value) : value;
  if (/^(string|boolean)$/.test(typeof json) || Number.isFinite(json)) return `${json}`;
  throw mustBe("value in query", "a string, a finite number, a boolean or a Date", json);
}

const JSON_TYPE = / (Array|Boolean|Null|Number|Object|String|Undefined)\]$/;

/** Writes a body as JSON, and refuses values that JSON.stringify would leave out or change. */
export function toJson(body: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(body, (_name, value) => {
      const type = Object.prototype.toString.call(value);
      if (!JSON_TYPE.test(type) || (type === "[object Number]" && !isFinite(value))) throw value;
      return value;
    });
  } catch { /* Reported below, with what JSON.stringify leaves out. */ }
  if (json === undefined) {
    throw new ConfigurationError('"body" must be a value that JSON can represent');
  }
  return json;
}
