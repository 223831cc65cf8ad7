import { defaultBodySerializer, defaultPathSerializer } from "openapi-fetch";

import { optionError } from "./http/failures.ts";

/** Returns the name of an endpoint as a path. */
export function toPath(endpoint: string): string {
  const isAddress = /^\/?[\w+.-]+:\/\//.test(endpoint);
  if (!isAddress && /^\/?[^/?#][^?#]*$/.test(endpoint)) return endpoint.replace(/^\/?/, "/");
  const example = "`reports/${encodeURIComponent(id)}`";
  const problem = `must be a name below "baseUrl", such as ${example}; set a query with "query"`;
  throw optionError("endpoint", problem);
}

type PathSerializer = typeof defaultPathSerializer;

/** Makes a serializer that refuses a path that leads elsewhere, or lacks a parameter. */
export function checkedPathSerializer(
  write: PathSerializer = defaultPathSerializer,
): PathSerializer {
  return (url, parameters) => {
    const written = write(url, parameters);
    const isElsewhere = /[\s\p{Cc}\\?#{}]|\/(\.|%2e){1,2}(\/|$)/iu.test(written);
    if (!isElsewhere && !Object.values(parameters).includes("")) return written;
    const example = "`reports/${encodeURIComponent(id)}`";
    throw optionError("path", `must be complete, and without "." or a query, such as ${example}`);
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
  const isObject = Object.prototype.toString.call(body) === "[object Object]";
  const isLost = written === undefined || (written === "{}" && !isObject);
  if (!isLost && !ArrayBuffer.isView(body)) return written; // JSON writes bytes as an object.
  const advice = 'use a typed method, such as POST(), with a "bodySerializer"';
  throw optionError("body", `cannot be written as JSON: ${advice}`);
}
