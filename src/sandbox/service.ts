/**
 * An in-memory stand-in for the Scam Address Service, for tests, demonstrations and offline work.
 *
 * {@linkcode createSandbox} creates a sandbox with your own keys. Its `fetch` takes the same arguments
 * as the global `fetch`, so you can pass it to `createClient({ fetch })`, or replace the global one. It
 * also works with `Deno.serve`, with `Bun.serve`, and in workers, where a sandbox can be the default
 * export of a module.
 *
 * The sandbox follows the OpenAPI document. {@linkcode createSandbox} lists what it does where the
 * service is undocumented.
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
import type { KeyStatus, OperationData } from "../api.ts";
import { apiKeyHeader, operations } from "../generated/operations.ts";
import type { operations as Operations } from "../generated/types.ts";
import type { Operation } from "../operation.ts";
import { optionError } from "../http/failures.ts";
import { isApiKey, type OptionTable, readOptions } from "../options.ts";
import { ENDPOINT, type Endpoint, matchEndpoint, parseEndpoint } from "./routes.ts";

/**
 * The only valid key of a sandbox without the option `keys`: `"demo-key"`, with 100 credits.
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

/** The second argument of a {@linkcode SandboxRoute}. */
export interface SandboxContext {
  /** The valid key in the request's header; `undefined` for operations that need no key. */
  readonly apiKey: string | undefined;
  /** {@linkcode Sandbox.keys}, so that a route can spend credits. */
  readonly keys: Map<string, number>;
  /** The path parameters, decoded: `{ id: "42" }` for `GET reports/{id}` and `reports/42`. */
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Handles requests to an endpoint. It returns one of the following, or a promise of it:
 *
 * - a `Response`;
 * - a value, which is sent as JSON with the status 200 or, if the route replaces an operation of the
 *   OpenAPI document, with that operation's lowest 2xx status;
 * - `undefined`, for the status 204.
 *
 * If it throws, the response has the status 501, which the client does not retry, and its body says what
 * was thrown.
 */
export type SandboxRoute = (request: Request, context: SandboxContext) => unknown;

/** Options of a sandbox: its keys and endpoints. */
export interface SandboxOptions {
  /**
   * The valid keys with their credits, which are whole numbers from 0.
   *
   * @default {{ "demo-key": 100 }}
   */
  keys?: Readonly<Record<string, number>> | undefined;
  /**
   * Endpoints to add, by method and path: `"GET report"`. A parameter is a name in braces, for one whole
   * segment of the path: `"GET reports/{id}"`. Endpoints that are not in the OpenAPI document need a
   * valid key.
   *
   * A route handles requests with its method and a path that ends with its own. If several routes
   * match, the one with the most segments handles the request; if there is a tie, the first one. A route
   * can replace an operation of the OpenAPI document, for example to test an error.
   *
   * @default {{}}
   */
  routes?: Readonly<Record<string, SandboxRoute>> | undefined;
}

/** An in-memory stand-in for the service. */
export interface Sandbox {
  /** The valid keys and their credits. Tests can add, change and delete them. */
  readonly keys: Map<string, number>;
  /**
   * Responds to a request. It matches the end of the URL's path, so any base URL works. It can be passed
   * on by itself: it does not use `this`.
   */
  readonly fetch: {
    /** Takes what the global `fetch` takes. */
    (input: string | URL | Request, init?: RequestInit): Promise<Response>;
    /** Takes the arguments that servers and workers pass to a handler; only the request is used. */
    (request: Request, ...context: unknown[]): Promise<Response>;
  };
}

/** Handles requests of an operation of the OpenAPI document. It returns its data, or any response. */
type Handler<Id extends keyof Operations> = (
  request: Request,
  context: SandboxContext,
) => OperationData<Id> | Response | Promise<OperationData<Id> | Response>;

/** The handlers of the OpenAPI document's operations, by `operationId`. */
const handlers: { [Id in keyof Operations]?: Handler<Id> } = {
  checkKey,
};

/** Makes the response for an error: a sentence, as JSON. */
function errorResponse(status: number, error: string): Response {
  return Response.json({ error }, { status });
}

async function checkKey(request: Request, { keys }: SandboxContext): Promise<KeyStatus | Response> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? "")) {
    return errorResponse(415, 'The header "Content-Type" must be "application/json"');
  }
  const { apiKey } = await request.json().catch(() => undefined) ?? {};
  if (typeof apiKey !== "string") {
    return errorResponse(400, 'The body must be a JSON object with a string "apiKey"');
  }
  const credits = keys.get(apiKey);
  return credits === undefined ? { apiKeyValid: false } : { apiKeyValid: true, data: { credits } };
}

/** An endpoint, and how the sandbox handles it. */
interface Route extends Endpoint {
  /** Whether requests need a valid key. */
  readonly access: Operation["access"];
  /** The status of a value that the handler returns. */
  readonly status: number;
  /** `undefined` when the sandbox has no handler for an operation of the OpenAPI document. */
  readonly handler: SandboxRoute | undefined;
}

/** Reads the keys of a sandbox, with their credits; no error quotes a key. */
function readKeys(keys: Record<string, number> = { [DEMO_KEY]: 100 }): Map<string, number> {
  for (const [key, credits] of Object.entries(keys)) {
    if (isApiKey(key) && Number.isSafeInteger(credits) && credits >= 0) continue;
    throw optionError("keys", "must be keys that a header can carry, with whole numbers from 0");
  }
  return new Map(Object.entries(keys));
}

/** Makes the route of an operation of the OpenAPI document. */
function makeDocumentedRoute([endpoint, operation]: [string, Operation]): Route {
  const { access, operationId, responses } = operation;
  // The lowest status with a JSON body: JavaScript sorts names that are numbers.
  const isJson = (status: string) => typeof responses[status] === "function";
  const status = Number(Object.keys(responses).find(isJson)?.replace("XX", "00") ?? 200);
  // A map has no inherited names, such as "toString".
  const handler = new Map<string, SandboxRoute>(Object.entries(handlers)).get(operationId);
  return { ...parseEndpoint(endpoint), access, status, handler };
}

/** Makes the list of routes in the order in which requests are compared with them. */
function readRoutes(routes: Record<string, SandboxRoute> = {}): Route[] {
  const documented = Object.entries(operations).map(makeDocumentedRoute);
  const added = Object.entries(routes).map(([name, handler]): Route => {
    if (!ENDPOINT.test(name)) {
      throw optionError("routes", `must have names such as "GET reports/{id}", not "${name}"`);
    }
    const endpoint = parseEndpoint(name);
    const replaced = documented.find(({ shape }) => shape === endpoint.shape);
    return { access: "required", status: 200, ...replaced, ...endpoint, handler };
  });
  // Sorting keeps the order of routes of equal length.
  return [...added, ...documented].sort((a, b) => b.segments.length - a.segments.length);
}

/** Makes a request of the arguments of `fetch`, which a server or a worker may have passed. */
function toRequest(input: string | URL | Request, [init, context]: unknown[]): Request {
  const isUrl = typeof input === "string" || input instanceof URL;
  // A server's second argument has none of these names. A worker's may, but then a third follows.
  const names = ["method", "headers", "body", "signal"];
  const isInit = !context && names.some((name) => name in Object(init));
  return isUrl || isInit ? new Request(input, init as RequestInit) : input;
}

/**
 * Creates an in-memory stand-in for the Scam Address Service.
 *
 * It follows the OpenAPI document. **Where the service is not documented, the sandbox does the
 * following, and the real service may do something else:**
 *
 * | what | the sandbox responds with |
 * | --- | --- |
 * | `checkKey` of any key | the lowest 2xx status in the OpenAPI document; 200 for `2XX` |
 * | `checkKey` of a key that is not valid | `{ "apiKeyValid": false }` and nothing else |
 * | `checkKey` with a body that has no string `apiKey` | 400 |
 * | `checkKey` without `Content-Type: application/json` | 415 |
 * | a missing or unknown key in the header, where one is needed | 401 |
 * | an endpoint that does not exist | 404, or 401 without a valid key |
 * | an operation of the OpenAPI document without a handler, or a route that throws | 501 |
 * | the body of these errors | `{ "error": "a sentence" }` |
 *
 * Calls cost no credits unless a route deducts them.
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
 *     "GET report": (_request, { apiKey = "", keys }) => {
 *       keys.set(apiKey, (keys.get(apiKey) ?? 0) - 1);
 *       return { reports: [] };
 *     },
 *   },
 * });
 * const client = createClient({
 *   baseUrl: "https://service.example/",
 *   apiKey: "demo-key",
 *   fetch,
 * });
 * console.log((await client.call("GET", "report")).data); // { reports: [] }
 * console.log(await client.checkOwnKey()); // { apiKeyValid: true, data: { credits: 99 } }
 * ```
 *
 * @param options The sandbox's keys, by default only {@linkcode DEMO_KEY}, and endpoints to add.
 * @returns The sandbox.
 * @throws {ConfigurationError} If an option is wrong; the message shows no key.
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const table: OptionTable<SandboxOptions> = { keys: null, routes: null };
  const given = readOptions(options, "createSandbox", table);
  const keys = readKeys(given.keys);
  const routes = readRoutes(given.routes);

  async function handle(request: Request): Promise<Response> {
    const route = routes.find((route) => matchEndpoint(route, request));
    const access = route?.access ?? "required";
    const apiKey = access === "none" ? undefined : request.headers.get(apiKeyHeader) ?? undefined;
    if (apiKey === undefined ? access === "required" : !keys.has(apiKey)) {
      return errorResponse(401, `The header "${apiKeyHeader}" must have a valid key`);
    }
    if (!route?.handler) {
      const name = `${request.method} ${new URL(request.url).pathname}`;
      const advice = "use createSandbox({ routes }) to add it, and serveSandbox() to serve it";
      return errorResponse(route ? 501 : 404, `The sandbox has no "${name}": ${advice}`);
    }
    const params = matchEndpoint(route, request)!;
    const result = await route.handler(request, { apiKey, keys, params });
    if (result === undefined) return new Response(null, { status: 204 });
    if (!(result instanceof Response)) return Response.json(result, { status: route.status });
    if (result.bodyUsed) throw new TypeError("The body of the route's Response is already used");
    return result;
  }

  /** Responds to what a route throws with a status that the client does not retry. */
  const fail = (thrown: unknown) => errorResponse(501, `The sandbox failed: ${String(thrown)}`);
  return {
    keys,
    fetch: async (input, ...rest) => await handle(toRequest(input, rest)).catch(fail),
  };
}
