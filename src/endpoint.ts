import { defaultPathSerializer } from "openapi-fetch";

import { checkObject, classOf, convert, mustBe, wrong } from "./checks.ts";

/** The HTTP methods that fetch sends. */
export const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

/** Checks a method, and returns it in upper case. */
export function readMethod(method: unknown): string {
  const name = typeof method === "string" ? method.toUpperCase() : "";
  if (METHODS.includes(name)) return name;
  throw wrong("method", `must be one of ${METHODS.join(", ")}`);
}

/** Checks the name of an endpoint, and returns it as a path. */
export function toPath(endpoint: unknown): string {
  if (typeof endpoint !== "string") throw mustBe("endpoint", "a string", endpoint);
  const path = endpoint.replace(/^\/?/, "/");
  const advice =
    'must be a name below "baseUrl", such as "report", without spaces; set a query with "query"';
  if (!/^\/(?![a-z][a-z\d+.-]*:|\/)[^?#\s]+$/i.test(path)) throw wrong("endpoint", advice);
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

type PathSerializer = typeof defaultPathSerializer;

/** Makes a path serializer that refuses parameters which are missing, empty, or lead elsewhere. */
export function guardPath(serialize: PathSerializer = defaultPathSerializer): PathSerializer {
  return (template, values) => {
    const url = serialize(template, values);
    if (/[{}]/.test(url) || Object.values(values).some(isEmpty)) {
      throw wrong("params.path", "must have a value that is not empty for each parameter");
    }
    checkPath(Object.keys(values).length > 0 ? "params.path" : "path", withoutQuery(url));
    return url;
  };
}

/** Whether a path parameter is written as nothing: an empty string, list or object. */
function isEmpty(value: unknown): boolean {
  return /^(object|string)$/.test(typeof value) && Object.values(value ?? "").join("") === "";
}

/** Writes a query; a list repeats the name, `null` and `undefined` are left out. */
export function toQuery(query: unknown = {}): string {
  checkObject("query", query);
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query as object)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === null || item === undefined) continue;
      const written = item instanceof Date ? item.toJSON() : item;
      if (!/^(string|boolean)$/.test(typeof written) && !Number.isFinite(written)) {
        throw wrong(
          "query",
          `must have a string, a number, a Date or a list of these as "${name}"`,
        );
      }
      parameters.append(name, `${written}`);
    }
  }
  return parameters.toString();
}

/** Writes a body as JSON; refuses what JSON cannot represent, such as a form. */
export function toJson(value: unknown): string {
  const isKnown = Object(value) !== value || "toJSON" in (value as object) ||
    /^(Array|Object)$/.test(classOf(value));
  const requirement = "a value that JSON can represent";
  return convert("body", requirement, () => isKnown ? JSON.stringify(value) : undefined);
}
