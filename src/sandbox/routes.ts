/** What requests are compared with: a method and the end of a path. */
export interface Endpoint {
  readonly method: string;
  /** The segments of the path, decoded; one such as `{id}` is a parameter. */
  readonly segments: readonly string[];
  /** The method and the path without the names of the parameters. */
  readonly shape: string;
}

/** Splits a path into segments, decoded; one with a malformed escape stays as it is. */
function toSegments(path: string): string[] {
  return path.replace(/^\//, "").split("/").map((segment) => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return segment;
    }
  });
}

/** Parses a method and a path, such as `GET reports/{id}`. */
export function parseEndpoint(text: string): Endpoint {
  const [method, path] = text.split(" ") as [string, string];
  const segments = toSegments(path);
  return { method, segments, shape: text.replace(" /", " ").replace(/\{[^{}]*\}/g, "{}") };
}

/**
 * Compares an endpoint with the method and the path of a request; returns the values of the parameters,
 * none of which is empty, or `undefined` if they do not match.
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
