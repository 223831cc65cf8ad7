/**
 * The Scam Address Service in memory, for tests, demonstrations and offline work.
 *
 * {@linkcode createSandbox} makes a service with the keys that you give it. Its `fetch` takes a
 * `Request` and returns a promise of a `Response`, so it works with `createClient({ fetch })`,
 * `Deno.serve`, `Bun.serve` and, as the default export of a module, workers. It uses only web
 * standards.
 *
 * It follows the OpenAPI document. **Where the service is not documented, the sandbox does the
 * following, and the real service may do something else:**
 *
 * | what | the sandbox responds with |
 * | --- | --- |
 * | `checkKey` of a key that is not valid | 200 and `{ "apiKeyValid": false }` |
 * | `checkKey` of a valid key | 200 |
 * | `checkKey` with a body that has no string `apiKey` | 400 |
 * | `checkKey` without `Content-Type: application/json` | 415 |
 * | a missing or unknown key where one is needed | 401 |
 * | an endpoint that does not exist | 404, or 401 without a valid key |
 * | the body of these errors | `{ "error": "a sentence" }` |
 *
 * Calls cost no credits, unless a route takes them.
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
import { readApiKey, wrong } from "../checks.ts";
import { ConfigurationError } from "../errors.ts";
import { apiKeyHeader, operations } from "../generated/operations.ts";
import type { components } from "../generated/types.ts";
import { bySpecificity, findRoute, parseRoute, type Route } from "./routes.ts";

/**
 * The only valid key of a sandbox made without `keys`: `"demo-key"`, with 100 credits.
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

/** What a {@linkcode SandboxRoute} gets in addition to the request. */
export interface SandboxContext {
  /** The valid key in the request's header; `undefined` for operations that need none. */
  readonly apiKey: string | undefined;
  /** {@linkcode Sandbox.keys}, so that a route can spend credits. */
  readonly keys: Map<string, number>;
  /** The path parameters, decoded: `{ id: "42" }` for `GET reports/{id}` and `reports/42`. */
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Handles the requests of one endpoint. It returns a `Response`, or a value that is sent as JSON
 * with status 200, or `undefined` for status 204; or a promise of one of these. If it throws,
 * `fetch` rejects with the same error.
 */
export type SandboxRoute = (request: Request, context: SandboxContext) => unknown;

/** Options of a sandbox: its keys and endpoints. */
export interface SandboxOptions {
  /**
   * The valid keys, each with its credits, a whole number from 0.
   *
   * @default {{ "demo-key": 100 }}
   */
  keys?: Readonly<Record<string, number>> | undefined;
  /**
   * Adds endpoints, by method and path: `"GET report"`. A parameter `{…}` matches any text within a
   * segment of the path, but not an empty one: `"GET reports/{id}"`. If a segment has several
   * parameters, each except the first matches as little text as possible: `{name}.{format}` splits
   * `report.v2.json` into `report.v2` and `json`.
   *
   * If several routes match a request, the one with the most segments without a parameter handles
   * it; then the longest; then the one whose first parameter comes last.
   *
   * Endpoints that the OpenAPI document does not have need a valid key. A route can also replace
   * the handler of an operation that the document has, for example to test an error.
   *
   * @default {{}}
   */
  routes?: Readonly<Record<string, SandboxRoute>> | undefined;
}

/** A service in memory. */
export interface Sandbox {
  /** The valid keys and their credits; a test may add, change and delete them. */
  readonly keys: Map<string, number>;
  /**
   * Responds to a request. It needs no `this`, and finds the endpoint by the end of the URL's path,
   * so that any base URL works.
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

/** What a route leads to. */
interface Target {
  /** Whether requests need a valid key. */
  apiKey: "none" | "optional" | "required";
  /** `undefined` when the sandbox has no handler for an operation of the document. */
  handler: SandboxRoute | undefined;
}

/** What a request gets that no route matches. */
const NO_ROUTE = { target: { apiKey: "required", handler: undefined }, params: {} } as const;

function readKeys(keys: unknown = { [DEMO_KEY]: 100 }): Map<string, number> {
  if (Object.prototype.toString.call(keys) !== "[object Object]") {
    throw wrong("keys", "must be an object with keys and their credits");
  }
  const entries = Object.entries(keys as Record<string, number>);
  for (const [index, [key, credits]] of entries.entries()) {
    try {
      readApiKey(key);
    } catch {
      throw new ConfigurationError(
        `Key ${index + 1} of "keys" is empty or has a character that cannot be sent in a header`,
        { option: "keys" },
      );
    }
    if (!Number.isSafeInteger(credits) || credits < 0) {
      throw new ConfigurationError(
        `The credits of key ${index + 1} of "keys" must be a whole number from 0`,
        { option: "keys" },
      );
    }
  }
  return new Map(entries);
}

/** Makes the list of routes: the OpenAPI document's operations and the caller's own. */
function readRoutes(routes: unknown = {}): Route<Target>[] {
  if (Object.prototype.toString.call(routes) !== "[object Object]") {
    throw wrong("routes", "must be an object with endpoints and their handlers");
  }
  const documented = Object.entries(operations).map(([endpoint, { apiKey, operationId }]) =>
    parseRoute<Target>(endpoint, { apiKey, handler: handlers.get(operationId) })
  );
  const added = Object.entries(routes as Record<string, SandboxRoute>).map(([name, handler]) => {
    if (!/^[A-Z]+ (?:[^\s?#\\{}]|\{[^\s?#\\{}/]+\})+$/.test(name)) {
      throw wrong(
        "routes",
        `must name a method and an endpoint, as in "GET report", not "${name}"`,
      );
    }
    if (typeof handler !== "function") {
      throw new ConfigurationError(`The route "${name}" must be a function`, { option: "routes" });
    }
    const route = parseRoute<Target>(name, { apiKey: "required", handler });
    const same = documented.find(({ method, shape }) =>
      method === route.method && shape === route.shape
    );
    if (same) route.target.apiKey = same.target.apiKey;
    return route;
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
 * @param options Its keys, by default only {@linkcode DEMO_KEY}, and endpoints to add.
 * @returns The service.
 * @throws {ConfigurationError} When an option is wrong; the message shows no key.
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const keys = readKeys(options.keys);
  const routes = readRoutes(options.routes);

  async function fetch(request: Request): Promise<Response> {
    const { target, params } = findRoute(routes, request) ?? NO_ROUTE;
    const { apiKey: access, handler } = target;
    const header = access === "none" ? null : request.headers.get(apiKeyHeader);
    const apiKey = header ?? undefined;
    if (apiKey === undefined ? access === "required" : !keys.has(apiKey)) {
      return failure(401, `The header "${apiKeyHeader}" must have a valid key`);
    }
    if (!handler) return failure(404, 'The sandbox has no such endpoint; see its option "routes"');

    const result = await handler(request, { apiKey, keys, params });
    if (result instanceof Response) return result;
    return result === undefined ? new Response(null, { status: 204 }) : Response.json(result);
  }

  return { keys, fetch };
}
