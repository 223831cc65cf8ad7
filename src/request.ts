import { ConfigurationError } from "./errors.ts";

/** Whether requests with the method have no body. */
export function isBodiless(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/**
 * Stands in for `Request` inside openapi-fetch and holds what one would be built from: building one
 * costs more than the rest of a call, and only middleware and a fetch of the caller's own need it.
 */
export class RequestFields {
  declare readonly url: string;
  declare readonly headers: Headers;

  constructor(url: string, init: RequestInit) {
    Object.assign(this, init, { url });
  }

  /** Lets openapi-fetch accept the real requests that middleware returns. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Request;
  }
}

/** Makes of a request what fetch takes any number of times. */
export async function repeatable(
  request: Request | RequestFields,
): Promise<[string | Request, RequestInit & { headers: Headers }]> {
  if (!(request instanceof Request)) return [request.url, { ...request }];
  const { method } = request;
  const headers = new Headers(request.headers);
  const body = isBodiless(method) ? undefined : await request.arrayBuffer();
  return [request, { method, headers, ...request.bodyUsed ? { body: body! } : {} }];
}

/** Writes a body as JSON, and refuses what JSON would leave out or write as `null`. */
export function toJson(body: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(body, (_name, value) => {
      if (typeof value === "number" && !Number.isFinite(value)) throw value;
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
      `"${name}" must not hold "." or ".." as a part, a backslash, a control character or a stray "%"`,
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
