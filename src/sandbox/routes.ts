/** What requests are compared with: a method and the end of a path. */
export interface Endpoint {
  readonly method: string;
  /** Matches the end of a normalized path; its groups are the parameters. */
  readonly pattern: RegExp;
  /** The names of the parameters, in the order of the path. */
  readonly parameters: readonly string[];
  /** The number of segments of the path. */
  readonly length: number;
  /** The method and the path without the names of the parameters. */
  readonly shape: string;
}

/** A parameter in a path, such as `{id}`. */
const PARAMETER = /\{[^{}]+\}/g;

/** Encodes the segments of a path in the same way, whether or not they are encoded or malformed. */
function normalize(path: string): string {
  const decode = (segment: string) => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return segment;
    }
  };
  return path.split("/").map((segment) => encodeURIComponent(decode(segment))).join("/");
}

/** Parses a method and a path, such as `GET reports/{id}`. */
export function parseEndpoint(text: string): Endpoint {
  const [method, path] = text.replace(" /", " ").split(" ") as [string, string];
  // Of the characters that `encodeURIComponent` leaves, these have a meaning in a pattern.
  const literals = path.split(PARAMETER).map((part) => normalize(part).replace(/[.*()]/g, "\\$&"));
  return {
    method,
    pattern: new RegExp(`/${literals.join("([^/]+)")}$`),
    parameters: (path.match(PARAMETER) ?? []).map((parameter) => parameter.slice(1, -1)),
    length: path.split("/").length,
    shape: `${method} ${path.replace(PARAMETER, "{}")}`,
  };
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
  const match = endpoint.pattern.exec(normalize(pathname));
  if (!match || endpoint.method !== method) return undefined;
  const values = match.slice(1).map(decodeURIComponent);
  return Object.fromEntries(endpoint.parameters.map((name, index) => [name, values[index]!]));
}
