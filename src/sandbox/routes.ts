/** A method and a path that requests are compared with, and what they lead to. */
export interface Route<Target> {
  method: string;
  /** The parts of the path; one such as `{id}` is a parameter. */
  segments: string[];
  target: Target;
}

/** Decodes a segment of a URL's path; returns one with a malformed escape unchanged. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Parses a path, such as `/reports/{id}`. */
function parsePath(path: string): string[] {
  return path.replace(/^\//, "").split("/").map(decodeSegment);
}

/** Parses a method and a path, such as `GET reports/{id}`. */
export function parseRoute<Target>(endpoint: string, target: Target): Route<Target> {
  const [method, path] = endpoint.split(" ") as [string, string];
  return { method, segments: parsePath(path), target };
}

const PARAMETER = /^\{([^{}]+)\}$/;

/**
 * Compares two routes, to sort them: more segments come first; then, in the leftmost segment that
 * is a parameter of only one of the two, the name comes first.
 */
export function compareRoutes(one: Route<unknown>, other: Route<unknown>): number {
  const difference = other.segments.length - one.segments.length;
  if (difference !== 0) return difference;
  for (const [index, segment] of one.segments.entries()) {
    const order = Number(PARAMETER.test(segment)) - Number(PARAMETER.test(other.segments[index]!));
    if (order !== 0) return order;
  }
  return 0;
}

/** Compares the segments of a route with the end of a path; returns the parameters, or `undefined`. */
function matchPath(segments: string[], path: string[]): Record<string, string> | undefined {
  const values = path.slice(-segments.length);
  const params: [string, string][] = [];
  for (const [index, segment] of segments.entries()) {
    const value = values[index]; // undefined when the path is shorter
    const [, name] = PARAMETER.exec(segment) ?? [];
    if (name ? !value : value !== segment) return undefined;
    if (name) params.push([name, value!]);
  }
  return Object.fromEntries(params);
}

/** Finds the first route that matches a request. */
export function findRoute<Target>(routes: Route<Target>[], method: string, pathname: string) {
  const path = parsePath(pathname);
  for (const route of routes) {
    const params = route.method === method ? matchPath(route.segments, path) : undefined;
    if (params) return { target: route.target, params };
  }
  return undefined;
}
