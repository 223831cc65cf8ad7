import { defaultPathSerializer } from "openapi-fetch";

import { checkPath, kindOf } from "./checks.ts";
import { ConfigurationError } from "./errors.ts";

/** The methods of HTTP that fetch sends. */
export const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

/** Checks a method, and writes it in upper case. */
export function readMethod(method: unknown): string {
  const name = typeof method === "string" ? method.toUpperCase() : "";
  if (METHODS.includes(name)) return name;
  throw new ConfigurationError(`"method" must be one of ${METHODS.join(", ")}`);
}

/** Whether requests with the method have no body. */
export function isBodiless(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/** Checks the name of an endpoint and makes it a path. */
export function toPath(endpoint: unknown): string {
  if (typeof endpoint !== "string") {
    throw new ConfigurationError(`"endpoint" must be a string, not ${kindOf(endpoint)}`);
  }
  const path = endpoint.replace(/^\/?/, "/");
  if (!/^\/(?![a-z][a-z\d+.-]*:|\/)[^?#\s]+$/i.test(path)) {
    throw new ConfigurationError(
      '"endpoint" must be a name below the base URL, without white space; a query goes into "query"',
    );
  }
  checkPath("endpoint", path);
  return path;
}

/** Refuses parameters that would leave a segment of a path empty or a placeholder in it. */
export function checkPathParameters(path: string, values: Record<string, unknown> = {}): void {
  for (const [placeholder] of path.matchAll(/\{[^{}]+\}/g)) {
    let text = "";
    try {
      text = defaultPathSerializer(placeholder, values);
    } catch { /* A lone surrogate, or an object too deep: reported below. */ }
    if (text !== placeholder && !/^[.;]?$/.test(text)) continue;
    const name = placeholder.replace(/^\{[.;]?|\*?\}$/g, "");
    throw new ConfigurationError(
      `"params.path" must have a value for "${name}" that is not empty and that a URL can hold`,
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
    if (value !== undefined && value !== null) parameters.append(name, toText(name, value));
  };
  for (const [name, value] of fieldsOf("query", query)) {
    if (Array.isArray(value)) value.forEach((item) => append(name, item));
    else if (isRecord(value)) {
      fieldsOf(name, value).forEach(([field, inner]) => append(`${name}[${field}]`, inner));
    } else append(name, value);
  }
  return parameters.toString();
}

/** Whether a value is an object of fields, which does not write itself as something else. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === "[object Object]" &&
    typeof (value as { toJSON?: unknown }).toJSON !== "function";
}

function fieldsOf(name: string, value: unknown): [string, unknown][] {
  if (isRecord(value)) return Object.entries(value);
  throw new ConfigurationError(`"${name}" must be an object of fields, not ${kindOf(value)}`);
}

/** Writes a value of a query as JSON does, but a text without quotes. */
function toText(name: string, value: unknown): string {
  const { toJSON } = Object(value);
  const json = typeof toJSON === "function" ? toJSON.call(value) : value;
  if (typeof json === "string" || typeof json === "boolean" || Number.isFinite(json)) {
    return `${json}`;
  }
  throw new ConfigurationError(
    `"${name}" in "query" must be text, a finite number, a boolean, a Date, or a list or an object ` +
      `of these, and holds ${kindOf(json)}`,
  );
}

const JSON_TYPE = / (Array|Boolean|Null|Number|Object|String|Undefined)\]$/;

/** Writes a body as JSON, and refuses what has no form there instead of leaving it out. */
export function toJson(body: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(body, (_name, value) => {
      const type = Object.prototype.toString.call(value);
      if (!JSON_TYPE.test(type) || (type === "[object Number]" && !isFinite(value))) throw value;
      return value;
    });
  } catch { /* Reported below, with what JSON.stringify leaves out. */ }
  if (json === undefined) throw new ConfigurationError('"body" must be a value that JSON can hold');
  return json;
}
