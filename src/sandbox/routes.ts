/** A method and a path of decoded segments; braces enclose a segment that is a parameter. */
export const ENDPOINT = /^[A-Z]+ (?:[^\s?#%\\{}]|(?<=[ /])\{[^\s?#%\\{}/]+\}(?![^/]))+$/;

/** What requests are compared with: a method and the end of a path. */
export type Endpoint = ReturnType<typeof parseEndpoint>;

/** Parses a method and a path, such as `GET reports/{id}`. */
export function parseEndpoint(text: string) {
  const [method, path] = text.replace(" /", " ").split(" ") as [string, string];
  /** What endpoints have in common that differ only in the names of parameters. */
  const shape = `${method} ${path.replace(/\{.*?\}/g, "{}")}`;
  return { method, segments: path.split("/"), shape };
}

/** Returns the path parameters, or `undefined` if a request does not match an endpoint. */
export function matchEndpoint({ method, segments }: Endpoint, request: Request) {
  const { pathname } = new URL(request.url);
  const values = pathname.split("/").slice(-segments.length).map(decodeURIComponent);
  const params: [name: string, value: string][] = [];
  for (const [index, segment] of segments.entries()) {
    const value = values[index];
    if (segment.startsWith("{") && value) params.push([segment.slice(1, -1), value]);
    else if (segment !== value) return undefined;
  }
  return request.method === method ? Object.fromEntries(params) : undefined;
}
