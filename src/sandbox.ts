/**
 * The Scam Address Service in memory, for tests, demonstrations and offline work.
 *
 * {@linkcode createSandbox} makes a service that knows the keys it is given. Its `fetch` takes a
 * `Request` and answers with a `Response`, so it fits `createClient({ fetch })`, `Deno.serve`,
 * `Bun.serve` and, as the default export of a module, workers. It uses nothing but web standards.
 *
 * It follows the OpenAPI document. **What the service's own document does not show, the sandbox
 * picks, and the real service may do otherwise:**
 *
 * | what | the sandbox's pick |
 * | --- | --- |
 * | `checkKey` of a key that is not valid | 200 and `{ "apiKeyValid": false }` |
 * | `checkKey` of a valid key | status 200 |
 * | `checkKey` with a body that has no string `apiKey` | 400 |
 * | `checkKey` without `Content-Type: application/json` | 415 |
 * | a missing or unknown key where one is needed | 401 |
 * | an endpoint that is not there | 404, or 401 without a valid key |
 * | the payload of these errors | `{ "error": "a sentence" }` |
 * | what a call costs | nothing |
 *
 * @example Test code that needs the service
 * ```ts
 * import { createClient } from "@scam-address/client";
 * import { createSandbox } from "@scam-address/client/sandbox";
 *
 * const { fetch } = createSandbox({ keys: { "rich-key": 100, "poor-key": 0 } });
 * const client = createClient({ baseUrl: "https://service.example/", fetch });
 *
 * console.log(await client.checkKey("rich-key")); // { apiKeyValid: true, data: { credits: 100 } }
 * console.log(await client.checkKey("wrong-key")); // { apiKeyValid: false }
 * ```
 *
 * @module
 */
import { readApiKey } from "./checks.ts";
import { ConfigurationError } from "./errors.ts";
import { apiKeyHeader, operations } from "./generated/operations.ts";
import type { components } from "./generated/types.ts";
import { decodeSegment } from "./path.ts";

/**
 * The key that a sandbox made without `keys` knows: `"demo-key"`, with 100 credits.
 *
 * @example Check it
 * ```ts
 * import { createClient } from "@scam-address/client";
 * import { createSandbox, DEMO_KEY } from "@scam-address/client/sandbox";
 *
 * const { fetch } = createSandbox();
 * const client = createClient({ baseUrl: "https://service.example/", fetch });
 * console.log(await client.checkKey(DEMO_KEY)); // { apiKeyValid: true, data: { credits: 100 } }
 * ```
 */
export const DEMO_KEY = "demo-key";

/** What a {@linkcode SandboxRoute} receives in addition to the request. */
export interface SandboxContext {
  /** The valid key that the request carried; `undefined` for operations that need none. */
  readonly apiKey: string | undefined;
  /** {@linkcode Sandbox.keys}, so that a route can spend credits. */
  readonly keys: Map<string, number>;
  /** The path parameters, decoded: `{ id: "42" }` for `GET reports/{id}` and `reports/42`. */
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Answers requests to one endpoint: with a `Response`, with a value that is sent as JSON with status
 * 200, or with `undefined` for status 204 without content. What it throws, `fetch` rejects with.
 */
export type SandboxRoute = (request: Request, context: SandboxContext) => unknown;

/** What a sandbox knows. */
export interface SandboxOptions {
  /**
   * The valid keys and the credits of each, a whole number from 0.
   *
   * @default {{ "demo-key": 100 }}
   */
  keys?: Readonly<Record<string, number>> | undefined;
  /**
   * Handlers of further endpoints, by method and path: `"GET report"`. A parameter `{…}` matches
   * any text within a segment of the path: `"GET reports/{id}"`. Where several routes match a
   * request, the one with the most segments without a parameter handles it; of those with as many,
   * the longest; and of those, the one whose first parameter comes last.
   *
   * Endpoints that the OpenAPI document does not have need a valid key, as in the client. An
   * operation that it does have can be given another handler here.
   *
   * @default {{}}
   */
  routes?: Readonly<Record<string, SandboxRoute>> | undefined;
}

/** The service in memory. */
export interface Sandbox {
  /** The valid keys and their credits as they are now; a test may add, change and delete them. */
  readonly keys: Map<string, number>;
  /**
   * Answers a request. It needs no `this`, and finds the endpoint by the end of the URL's path, so
   * that any base URL will do.
   */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** The sandbox's own handlers, by `operationId`. */
const handlers: ReadonlyMap<string, SandboxRoute> = new Map([["checkKey", checkKey]]);

async function checkKey(
  request: Request,
  { keys }: SandboxContext,
): Promise<components["schemas"]["KeyStatus"] | Response> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? "")) {
    return failure(415, 'The header "Content-Type" must be "application/json"');
  }
  const body = await request.json().catch(() => undefined);
  const apiKey: unknown = body?.apiKey;
  if (typeof apiKey !== "string") {
    return failure(400, 'The body must be a JSON object with a string "apiKey"');
  }
  const credits = keys.get(apiKey);
  return credits === undefined ? { apiKeyValid: false } : { apiKeyValid: true, data: { credits } };
}

function failure(status: number, error: string): Response {
  return Response.json({ error }, { status });
}

/** A method and path, in the form that requests are compared with, and what is done with them. */
interface Endpoint {
  method: string;
  /** The path, with `PARAMETER` in place of each parameter. */
  shape: string;
  /** Matches one segment of the path each, with a group for each parameter. */
  segments: RegExp[];
  /** The names of the parameters, in the order of the groups. */
  names: string[];
  apiKey: "none" | "optional" | "required";
  handler: SandboxRoute | undefined;
}

/** Sorts after every other character, so that literal text comes before parameters. */
const PARAMETER = "\uffff";

/** Reads `GET reports/{id}`. */
function readEndpoint(
  endpoint: string,
  apiKey: Endpoint["apiKey"],
  handler: SandboxRoute | undefined,
): Endpoint {
  const [method, path] = endpoint.split(" ") as [string, string];
  const names = Array.from(path.matchAll(/\{(.+?)\}/g), ([, name]) => name!);
  const shape = path.replace(/^\//, "").replace(/\{.+?\}/g, PARAMETER);
  const segments = shape.split("/").map((segment) => {
    const literal = decodeSegment(segment).replace(/[.*+?^$(){}|[\]\\]/g, "\\$&");
    return new RegExp(`^${literal.replaceAll(PARAMETER, "(.+)")}$`, "s");
  });
  return { method, shape, segments, names, apiKey, handler };
}

/** Sorts the most specific endpoint first. */
function bySpecificity(a: Endpoint, b: Endpoint): number {
  const literals = ({ shape }: Endpoint) =>
    shape.split("/").filter((segment) => !segment.includes(PARAMETER)).length;
  return literals(b) - literals(a) || b.segments.length - a.segments.length ||
    Number(a.shape > b.shape) - Number(a.shape < b.shape);
}

/** Finds the parameters of a path that ends as the endpoint's does, or `undefined` if it does not. */
function matchPath({ segments, names }: Endpoint, path: string[]) {
  if (path.length < segments.length) return undefined;
  const matches = segments.map((segment, index) =>
    segment.exec(path[path.length - segments.length + index]!)
  );
  if (matches.includes(null)) return undefined;
  const values = matches.flatMap((match) => match!.slice(1));
  return Object.fromEntries(names.map((name, index) => [name, values[index]!]));
}

/** Finds the endpoint of a request. */
function findEndpoint(endpoints: Endpoint[], { method, url }: Request) {
  const path = new URL(url).pathname.slice(1).split("/").map(decodeSegment);
  for (const endpoint of endpoints) {
    const params = endpoint.method === method && matchPath(endpoint, path);
    if (params) return { ...endpoint, params };
  }
  return { apiKey: "required", handler: undefined, params: {} } as const;
}

function readKeys(keys: unknown = { [DEMO_KEY]: 100 }): Map<string, number> {
  if (Object.prototype.toString.call(keys) !== "[object Object]") {
    throw new ConfigurationError('"keys" must be an object of keys and their credits');
  }
  const entries = Object.entries(keys as Record<string, number>);
  for (const [index, [key, credits]] of entries.entries()) {
    try {
      readApiKey(key);
    } catch {
      throw new ConfigurationError(
        `Key ${index + 1} of "keys" is empty or holds a character that no header can carry`,
      );
    }
    if (!Number.isSafeInteger(credits) || credits < 0) {
      throw new ConfigurationError(
        `The credits of key ${index + 1} of "keys" must be a whole number from 0`,
      );
    }
  }
  return new Map(entries);
}

/** Makes the list of endpoints: the OpenAPI document's operations and the routes. */
function readEndpoints(routes: unknown = {}): Endpoint[] {
  if (Object.prototype.toString.call(routes) !== "[object Object]") {
    throw new ConfigurationError('"routes" must be an object of endpoints and their handlers');
  }
  const documented = Object.entries(operations).map(([endpoint, { apiKey, operationId }]) =>
    readEndpoint(endpoint, apiKey, handlers.get(operationId))
  );
  const added = Object.entries(routes as Record<string, SandboxRoute>).map(([name, handler]) => {
    if (!/^[A-Z]+ (?:[^\s?#\\{}]|\{[^\s?#\\{}/]+\})+$/.test(name)) {
      throw new ConfigurationError(
        `"routes" must name a method and an endpoint, as in "GET report", not "${name}"`,
      );
    }
    if (typeof handler !== "function") {
      throw new ConfigurationError(`The route "${name}" must be a function`);
    }
    const route = readEndpoint(name, "required", handler);
    const same = documented.find(({ method, shape }) =>
      method === route.method && shape === route.shape
    );
    return { ...route, apiKey: same?.apiKey ?? route.apiKey };
  });
  return [...added, ...documented].sort(bySpecificity);
}

/**
 * Creates a Scam Address Service in memory.
 *
 * @example Serve it over HTTP
 * ```ts
 * import { createClient } from "@scam-address/client";
 * import { createSandbox } from "@scam-address/client/sandbox";
 *
 * const sandbox = createSandbox({ keys: { "demo-key": 100 } });
 * await using server = Deno.serve({ hostname: "127.0.0.1", port: 0 }, sandbox.fetch);
 *
 * const client = createClient({ baseUrl: `http://127.0.0.1:${server.addr.port}/` });
 * console.log(await client.checkKey("demo-key")); // { apiKeyValid: true, data: { credits: 100 } }
 * ```
 *
 * @example Add an endpoint that costs a credit
 * ```ts
 * import { createClient } from "@scam-address/client";
 * import { createSandbox } from "@scam-address/client/sandbox";
 *
 * const { fetch } = createSandbox({
 *   keys: { "demo-key": 100 },
 *   routes: {
 *     "GET report": (_request, { apiKey, keys }) => {
 *       keys.set(apiKey!, keys.get(apiKey!)! - 1);
 *       return { reports: [] };
 *     },
 *   },
 * });
 * const client = createClient({
 *   baseUrl: "https://service.example/",
 *   apiKey: "demo-key",
 *   fetch,
 * });
 * console.log(await client.call("GET", "report")); // { reports: [] }
 * console.log(await client.checkKey()); // { apiKeyValid: true, data: { credits: 99 } }
 * ```
 *
 * @param options The keys it knows and the endpoints it has; see {@linkcode DEMO_KEY} for a sandbox
 * without any.
 * @returns The service.
 * @throws {ConfigurationError} When an option is wrong; the message shows no key.
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const keys = readKeys(options.keys);
  const endpoints = readEndpoints(options.routes);

  async function fetch(request: Request): Promise<Response> {
    const { apiKey: access, handler, params } = findEndpoint(endpoints, request);
    const header = access === "none" ? null : request.headers.get(apiKeyHeader);
    const apiKey = header ?? undefined;
    if (apiKey === undefined ? access === "required" : !keys.has(apiKey)) {
      return failure(401, `The header "${apiKeyHeader}" must hold a valid key`);
    }
    if (!handler) return failure(404, 'The sandbox has no such endpoint; see its option "routes"');

    const result = await handler(request, { apiKey, keys, params });
    if (result instanceof Response) return result;
    return result === undefined ? new Response(null, { status: 204 }) : Response.json(result);
  }

  return { keys, fetch };
}
