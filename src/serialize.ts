import { defaultBodySerializer, defaultPathSerializer } from "openapi-fetch";

import { ofCall, optionError } from "./http/failures.ts";

const WITHOUT_VALUE = "has a parameter without a value";

/** Tells why a path cannot be sent: it leads elsewhere, or lacks a parameter. */
function problemOf(path: string): string | undefined {
  if (/\/(\.|%2e){1,2}(\/|$)/i.test(path)) return 'has "." or ".." as a segment';
  if (/[{}]/.test(path)) return WITHOUT_VALUE;
  if (/[?#]/.test(path)) return 'has "?" or "#": pass a query as an option';
  if (!/[\s\p{Cc}\\]/u.test(path)) return undefined;
  return "must be encoded, with encodeURIComponent()";
}

/** Returns the path of an endpoint, and refuses what cannot be sent. */
export function toPath(endpoint: string): string {
  const isAddressOrEmpty = /^\/?$|^(\/?[\w+.-]+:)?\/\//.test(endpoint);
  const path = endpoint.replace(/^\/?/, "/");
  const problem = isAddressOrEmpty ? 'must be the part after "baseUrl"' : problemOf(path);
  if (problem) throw optionError("endpoint", problem);
  return path;
}

type PathSerializer = typeof defaultPathSerializer;

/** Makes a serializer that refuses what cannot be sent. */
export function checkedPathSerializer(
  write: PathSerializer = defaultPathSerializer,
): PathSerializer {
  return (url, parameters) => {
    const path = write(url, parameters);
    const isEmpty = Object.values(parameters).some((value) => `${value}` === "");
    const problem = isEmpty ? WITHOUT_VALUE : problemOf(path);
    if (problem) throw ofCall(optionError("path", problem));
    return path;
  };
}

/** Encodes the names of a query, which openapi-fetch writes as they are. */
export function encodeNames(query: object): object {
  const pairs = Object.entries(query).map(([name, value]) => [encodeURIComponent(name), value]);
  return Object.fromEntries(pairs);
}

// Its types lack the headers, of which it reads the `Content-Type`.
const serialize: (body: unknown, headers: Headers) => unknown = defaultBodySerializer;

/** Writes a body as openapi-fetch does, and refuses one of which JSON would keep nothing. */
export function serializeBody(body: unknown, headers: Headers): unknown {
  const written = serialize(body, headers);
  const isForm = headers.get("content-type") === "application/x-www-form-urlencoded";
  const isObject = Object.prototype.toString.call(body) === "[object Object]";
  // JSON writes bytes as an object, and so does Bun with forms.
  const isLost = written === undefined || (written === "{}" && !isObject) ||
    ArrayBuffer.isView(body) || body instanceof URLSearchParams;
  if (isForm || !isLost) return written;
  const problem = 'cannot be written as JSON: use POST() with a "bodySerializer"';
  throw ofCall(optionError("body", problem));
}
