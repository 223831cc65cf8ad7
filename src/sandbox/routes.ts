/** What requests are compared with: a method and the end of a path. */
export interface Endpoint {
  readonly method: string;
  /** The segments of the path, decoded; one such as `{id}` is a parameter. */
  readonly segments: readonly string[];
}

/** Decodes a segment of a path; returns one with a malformed escape unchanged. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Splits a path into segments. */
function toSegments(path: string): string[] {
  return path.replace(/^\//, "").split("/").map(decodeSegment);
}

/** Parses a method and a path, such as `GET reports/{id}`. */
export function parseEndpoint(text: string): Endpoint {
  const [method, path] = text.split(" ") as [string, string];
  return { method, segments: toSegments(path) };
}

/**
 * Compares a request with an endpoint; returns the values of the parameters, or `undefined` if it does
 * not match. No parameter is empty.
 */
export function matchEndpoint(
  endpoint: Endpoint,
  method: string,
  pathname: string,
): Record<string, string> | undefined {
  if (method !== endpoint.method) return undefined;
  const values = toSegments(pathname).slice(-endpoint.segments.length);
  const params: [string, string][] = [];
  for (const [index, segment] of endpoint.segments.entries()) {
    const value = values[index]; // undefined when the path is shorter
    const [, name] = /^\{(.+)\}$/.exec(segment) ?? [];
    if (name ? !value : value !== segment) return undefined;
    if (name) params.push([name, value!]);
  }
  return Object.fromEntries(params);
}
