import type { StandardSchemaV1 } from "@standard-schema/spec";
import createFetchClient, {
  type Client,
  type ClientOptions as FetchOptions,
  defaultBodySerializer,
} from "openapi-fetch";

import { type Call, checkMiddleware, type Init, prepareCall, resolveApiKey } from "./call.ts";
import { checkOptions, mustBe, readApiKey } from "./checks.ts";
import { guardPath, METHODS, toJson, toPath, toQuery } from "./endpoint.ts";
import { ConfigurationError, type Issue, ScamAddressError } from "./errors.ts";
import { keep, RequestRecord, sendRequest } from "./fetch.ts";
import { apiKeyHeader } from "./generated/operations.ts";
import type { components, paths } from "./generated/types.ts";
import {
  CALL_OPTIONS,
  type CallOptions,
  type ClientOptions,
  ENDPOINT_OPTIONS,
  type Middleware,
  readClientOptions,
  readHeaders,
} from "./options.ts";
import { checkSchema, validate } from "./schema.ts";
import { decode } from "./transport/body.ts";
import { reasonOf } from "./transport/redact.ts";
import { httpError, invalidResponse, receive } from "./transport/response.ts";
import { type Clock, onAbort, systemClock, throwIfAborted, within } from "./transport/time.ts";

/** The status of an API key; test `apiKeyValid` to know which of the two forms it is. */
export type KeyStatus = components["schemas"]["KeyStatus"];

/** The status of a valid key, with its credits. */
export type ValidKey = components["schemas"]["ValidKey"];

/** The status of a key that is not valid. What else it contains is not documented. */
export type InvalidKey = components["schemas"]["InvalidKey"];

/** An HTTP method for {@linkcode ScamAddressClient.call}. */
export type Method = "DELETE" | "GET" | "HEAD" | "OPTIONS" | "PATCH" | "POST" | "PUT";

/** Options of {@linkcode ScamAddressClient.call}: what to send, and how. */
export interface EndpointOptions extends CallOptions {
  /** The body, sent as JSON; leave it out to send none. GET and HEAD cannot have one. */
  body?: unknown;
  /**
   * The query parameters. A `Date` is written as ISO 8601, a list repeats the name, the fields of
   * an object become `name[field]`, and `null` and `undefined` are left out.
   */
  query?: Readonly<Record<string, unknown>> | undefined;
  /** Headers in addition to the client's; `null` removes one. An `X-API-Key` is ignored. */
  headers?: ClientOptions["headers"];
}

/** Options of {@linkcode ScamAddressClient.call} with a schema that checks the response. */
export interface SchemaOptions<Given extends Schema> extends EndpointOptions {
  /**
   * Checks the response and gives it its type: any [Standard Schema](https://standardschema.dev),
   * such as one of Zod, Valibot or ArkType. `call` resolves to the schema's output.
   */
  schema: Given;
}

/**
 * A local name for openapi-fetch's type: `deno doc --lint` requires docs of every type used here.
 *
 * @internal
 */
type OpenapiFetchClient<Paths extends object> = Client<Paths>;

/** @internal */
type Schema = StandardSchemaV1;

/** @internal */
type OutputOf<Given extends Schema> = StandardSchemaV1.InferOutput<Given>;

/**
 * Calls the service: `checkKey`, `call`, and
 * [openapi-fetch](https://openapi-ts.dev/openapi-fetch/)'s methods for the operations of the
 * OpenAPI document.
 *
 * `GET`, `POST` and the other methods resolve to `{ data, error, response }`, also for a 4xx or 5xx
 * status. Then `error` is the body. It is empty when the body is, so test `data` or `response.ok`.
 * For every other failure they reject with the same errors as {@linkcode ScamAddressClient.call}.
 *
 * Their options are those of openapi-fetch, such as `params`, `body`, `headers`, `parseAs` and
 * `middleware`, and {@linkcode CallOptions}.
 *
 * `parseAs` chooses what `data` is: `"json"` by default, or `"text"`, `"blob"`, `"arrayBuffer"` or
 * `"stream"`. The body is always read to its end first, within `timeout` and `maxResponseBytes`, so
 * `"stream"` is not for streams that never end.
 *
 * @typeParam Paths The type `paths` that openapi-typescript generates from an OpenAPI document.
 */
export interface ScamAddressClient<Paths extends object = paths> extends OpenapiFetchClient<Paths> {
  /** Sends a GET request; resolves to `{ data, error, response }`. */
  GET: OpenapiFetchClient<Paths>["GET"];
  /** Sends a PUT request; resolves to `{ data, error, response }`. */
  PUT: OpenapiFetchClient<Paths>["PUT"];
  /** Sends a POST request; resolves to `{ data, error, response }`. */
  POST: OpenapiFetchClient<Paths>["POST"];
  /** Sends a DELETE request; resolves to `{ data, error, response }`. */
  DELETE: OpenapiFetchClient<Paths>["DELETE"];
  /** Sends an OPTIONS request; resolves to `{ data, error, response }`. */
  OPTIONS: OpenapiFetchClient<Paths>["OPTIONS"];
  /** Sends a HEAD request; resolves to `{ data, error, response }`. */
  HEAD: OpenapiFetchClient<Paths>["HEAD"];
  /** Sends a PATCH request; resolves to `{ data, error, response }`. */
  PATCH: OpenapiFetchClient<Paths>["PATCH"];
  /** Always rejects: `fetch` does not allow the method TRACE. */
  TRACE: OpenapiFetchClient<Paths>["TRACE"];
  /** Sends a request with a method in lower case, as in `request("post", "/checkKey", …)`. */
  request: OpenapiFetchClient<Paths>["request"];

  /**
   * Adds middleware to all later calls, also to `checkKey` and `call`.
   *
   * @param middleware The middleware, in the order in which it gets requests; responses go through
   * it in the opposite order.
   * @throws {ConfigurationError} When it is not middleware.
   */
  use(...middleware: Middleware[]): void;

  /**
   * Removes middleware from all later calls.
   *
   * @param middleware The same objects that {@linkcode ScamAddressClient.use} got.
   */
  eject(...middleware: Middleware[]): void;

  /**
   * Checks whether the client's own API key is valid and how many credits it has.
   *
   * An argument that is an object is taken for options, so see that a key from parsed JSON is a
   * string before you check it.
   *
   * @example Check the client's own key
   * ```ts
   * import { createClient } from "@scam-address/client";
   * import { createSandbox } from "@scam-address/client/sandbox";
   *
   * const { fetch } = createSandbox({ keys: { "demo-key": 100 } });
   * const baseUrl = "https://service.example/";
   * const client = createClient({ baseUrl, apiKey: "demo-key", fetch });
   * const status = await client.checkKey({ timeout: 5_000 });
   * console.log(status.apiKeyValid ? status.data.credits : "not valid"); // 100
   * ```
   *
   * @param options Options of this call, which override the client's.
   * @returns The status of the key.
   * @throws {ScamAddressError} The same errors as for another key.
   */
  checkKey(options?: CallOptions): Promise<KeyStatus>;

  /**
   * Checks whether another API key is valid and how many credits it has.
   *
   * The key is sent in the body; the request has no `X-API-Key` header. A key that is `undefined`
   * or `null` is refused, so that a key that is missing is never taken for the client's own.
   *
   * @example Read the credits of a key
   * ```ts
   * import { createClient } from "@scam-address/client";
   * import { createSandbox } from "@scam-address/client/sandbox";
   *
   * const { fetch } = createSandbox({ keys: { "demo-key": 100 } });
   * const client = createClient({ baseUrl: "https://service.example/", fetch });
   * const status = await client.checkKey("demo-key");
   * console.log(status.apiKeyValid ? status.data.credits : "not valid"); // 100
   * ```
   *
   * @param apiKey The key to check.
   * @param options Options of this call, which override the client's.
   * @returns The status of the key.
   * @throws {ConfigurationError} When there is no key, or no header can carry it.
   * @throws {HttpError} When the service responds with a 4xx or 5xx status.
   * @throws {RedirectError} When the service responds with a redirect.
   * @throws {NetworkError} When the service cannot be reached or the response breaks off.
   * @throws {TimeoutError} When the last attempt does not end within `timeout`.
   * @throws {InvalidResponseError} When the response does not match the OpenAPI document.
   */
  checkKey(apiKey: string, options?: CallOptions): Promise<KeyStatus>;

  /**
   * Calls an endpoint that the OpenAPI document does not have, with the `X-API-Key` header and
   * `Content-Type: application/json`, and checks the response with a schema.
   *
   * Request and response are JSON. For anything else use `GET`, `POST` and the other methods.
   *
   * @example Check the response with a schema
   * ```ts
   * import { createClient } from "@scam-address/client";
   * import { createSandbox } from "@scam-address/client/sandbox";
   * import { z } from "zod";
   *
   * const { fetch } = createSandbox({
   *   keys: { "demo-key": 100 },
   *   routes: { "GET report": () => ({ reports: ["first"] }) },
   * });
   * const client = createClient({
   *   baseUrl: "https://service.example/",
   *   apiKey: "demo-key",
   *   fetch,
   * });
   * const schema = z.object({ reports: z.array(z.string()) });
   * const { reports } = await client.call("GET", "report", { query: { page: 1 }, schema });
   * console.log(reports.length); // 1
   * ```
   *
   * @typeParam Given The type of the schema.
   * @param method The method. GET, HEAD, OPTIONS, PUT and DELETE are retried after a temporary
   * failure, other methods only when the service responds with 429.
   * @param endpoint The name of the endpoint, which is added to the base URL.
   * @param options The schema, what to send, and options that override the client's.
   * @returns The output of the schema. The schema gets `undefined` for a 2xx response without
   * content.
   * @throws {ConfigurationError} When the client has no key, an argument is wrong, or the schema
   * itself throws.
   * @throws {HttpError} When the service responds with a 4xx or 5xx status.
   * @throws {RedirectError} When the service responds with a redirect.
   * @throws {NetworkError} When the service cannot be reached or the response breaks off.
   * @throws {TimeoutError} When the last attempt does not end within `timeout`.
   * @throws {InvalidResponseError} When the response is not JSON, is too large, or does not match
   * the schema.
   */
  call<Given extends Schema>(
    method: Method,
    endpoint: string,
    options: SchemaOptions<Given>,
  ): Promise<OutputOf<Given>>;

  /**
   * Calls an endpoint that the OpenAPI document does not have, without a check of the response.
   *
   * @param method The method.
   * @param endpoint The name of the endpoint, which is added to the base URL.
   * @param options What to send, and options that override the client's.
   * @returns The parsed JSON of the response; `undefined` for a 2xx response without content.
   * @throws {ScamAddressError} The same errors as with a schema.
   */
  call(method: Method, endpoint: string, options?: EndpointOptions): Promise<unknown>;
}

/** What openapi-fetch's methods resolve to. */
interface Result {
  data?: unknown;
  error?: unknown;
  response: Response;
}

/** How the methods of the client differ. */
interface Kind {
  /** Whether the operation is looked up in the OpenAPI document. */
  readonly isDocumented: boolean;
  /** Whether a 4xx or 5xx status is thrown. */
  readonly throws: boolean;
  /** Checks a 2xx response. */
  readonly schema?: Schema | undefined;
}

/** openapi-fetch's own methods. */
const DOCUMENTED: Kind = { isDocumented: true, throws: false };

type TypedPost = Client<paths>["POST"];

/** Converts the options of a call to openapi-fetch's own. */
function toFetchOptions(init: Init, { settings }: Call): object {
  const { timeout: _timeout, retries: _retries, params = {}, ...rest } = init;
  const { baseUrl, pathSerializer } = settings;
  return {
    ...rest,
    headers: readHeaders(init.headers),
    params: { ...params, path: params.path || {} }, // without `path`, no serializer is called
    pathSerializer: guardPath(init.pathSerializer ?? pathSerializer, params.path, baseUrl),
  };
}

/** Parses the body of a 2xx response as JSON, and checks it. */
function readData({ data, response }: Result, call: Call): unknown {
  const body = data === undefined ? new Uint8Array() : call.received.get(response)!.body;
  const { status } = response;
  const validate = call.validators[status in call.validators ? status : "2XX"];
  if (!body.byteLength && !validate) return undefined;
  let value: unknown;
  let issues: readonly Issue[] | undefined;
  try {
    value = JSON.parse(decode(body));
  } catch {
    issues = [{ path: "", rule: body.byteLength ? "json" : "empty" }];
  }
  issues ??= validate?.(value);
  if (issues) throw invalidResponse(call, response, issues);
  return value;
}

/** Reads the arguments of `checkKey`: a missing key must never become the client's own. */
function readCheckArguments(args: unknown[]): { key?: string; options: CallOptions } {
  const [first, second] = args;
  const isObject = Object.prototype.toString.call(first) === "[object Object]"; // and no list
  const isOwn = args.length === 0 || (args.length === 1 && isObject);
  const options = (isOwn ? first : second) ?? {};
  if (!isOwn && typeof first !== "string") {
    const forms = "a string; checkKey() checks the client's own key, checkKey(apiKey) another one";
    throw mustBe("apiKey", forms, first);
  }
  checkOptions(options, CALL_OPTIONS, "checkKey()");
  return isOwn ? { options } : { key: readApiKey(first), options };
}

/** Reads a response within the limits, unless that was done: middleware may have made it. */
async function settle(
  response: Response,
  call: Call,
  isJson: boolean,
): Promise<Response | undefined> {
  const received = call.received.get(response) ??
    await receive(call, () => Promise.resolve(response));
  call.received.set(response, received);
  if (response.ok && isJson) return undefined; // openapi-fetch will not read it
  return response.bodyUsed || response.body?.locked ? keep(received, call) : undefined;
}

/** Makes middleware that settles what `onRequest` returns, which no `onResponse` gets. */
function guardMiddleware(
  middleware: Middleware,
  finish: (response: Response) => Promise<Response | undefined>,
): Middleware {
  return {
    async onRequest(parameters) {
      const result = await middleware.onRequest?.(parameters);
      return result instanceof Response ? await finish(result) ?? result : result;
    },
    onResponse: (parameters) => middleware.onResponse?.(parameters),
    onError: (parameters) => middleware.onError?.(parameters),
  };
}

/** Makes the error for arguments that openapi-fetch could not build a request from. */
function unbuildable(error: unknown, { name, redact }: Call): ConfigurationError {
  // A TypeError comes from the runtime and may quote a header or a URL.
  const cause = error instanceof TypeError ? undefined : reasonOf(error, redact);
  return new ConfigurationError(
    `"${name}" cannot be built: see "headers", "params", "body" and "baseUrl"` +
      (cause ? `: ${cause.message}` : ""),
    {},
    cause && { cause },
  );
}

/**
 * Creates a client of the Scam Address Service.
 *
 * It reads no environment variables, writes nothing to the console, and sends nothing until you
 * call a method.
 *
 * @example Check a key
 * ```ts
 * import { createClient } from "@scam-address/client";
 * import { createSandbox } from "@scam-address/client/sandbox";
 *
 * const client = createClient({
 *   baseUrl: "https://service.example/api/",
 *   apiKey: "demo-key",
 *   fetch: createSandbox({ keys: { "demo-key": 100 } }).fetch, // leave it out to call the real one
 * });
 * const status = await client.checkKey();
 * if (status.apiKeyValid) console.log(status.data.credits); // 100
 * ```
 *
 * @typeParam Paths The type `paths` that openapi-typescript generates from an OpenAPI document; by
 * default this package's own.
 * @param options Where and how to send requests; only `baseUrl` is required.
 * @returns The client.
 * @throws {ConfigurationError} When an option is wrong.
 */
export function createClient<Paths extends object = paths>(
  options: ClientOptions,
): ScamAddressClient<Paths> {
  return createClientWith(options, systemClock);
}

/** Creates a client with a clock for the waits between attempts; tests pass their own. */
export function createClientWith<Paths extends object = paths>(
  options: ClientOptions,
  clock: Clock,
): ScamAddressClient<Paths> {
  const settings = readClientOptions(options);
  const { baseUrl, headers, querySerializer, bodySerializer, requestInitExt } = settings;
  const openapi = createFetchClient<Record<string, never>>(
    { baseUrl, headers, querySerializer, bodySerializer, requestInitExt } as FetchOptions,
  );
  const ownMiddleware: Middleware[] = [];

  /** Sends a request through openapi-fetch and the transport, and checks the response. */
  async function dispatch(
    method: unknown,
    path: unknown,
    given: Init | null | undefined,
    { isDocumented, throws, schema }: Kind,
  ): Promise<Result> {
    const init = given ?? {};
    const call = await prepareCall(method, path, init, isDocumented, settings);
    const isJson = (init.parseAs ?? "json") === "json";
    const finish = (response: Response) => settle(response, call, isJson);
    const middleware = [...ownMiddleware, ...init.middleware ?? []].filter(Boolean)
      .map((each) => guardMiddleware(each, finish));
    const isSeen = middleware.length > 0 || !isJson || !!(call.fetch ?? call.Request);
    // A Request would leave a listener on the caller's signal until it is collected.
    const controller = isSeen ? new AbortController() : undefined;
    const stop = controller && onAbort(call.signals, (reason) => controller.abort(reason));
    let isUnderWay = false; // what is thrown from then on comes from middleware or the fetch
    const first: Middleware = { // its onResponse runs last
      onRequest({ request }) {
        isUnderWay = true;
        request.headers.delete(apiKeyHeader); // a stray one
      },
      onResponse: ({ response }) => finish(response),
    };
    const run = (): Promise<Result> =>
      openapi.request(call.method as never, path as never, {
        ...toFetchOptions(init, call),
        middleware: middleware.length > 0 ? [first, ...middleware] : [],
        parseAs: isJson ? "stream" : init.parseAs, // JSON is parsed here, to be checked
        Request: isSeen ? call.Request ?? Request : RequestRecord,
        fetch(request: Request, extension?: RequestInit) {
          isUnderWay = true;
          return sendRequest(request, call, clock, extension);
        },
        signal: controller?.signal,
      } as never);
    let result: Result;
    try {
      // A signal also ends a call that waits for middleware.
      result = await (middleware.length > 0 ? within({ signals: call.signals }, run) : run());
    } catch (error) {
      throwIfAborted(call.signals); // openapi-fetch loses a falsy reason
      throw isUnderWay || error instanceof ScamAddressError ? error : unbuildable(error, call);
    } finally {
      stop?.();
    }
    const { response } = result;
    if (!response.ok && throws) throw httpError(call.received.get(response)!, call);
    if (!response.ok || !isJson) return result;
    const data = readData(result, call);
    return { response, data: schema ? await validate(schema, data, response, call) : data };
  }

  const request = (method: string, path: string, init?: Init) =>
    dispatch(method, path, init, DOCUMENTED);
  const client = {
    // openapi-fetch's type has TRACE, which fetch forbids, so it rejects.
    ...Object.fromEntries(
      [...METHODS, "TRACE"].map((method) => [method, request.bind(undefined, method)]),
    ),
    request,
    use(...middleware: Middleware[]) {
      checkMiddleware(middleware);
      ownMiddleware.push(...middleware);
    },
    eject(...middleware: Middleware[]) {
      for (const each of middleware) {
        const index = ownMiddleware.indexOf(each);
        if (index >= 0) ownMiddleware.splice(index, 1);
      }
    },
    async checkKey(...args: unknown[]): Promise<KeyStatus> {
      const { key, options } = readCheckArguments(args);
      const apiKey = key ?? await resolveApiKey(settings, options);
      const post =
        ((path: string, init: Init) =>
          dispatch("POST", path, init, { isDocumented: true, throws: true })) as TypedPost;
      const { data } = await post("/checkKey", {
        ...options,
        signal: options.signal ?? null,
        body: { apiKey },
        bodySerializer: defaultBodySerializer,
      });
      return data!;
    },
    async call(
      method: Method,
      endpoint: string,
      options?: Partial<SchemaOptions<Schema>> | null,
    ): Promise<unknown> {
      checkOptions(options ?? {}, ENDPOINT_OPTIONS, "call()");
      const { schema, query, ...init } = options ?? {};
      checkSchema(schema);
      const written = toQuery(query);
      const { data } = await dispatch(method, toPath(endpoint), {
        ...init,
        params: { path: {} },
        pathSerializer: (url) => url,
        bodySerializer: (body: unknown) => toJson(body, "body"),
        querySerializer: () => written,
      }, { isDocumented: false, throws: true, schema });
      return data;
    },
  };
  return client as unknown as ScamAddressClient<Paths>;
}
