/** A method and a path, in a form that requests are compared with. */
export interface Route<Target> {
  method: string;
  /** The path, with `PARAMETER` in place of each parameter. */
  shape: string;
  /** For each segment of the path, the texts before, between and after its parameters. */
  segments: string[][];
  /** The names of the parameters, in their order. */
  names: string[];
  /** What the route leads to. */
  target: Target;
}

/** Sorts after every other character, so that literal text comes before parameters. */
const PARAMETER = "\uffff";

/** Parses a method and a path, such as `GET reports/{id}`. */
export function parseRoute<Target>(endpoint: string, target: Target): Route<Target> {
  const [method, path] = endpoint.split(" ") as [string, string];
  const names = Array.from(path.matchAll(/\{(.+?)\}/g), ([, name]) => name!);
  const shape = path.replace(/^\//, "").replace(/\{.+?\}/g, PARAMETER);
  const segments = shape.split("/").map((part) => part.split(PARAMETER).map(decodeSegment));
  return { method, shape, segments, names, target };
}

/** Sorts the most specific route first. */
export function bySpecificity(a: Route<unknown>, b: Route<unknown>): number {
  const literals = ({ segments }: Route<unknown>) =>
    segments.filter((texts) => texts.length === 1).length;
  return literals(b) - literals(a) || b.segments.length - a.segments.length ||
    Number(a.shape > b.shape) - Number(a.shape < b.shape);
}

/** Decodes a segment of a URL's path; returns one with a malformed escape unchanged. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/**
 * Compares a segment with the texts around its parameters; returns the parameters' values.
 *
 * It goes from the last parameter to the first, and each takes what is behind the last occurrence
 * of the text before it. This finds a match whenever there is one, without trying again.
 */
function matchSegment([first, ...texts]: string[], segment: string): string[] | undefined {
  const last = texts.pop();
  if (last === undefined) return segment === first ? [] : undefined;
  if (!segment.startsWith(first!) || !segment.endsWith(last)) return undefined;
  const values: string[] = [];
  let end = segment.length - last.length;
  for (const text of texts.reverse()) {
    const start = segment.lastIndexOf(text, end - 1 - text.length);
    if (start < 0) return undefined;
    values.unshift(segment.slice(start + text.length, end));
    end = start;
  }
  return end > first!.length ? [segment.slice(first!.length, end), ...values] : undefined;
}

/** Compares the end of a path with a route; returns the parameters, or `undefined`. */
function matchPath({ segments, names }: Route<unknown>, path: string[]) {
  if (path.length < segments.length) return undefined;
  const ends = path.slice(-segments.length);
  const values = segments.map((texts, index) => matchSegment(texts, ends[index]!));
  if (values.includes(undefined)) return undefined;
  const all = values.flat();
  return Object.fromEntries(names.map((name, index) => [name, all[index]!]));
}

/** Finds the first route that matches a request. */
export function findRoute<Target>(routes: Route<Target>[], { method, url }: Request) {
  const path = new URL(url).pathname.slice(1).split("/").map(decodeSegment);
  for (const route of routes) {
    const params = route.method === method ? matchPath(route, path) : undefined;
    if (params) return { target: route.target, params };
  }
  return undefined;
}
