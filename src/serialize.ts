import { createQuerySerializer, defaultBodySerializer, defaultPathSerializer } from "openapi-fetch";

import type { CallContext } from "./call.ts";
import { isPlainObject, optionError } from "./options.ts";
import { withoutQuery } from "./text.ts";

/** Checks the name of an endpoint, and returns it as a path. */
export function toPath(endpoint: unknown): string {
  if (typeof endpoint === "string" && /^[^?#{}]+$/.test(endpoint) && endpoint !== "/") {
    const path = endpoint.replace(/^\/?/, "/");
    if (isKept(path)) return path;
  }
  const example = "`reports/${encodeURIComponent(id)}`";
  const problem = `must be a name below "baseUrl", such as ${example}; set a query with "query"`;
  throw optionError("endpoint", problem);
}

/** Refuses a path that leads elsewhere. */
export function checkPath(path: string): void {
  if (!isKept(path)) throw optionError("path", 'must begin with "/", and stay below "baseUrl"');
}

/** Refuses path parameters that are missing or no segment of a path. */
export function checkParameters(path: string, parameters: Readonly<Record<string, unknown>> = {}) {
  const values = new Map(Object.entries(parameters)); // without inherited names
  // The forms of openapi-fetch: {id}, {id*}, {.id} and {;id}.
  for (const [, name = ""] of path.matchAll(/\{[.;]?([^{}*]+)\*?\}/g)) {
    const value = values.get(name) ?? "";
    const isObject = typeof value === "object" && !Array.isArray(value);
    if (!isObject && !["", ".", ".."].includes(`${value}`)) continue;
    const expected = 'a string, a number or a list that is neither empty, "." nor ".."';
    throw optionError("params.path", `must have for "${name}" ${expected}`);
  }
}

/** Tells whether the URL parser reads a path as it is written: not with "..", which it resolves. */
function isKept(path: string): boolean {
  const url = `https://service.example${path}`;
  const slashesOf = (url: string) => withoutQuery(url).replace(/[^/]+/g, "-");
  return /^\/[^\\]*$/.test(path) && slashesOf(new URL(url).href) === slashesOf(url);
}

/** Returns a URL as the URL parser reads it, and refuses one that is not below the base URL. */
export function parseUrl(url: string, context: CallContext): string {
  const href = URL.canParse(url) ? new URL(url).href : "";
  if (href.startsWith(context.baseUrl)) return href;
  throw optionError("path", 'must stay below "baseUrl", to protect the key', context);
}

const writeQuery = /* @__PURE__ */ createQuerySerializer();

/** How openapi-fetch writes parameters by default. */
export const serializers = {
  pathSerializer: (path: string, parameters: Record<string, unknown>) =>
    writeParameters("params.path", () => defaultPathSerializer(path, parameters)),
  querySerializer: (query: unknown) => writeParameters("query", () => writeQuery(query)),
};

/** Writes parameters, and makes an error for their option of a refusal, such as of half a character. */
function writeParameters(option: string, write: () => string): string {
  try {
    return write();
  } catch (error) {
    throw optionError(option, `cannot be written: ${(error as Error).message}`);
  }
}

/** Tells whether a media type is JSON, such as `application/problem+json`; not lines of JSON. */
export function isJsonType(type: string): boolean {
  return /^[^;]*(?<!nd)json\s*(;|$)/i.test(type);
}

// Its types lack the headers, of which it reads the `Content-Type`.
const serialize: (body: unknown, headers: Headers) => unknown = defaultBodySerializer;

/** Writes a body as openapi-fetch does, and refuses one of which JSON would keep nothing. */
export function serializeBody(body: unknown, headers: Headers, context: CallContext): unknown {
  let written: unknown;
  try {
    written = serialize(body, headers);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // by a `toJSON` of the caller's
    throw optionError("body", `cannot be written as JSON: ${error.message}`, context);
  }
  const isForm = headers.get("content-type") === "application/x-www-form-urlencoded";
  // JSON keeps nothing of a file or a `Map`. It writes bytes as an object, and so does Bun with forms.
  const isLost = written === undefined || (written === "{}" && !isPlainObject(body)) ||
    ArrayBuffer.isView(body) || body instanceof URLSearchParams;
  if (isForm || !isLost) return written;
  const advice = 'use a typed method, such as POST(), with a "bodySerializer"';
  throw optionError("body", `cannot be written as JSON: ${advice}`, context);
}
