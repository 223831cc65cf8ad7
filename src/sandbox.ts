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
import { ConfigurationError } from "./errors.ts";
import { apiKeyHeader, operations } from "./generated/operations.ts";
import type { components } from "./generated/types.ts";
import { readApiKey } from "./checks.ts";

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

/** What a {@linkcode SandboxRoute} is told besides the request. */
export interface SandboxContext {
  /** The valid key that the request carried; `undefined` for operations that need none. */
  readonly apiKey: string | undefined;
  /** {@linkcode Sandbox.keys}, so that a route can spend credits. */
  readonly keys: Map<string, number>;
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
   * Handlers of further endpoints, by method and name: `"GET report"`. A segment `{…}` stands for
   * any one segment: `"GET reports/{id}"`. The first that fits the request answers it.
   *
   * Endpoints that the OpenAPI document does not have need a valid key, as in the client. An
   * operation that it does have may be given another handler here.
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

/** Makes of `GET reports/{id}` an expression that fits `GET /any/base/reports/42`. */
function pattern(endpoint: string): RegExp {
  const [method, path] = endpoint.split(" ") as [string, string];
  const segments = path.replace(/^\//, "").split(/\{[^{}/]+\}/);
  const literals = segments.map((text) => text.replace(/[.*+?^$(){}|[\]\\]/g, "\\$&"));
  return new RegExp(`^${method} /(.*/)?${literals.join("[^/]+")}$`);
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

function readRoutes(routes: unknown = {}): [RegExp, SandboxRoute][] {
  if (Object.prototype.toString.call(routes) !== "[object Object]") {
    throw new ConfigurationError('"routes" must be an object of endpoints and their handlers');
  }
  return Object.entries(routes as Record<string, SandboxRoute>).map(([endpoint, handler]) => {
    if (!/^[A-Z]+ [^\s?#\\]+$/.test(endpoint)) {
      throw new ConfigurationError(
        `"routes" must name a method and an endpoint, as in "GET report", not "${endpoint}"`,
      );
    }
    if (typeof handler !== "function") {
      throw new ConfigurationError(`The route "${endpoint}" must be a function`);
    }
    return [pattern(endpoint), handler];
  });
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
  const routes = readRoutes(options.routes);
  const documented = Object.entries(operations).map(([endpoint, operation]) =>
    [pattern(endpoint), operation] as const
  );

  async function fetch(request: Request): Promise<Response> {
    const endpoint = `${request.method} ${new URL(request.url).pathname}`;
    const operation = documented.find(([pattern]) => pattern.test(endpoint))?.[1];
    const access = operation?.apiKey ?? "required";
    const header = access === "none" ? null : request.headers.get(apiKeyHeader);
    const apiKey = header ?? undefined;
    if (apiKey === undefined ? access === "required" : !keys.has(apiKey)) {
      return failure(401, `The header "${apiKeyHeader}" must hold a valid key`);
    }
    const handler = routes.find(([pattern]) => pattern.test(endpoint))?.[1] ??
      handlers.get(operation?.operationId ?? "");
    if (!handler) return failure(404, 'The sandbox has no such endpoint; see its option "routes"');

    const answer = await handler(request, { apiKey, keys });
    if (answer instanceof Response) return answer;
    return answer === undefined ? new Response(null, { status: 204 }) : Response.json(answer);
  }

  return { keys, fetch };
}
