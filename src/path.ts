import { defaultPathSerializer } from "openapi-fetch";

import { convertOption, optionError, wrongType } from "./checks.ts";
import { withoutQuery } from "./transport/url.ts";

/** Checks the name of an endpoint, and returns it as a path. */
export function toPath(endpoint: unknown): string {
  if (typeof endpoint !== "string") throw wrongType("endpoint", "a string", endpoint);
  const path = endpoint.replace(/^\/?/, "/");
  if (/[{}]/.test(path)) {
    const example = "`reports/${encodeURIComponent(id)}`";
    throw optionError("endpoint", `must have values in place of parameters: ${example}`);
  }
  const problem =
    'must be a name below "baseUrl", such as "report", without spaces; set a query with "query"';
  // It has no scheme, no "//" at its start, and no query, fragment or space.
  const isBelow = /^\/(?![a-z][a-z\d+.-]*:\/\/|\/)[^?#\s]+$/i.test(path);
  if (!isBelow) throw optionError("endpoint", problem);
  checkPath("endpoint", path);
  return path;
}

/** Refuses a path that a URL parser, here or in the service, could read as another one. */
export function checkPath(option: string, path: string): void {
  const expected = 'without a segment "." or "..", a backslash, a control character or a stray "%"';
  const decoded = convertOption(option, expected, () => decodeURIComponent(path));
  // URL parsers remove spaces at the end, and some servers what follows a semicolon: `..;a` is `..`.
  // deno-lint-ignore no-control-regex
  const isAmbiguous = /[\\\0-\x1f\x7f]|(^|\/)\.\.?(;[^/]*)?(\/| *$)/.test(decoded);
  if (isAmbiguous) throw optionError(option, `must be ${expected}`);
}

/** Writes path parameters into an address. */
export type PathSerializer = typeof defaultPathSerializer;

/**
 * Makes a path serializer that refuses parameters which are missing, empty, or lead elsewhere. Its
 * template is the whole address, with the base URL.
 */
export function guardPath(serializePath: PathSerializer = defaultPathSerializer): PathSerializer {
  return (template, values) => {
    // Without a prototype, which would have a value for "{toString}".
    const own: Record<string, unknown> = { __proto__: null, ...values };
    const url = serializePath(template, own);
    const parameters = template.match(/\{[^{}]+\}/g) ?? [];
    // A lone brace is no parameter, and would be sent.
    const missing = [...parameters, "{", "}"].find((part) => url.includes(part));
    const name = missing ?? Object.keys(own).find((name) => isBlank(own[name]));
    if (name !== undefined) {
      throw optionError("params.path", `must have a value that is not empty for "${name}"`);
    }
    checkPath(Object.keys(own).length > 0 ? "params.path" : "path", withoutQuery(url));
    return url;
  };
}

/** Tells whether a path parameter is written as nothing: an empty string, list or object. */
function isBlank(value: unknown): boolean {
  return value === "" || typeof value === "object" && Object.values(value ?? {}).join("") === "";
}
