import {
  createFinalURL,
  createQuerySerializer,
  defaultPathSerializer,
  mergeHeaders,
  type Middleware,
  type ParseAs,
  type PathSerializer,
  type QuerySerializer,
  type QuerySerializerOptions,
} from "openapi-fetch";

import { ConfigurationError } from "./errors.ts";
import type { Context } from "./middleware.ts";
import type { CallOptions, ClientOptions } from "./options.ts";

/** What the methods take: openapi-fetch's options, and those of a single call. */
export interface Init extends CallOptions {
  baseUrl?: string;
  body?: unknown;
  bodySerializer?: (body: unknown, headers?: Headers) => BodyInit;
  fetch?: ClientOptions["fetch"];
  headers?: RequestInit["headers"] | undefined;
  middleware?: Middleware[];
  params?: {
    header?: Record<string, unknown>;
    path?: Record<string, unknown>;
    query?: Record<string, unknown>;
  };
  parseAs?: ParseAs;
  pathSerializer?: PathSerializer;
  querySerializer?: QuerySerializer<unknown> | QuerySerializerOptions;
}

/** Whether requests with the method have no body. */
export function isBodiless(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/** What fetch takes besides an address, any number of times. */
export interface Outgoing extends RequestInit {
  method: string;
  headers: Record<string, string>;
}

/** Says that what is sent is JSON, unless it says otherwise, or is a form, which fetch names. */
export function markJson({ headers, body }: Outgoing): void {
  if (!(body instanceof FormData)) headers["content-type"] ??= "application/json";
}

/** Builds what openapi-fetch would send, and what its middleware is told. */
export function build(
  method: string,
  path: string,
  {
    baseUrl,
    body,
    bodySerializer,
    fetch = globalThis.fetch,
    headers,
    params = {},
    parseAs = "json",
    pathSerializer = defaultPathSerializer,
    querySerializer: query,
    ...rest
  }: Omit<Init, keyof CallOptions>,
  defaultHeaders: Record<string, string>,
): { url: string; outgoing: Outgoing; context: Context } {
  const options = {
    baseUrl: `${baseUrl}`.replace(/\/$/, ""),
    parseAs,
    querySerializer: typeof query === "function" ? query : createQuerySerializer(query),
    bodySerializer: bodySerializer ?? toJson,
    pathSerializer,
    fetch: fetch as typeof globalThis.fetch,
  };
  const outgoing: Outgoing = { ...rest, method, headers: { ...defaultHeaders } };
  if (headers || params.header) {
    const more = Symbol.iterator in Object(headers) ? new Headers(headers) : headers;
    outgoing.headers = Object.fromEntries(
      mergeHeaders(defaultHeaders, more, params.header as RequestInit["headers"]),
    );
  }
  if (body !== undefined) {
    outgoing.body = bodySerializer
      ? bodySerializer(body, new Headers(outgoing.headers))
      : toJson(body);
    markJson(outgoing);
  }
  const url = createFinalURL(path, { ...options, params });
  return { url, outgoing, context: { schemaPath: path, params, options } };
}

/** Reads of a request what fetch takes any number of times. */
export async function repeatable(request: Request): Promise<Outgoing> {
  const { method } = request;
  const headers = Object.fromEntries(request.headers);
  const body = isBodiless(method) ? undefined : await request.arrayBuffer();
  return { method, headers, ...request.bodyUsed ? { body: body! } : {} }; // unused: it had none
}

const JSON_TYPE = / (Array|Boolean|Null|Number|Object|String|Undefined)\]$/;

/** Writes a body as JSON, and refuses what has no form there, instead of leaving it out. */
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

/** Refuses a path that a URL parser, here or at the service, could take for another one. */
export function checkPath(name: string, path: string): void {
  let decoded = "\\";
  try {
    decoded = decodeURIComponent(path);
  } catch { /* A stray "%", reported below. */ }
  // deno-lint-ignore no-control-regex
  if (/[\\\0-\x1f\x7f]|(^|\/)\.\.?(\/|$)/.test(decoded)) {
    throw new ConfigurationError(
      `"${name}" must not hold ".", "..", a backslash, a control character or a stray "%"`,
    );
  }
}

/** Checks the name of an endpoint and makes it a path. */
export function toPath(endpoint: unknown): string {
  const path = `${endpoint}`.replace(/^\/?/, "/");
  if (!/^\/(?![a-z][a-z\d+.-]*:|\/)[^?#\s]+$/i.test(path) || typeof endpoint !== "string") {
    throw new ConfigurationError(
      '"endpoint" must be a name below the base URL; a query goes into "query"',
    );
  }
  checkPath("endpoint", path);
  return path;
}
