import {
  createQuerySerializer,
  defaultBodySerializer,
  defaultPathSerializer,
  type QuerySerializer,
} from "openapi-fetch";

import type { ClientOptions } from "./api.ts";
import { checkObject, checkOneOf, convert, mustBe, wrong } from "./checks.ts";

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
  const requirement =
    'without a segment "." or "..", a backslash, a control character or a stray "%"';
  const decoded = convert(option, requirement, () => decodeURIComponent(path));
  // deno-lint-ignore no-control-regex
  const isOther = /[\\\0-\x1f\x7f]|(^|\/)\.\.?(;[^/]*)?(\/|$)/.test(decoded);
  if (isOther) throw wrong(option, `must be ${requirement}`);
}

/** Returns a URL without its query and fragment. */
export function withoutQuery(url: string): string {
  return url.replace(/[?#].*/s, "");
}

/**
 * Refuses a URL outside the base URL's origin, or with a path that could be read as another one.
 */
export function checkUrl(url: string, baseUrl: string): void {
  const isBelow = url.startsWith(baseUrl);
  const originOf = (url: string) =>
    convert("baseUrl", "an absolute URL", () => new URL(url).origin);
  if (!isBelow && originOf(url) !== originOf(baseUrl)) {
    throw wrong("baseUrl", "is at another origin than the request, which must not leave it");
  }
  checkPath("path", withoutQuery(isBelow ? url.slice(baseUrl.length) : url));
}

type PathSerializer = typeof defaultPathSerializer;

/**
 * Makes a path serializer that guards the URL that it gets: it refuses missing parameters, and what
 * leaves the base URL.
 *
 * @param serializer The caller's own, which may write parameters as it likes.
 * @param values The path parameters.
 * @param baseUrl The base URL.
 */
export function guardPath(
  serializer: PathSerializer | undefined,
  values: Record<string, unknown>,
  baseUrl: string,
): PathSerializer {
  return (template) => {
    if (!serializer) checkPathParameters(template, values);
    const url = `${(serializer ?? defaultPathSerializer)(template, values)}`;
    checkUrl(url, baseUrl);
    return url;
  };
}

/** Refuses path parameters that are missing, empty, or cannot be written. */
function checkPathParameters(template: string, values: Record<string, unknown>): void {
  for (const placeholder of template.match(/\{[^{}]+\}/g) ?? []) {
    const name = placeholder.replace(/^\{[.;]?|\*?\}$/g, "");
    let text = "";
    try {
      if (Object.keys(values).includes(name)) text = defaultPathSerializer(placeholder, values);
    } catch { /* A lone surrogate, or an object that is too deep: reported below. */ }
    if (text !== placeholder && !/^[.;]?$/.test(text)) continue;
    throw wrong(
      "params.path",
      `must have a value for "${name}" that is not empty and can be part of a URL`,
    );
  }
}

/** Writes a query; a list repeats the name, `null` and `undefined` are left out. */
export function toQuery(query: unknown = {}): string {
  checkObject("query", query);
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query as object)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === null || item === undefined) continue;
      const written = typeof item.toJSON === "function" ? item.toJSON() : item; // of a Date
      if (!/^(string|boolean)$/.test(typeof written) && !Number.isFinite(written)) {
        throw wrong("query", `must have a text, a number, a Date or a list of these as "${name}"`);
      }
      parameters.append(name, `${written}`);
    }
  }
  return parameters.toString();
}

const JSON_VALUE = "a value that JSON can represent";

/** Writes a body as JSON; refuses what has nothing in JSON, such as a form. */
export function toJson(value: unknown): string {
  const isKnown = Object(value) !== value || "toJSON" in (value as object) ||
    / (Array|Object)\]$/.test(Object.prototype.toString.call(value));
  return convert("body", JSON_VALUE, () => isKnown ? JSON.stringify(value) : undefined);
}

/** openapi-fetch's serializer of bodies. */
export function writeBody(...args: Parameters<typeof defaultBodySerializer>): BodyInit {
  return convert("body", JSON_VALUE, () => defaultBodySerializer(...args));
}

type QueryOptions = ClientOptions["querySerializer"];

/**
 * Makes a query serializer: the caller's own, or openapi-fetch's with the caller's options.
 *
 * @param own Of a call, or of the client.
 * @param inherited Of the client; a call's options are added to it.
 */
export function guardQuery(own: QueryOptions, inherited?: QueryOptions): QuerySerializer<unknown> {
  if (typeof own === "function") return own;
  checkObject("querySerializer", own ?? {});
  const write = createQuerySerializer({ ...typeof inherited === "object" && inherited, ...own });
  const requirement = "names with values, lists of values, or objects of values";
  return (query) => {
    checkObject("params.query", query);
    return convert("params.query", requirement, () => write(query));
  };
}
