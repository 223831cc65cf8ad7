import type { StandardSchemaV1 } from "@standard-schema/spec";
import createFetchClient, {
  type Client,
  type ClientOptions as FetchOptions,
  defaultBodySerializer,
  type Middleware,
} from "openapi-fetch";

import { type Call, checkMiddleware, type Init, prepareCall, resolveApiKey } from "./call.ts";
import { mustBe, readApiKey } from "./checks.ts";
import { ConfigurationError, ScamAddressError } from "./errors.ts";
import { operations } from "./generated/operations.ts";
import type { components, paths } from "./generated/types.ts";
import type { Operation } from "./operation.ts";
import { type CallOptions, type ClientOptions, readClientOptions, readHeaders } from "./options.ts";
import { checkPathParameters, METHODS, readMethod, toJson, toPath, toQuery } from "./request.ts";
import { decode, httpError, parseJson, type Received } from "./response.ts";
import { checkSchema, validate } from "./schema.ts";
import { type Clock, systemClock } from "./time.ts";
import { createTransport, readMiddlewareBody } from "./transport.ts";

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
 * `GET`, `POST` and the other methods resolve to `{ data, error, response }` and also take
 * {@linkcode CallOptions}. They do not reject for a 4xx or 5xx status but set `error`, which is
 * empty when the body is, so test `data` or `response.ok`. For every other failure they reject with
 * the same errors as {@linkcode ScamAddressClient.call}.
 *
 * Middleware runs once for each call, before the first attempt and after the last, also for
 * `checkKey` and `call`. It never sees the `X-API-Key` header, which is added after it ran, but it
 * sees the body of `checkKey`, which contains the key. `timeout` and `signal` do not stop it, and a
 * call rejects with what it throws. Its `options.parseAs` is `"stream"` in place of `"json"`,
 * because this client parses JSON itself.
 *
 * @typeParam Paths The type `paths` that openapi-typescript generates from an OpenAPI document.
 */
export interface ScamAddressClient<Paths extends object = paths> extends OpenapiFetchClient<Paths> {
  /**
   * Checks whether an API key is valid and how many credits it has.
   *
   * The key is sent in the body; the request has no `X-API-Key` header.
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
   * @param apiKey The key to check; by default the client's own.
   * @param options Options of this call, which override the client's.
   * @returns The status of the key.
   * @throws {ConfigurationError} When there is no key, or it could not be sent in a header.
   * @throws {HttpError} When the service responds with a 4xx or 5xx status.
   * @throws {RedirectError} When the service responds with a redirect.
   * @throws {NetworkError} When the service cannot be reached or the response breaks off.
   * @throws {TimeoutError} When the last attempt takes longer than `timeout`.
   * @throws {InvalidResponseError} When the response does not match the OpenAPI document.
   */
  checkKey(apiKey?: string, options?: CallOptions): Promise<KeyStatus>;

  /**
   * Calls an endpoint that the OpenAPI document does not have, with the `X-API-Key` header and
   * `Content-Type: application/json`, and checks the response with a schema.
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
   * @throws {TimeoutError} When the last attempt takes longer than `timeout`.
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

/** The result of a call, with what it was made from. */
interface Outcome {
  readonly result: Result;
  readonly call: Call;
  /** The response from the transport; undefined when middleware responded instead. */
  readonly received: Received | undefined;
}

/** Reads the JSON of a 2xx response, whose body openapi-fetch returns as a stream. */
async function readData({ result, call, received }: Outcome): Promise<unknown> {
  const { data, response } = result;
  if (data === undefined) return parseJson(new Uint8Array(), response.status, call);
  const body = response === received?.response
    ? received.body
    : await readMiddlewareBody(response, call);
  return parseJson(body, response.status, call);
}

/** Returns the data of a 2xx response, and throws an error for any other status. */
function unwrap({ result, call, received }: Outcome): unknown {
  const { data, error, response } = result;
  if (response.ok) return data;
  if (response === received?.response) throw httpError(call, response, decode(received.body));
  throw httpError(call, response, typeof error === "string" ? error : JSON.stringify(error) ?? "");
}

/** Makes the error for arguments that openapi-fetch could not build a request from. */
function unbuildable(error: unknown, { name, secrets }: Call): ConfigurationError {
  // A TypeError comes from the runtime and may quote a header or a URL.
  const cause = error instanceof TypeError ? undefined : secrets.reason(error);
  return new ConfigurationError(
    `"${name}" cannot be built: see "headers", "params", "body" and "baseUrl"` +
      (cause ? `: ${cause.message}` : ""),
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
  const { baseUrl, headers, querySerializer, bodySerializer, pathSerializer, requestInitExt } =
    settings;
  const openapi = createFetchClient<Record<string, never>>({
    baseUrl,
    headers,
    querySerializer,
    bodySerializer,
    pathSerializer,
    requestInitExt,
  } as FetchOptions);
  let hasMiddleware = false;

  /** Sends a request through openapi-fetch and the transport, and checks the response. */
  async function dispatch(
    method: string,
    path: string,
    init: Init,
    operation: Operation | undefined,
  ): Promise<Outcome> {
    const { timeout: _timeout, retries: _retries, headers, parseAs = "json", ...rest } = init;
    const hasOwnRequest = Boolean(init.Request ?? settings.Request);
    const isObserved = hasMiddleware || hasOwnRequest || !!init.middleware?.length ||
      parseAs !== "json";
    const call = {
      ...await prepareCall(method, path, init, operation, settings),
      isObserved,
    };
    const transport = createTransport(call, clock);
    let result: Result;
    try {
      result = await openapi.request(method as never, path as never, {
        ...rest,
        headers: readHeaders(headers),
        parseAs: parseAs === "json" ? "stream" : parseAs,
        fetch: transport.fetch,
        Request: transport.Request,
      } as never);
    } catch (error) {
      for (const signal of call.signals) signal.throwIfAborted(); // openapi-fetch loses a falsy one
      if (transport.isBuilt || error instanceof ScamAddressError) throw error;
      throw unbuildable(error, call);
    }
    const outcome = { result, call, received: transport.received };
    if (result.response.ok && parseAs === "json") result.data = await readData(outcome);
    return outcome;
  }

  /** Does what openapi-fetch's method of the same name does. */
  async function perform(method: unknown, path: unknown, init?: Init | null): Promise<Result> {
    const name = readMethod(method);
    if (typeof path !== "string") throw mustBe("path", "a string", path);
    const options = init ?? {};
    const values = options.params?.path; // without which openapi-fetch calls no serializer
    const serializer = values && (options.pathSerializer ?? pathSerializer);
    if (!serializer) checkPathParameters(path, values);
    const { result } = await dispatch(name, path, options, operations[`${name} ${path}`]);
    return result;
  }

  const client = {
    // openapi-fetch's type has TRACE, which fetch forbids, so it rejects.
    ...Object.fromEntries([...METHODS, "TRACE"].map((method) => [
      method,
      (path: string, init?: Init) => perform(method, path, init),
    ])),
    request: perform,
    use(...middleware: Middleware[]) {
      checkMiddleware(middleware);
      hasMiddleware = true;
      openapi.use(...middleware);
    },
    eject: openapi.eject,
    async checkKey(key?: string, options?: CallOptions | null): Promise<KeyStatus> {
      const init = options ?? {};
      if (Object(key) === key) {
        throw mustBe("apiKey", "a string (options go second: checkKey(undefined, options))", key);
      }
      const apiKey = key === undefined ? await resolveApiKey(settings, init) : readApiKey(key);
      const request = { ...init, body: { apiKey }, bodySerializer: defaultBodySerializer };
      const operation = operations["POST /checkKey"];
      return unwrap(await dispatch("POST", "/checkKey", request, operation)) as KeyStatus;
    },
    async call(
      method: Method,
      endpoint: string,
      options?: Partial<SchemaOptions<Schema>> | null,
    ): Promise<unknown> {
      const { schema, query, ...init } = options ?? {};
      checkSchema(schema);
      const written = toQuery(query);
      const outcome = await dispatch(readMethod(method), toPath(endpoint), {
        ...init,
        bodySerializer: toJson,
        querySerializer: () => written,
      }, undefined);
      const data = unwrap(outcome);
      return schema
        ? await validate(schema, data, outcome.result.response.status, outcome.call)
        : data;
    },
  };
  return client as unknown as ScamAddressClient<Paths>;
}
