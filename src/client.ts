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
import { createTransport, readForeignBody } from "./transport.ts";

/** What the service reports on an API key; `apiKeyValid` tells the two forms apart. */
export type KeyStatus = components["schemas"]["KeyStatus"];

/** The report on a valid key, with its credits. */
export type ValidKey = components["schemas"]["ValidKey"];

/** The report on a key that is not valid. What else it holds is not documented. */
export type InvalidKey = components["schemas"]["InvalidKey"];

/** An HTTP method that {@linkcode ScamAddressClient.call} takes. */
export type Method = "DELETE" | "GET" | "HEAD" | "OPTIONS" | "PATCH" | "POST" | "PUT";

/** What {@linkcode ScamAddressClient.call} sends, and what differs from the client's options. */
export interface EndpointOptions extends CallOptions {
  /** The body, written as JSON. `undefined` sends none, as GET and HEAD require. */
  body?: unknown;
  /**
   * The query. Values are written as in JSON, so a `Date` is ISO 8601; a list repeats the name, the
   * fields of an object become `name[field]`, and `null` and `undefined` are left out.
   */
  query?: Readonly<Record<string, unknown>> | undefined;
  /** Headers in addition to the client's; `null` removes one. An `X-API-Key` is not sent. */
  headers?: ClientOptions["headers"];
}

/** {@linkcode EndpointOptions} with a schema that checks the response. */
export interface SchemaOptions<Given extends Schema> extends EndpointOptions {
  /**
   * Checks the response: any [Standard Schema](https://standardschema.dev), such as one made by Zod,
   * Valibot or ArkType. `call` resolves to its output, with its transforms applied.
   */
  schema: Given;
}

/**
 * A name of our own, because the documentation's lint asks for docs of openapi-fetch's.
 *
 * @internal
 */
type OpenapiFetchClient<Paths extends object> = Client<Paths>;

/** @internal */
type Schema = StandardSchemaV1;

/** @internal */
type OutputOf<Given extends Schema> = StandardSchemaV1.InferOutput<Given>;

/**
 * The client: [openapi-fetch](https://openapi-ts.dev/openapi-fetch/)'s methods for the operations of
 * the OpenAPI document, and in addition `checkKey` and `call`.
 *
 * `GET`, `POST` and the other methods resolve to `{ data, error, response }` and also take
 * {@linkcode CallOptions}. A 4xx or 5xx status does not reject: `error` and `response` report it.
 * `error` is empty when the body is, so test `response.ok`. For everything else they reject as
 * {@linkcode ScamAddressClient.call} does.
 *
 * Middleware runs once for each call, around all attempts, for `checkKey` and `call` too. It sees
 * requests without the `X-API-Key` header, which is added last, and sees the key that `checkKey` asks
 * about in the body. It runs outside of `timeout` and `signal`, and what it throws is passed on. Its
 * `options.parseAs` is `"stream"` where it would be `"json"`, because this client parses JSON itself.
 *
 * @typeParam Paths The `paths` that openapi-typescript makes of an OpenAPI document.
 */
export interface ScamAddressClient<Paths extends object = paths> extends OpenapiFetchClient<Paths> {
  /**
   * Asks the service whether a key is valid and how many credits it has.
   *
   * The key travels in the body; the request carries no `X-API-Key` header.
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
   * @param apiKey The key to check; the client's own when it is left out.
   * @param options What differs from the client's options.
   * @returns The key's status.
   * @throws {ConfigurationError} When there is no key, or none that a header could carry.
   * @throws {HttpError} When the service responds with a 4xx or 5xx status.
   * @throws {RedirectError} When the service responds with a redirect.
   * @throws {NetworkError} When the service cannot be reached or the response breaks off.
   * @throws {TimeoutError} When the last attempt's time is up.
   * @throws {InvalidResponseError} When the response is not what the OpenAPI document says.
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
   * @param method The method. GET, HEAD, OPTIONS, PUT and DELETE are repeated after a failure that
   * may pass, other methods only when the service responds with 429.
   * @param endpoint The endpoint's name, which directly follows the base URL.
   * @param options The schema, what to send, and what differs from the client's options.
   * @returns The output of the schema. For a 2xx response without content the schema is given
   * `undefined`.
   * @throws {ConfigurationError} When the client has no key, or an argument is wrong.
   * @throws {HttpError} When the service responds with a 4xx or 5xx status.
   * @throws {RedirectError} When the service responds with a redirect.
   * @throws {NetworkError} When the service cannot be reached or the response breaks off.
   * @throws {TimeoutError} When the last attempt's time is up.
   * @throws {InvalidResponseError} When the response is not JSON, is too large, or is rejected by
   * the schema.
   */
  call<Given extends Schema>(
    method: Method,
    endpoint: string,
    options: SchemaOptions<Given>,
  ): Promise<OutputOf<Given>>;

  /**
   * Calls an endpoint that the OpenAPI document does not have, without checking the response.
   *
   * @param method The method.
   * @param endpoint The endpoint's name, which directly follows the base URL.
   * @param options What to send, and what differs from the client's options.
   * @returns The JSON of the response; `undefined` for a 2xx response without content.
   * @throws {ScamAddressError} As with a schema.
   */
  call(method: Method, endpoint: string, options?: EndpointOptions): Promise<unknown>;
}

/** What openapi-fetch's methods resolve to. */
interface Result {
  data?: unknown;
  error?: unknown;
  response: Response;
}

/** A result, and what it came from. */
interface Outcome {
  readonly result: Result;
  readonly call: Call;
  /** What the transport received; undefined when middleware responded instead. */
  readonly received: Received | undefined;
}

/** Reads the JSON of a 2xx response, which openapi-fetch hands over unread. */
async function readData({ result, call, received }: Outcome): Promise<unknown> {
  const { data, response } = result;
  if (data === undefined) return parseJson(new Uint8Array(), response.status, call);
  const body = response === received?.response
    ? received.body
    : await readForeignBody(response, call);
  return parseJson(body, response.status, call);
}

/** Gives the data of a 2xx response, and throws any other. */
function unwrap({ result, call, received }: Outcome): unknown {
  const { data, error, response } = result;
  if (response.ok) return data;
  if (response === received?.response) throw httpError(call, response, decode(received.body));
  throw httpError(call, response, typeof error === "string" ? error : JSON.stringify(error) ?? "");
}

/** Says that openapi-fetch could not make a request of the arguments. */
function unbuildable(error: unknown, { name, secrets }: Call): ConfigurationError {
  // A TypeError is the platform's, which may quote a header or an address.
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
 * It reads nothing from the environment, writes nothing to the console, and sends nothing until one
 * of its methods is called.
 *
 * @example Check a key
 * ```ts
 * import { createClient } from "@scam-address/client";
 * import { createSandbox } from "@scam-address/client/sandbox";
 *
 * const client = createClient({
 *   baseUrl: "https://service.example/api/",
 *   apiKey: "demo-key",
 *   fetch: createSandbox({ keys: { "demo-key": 100 } }).fetch, // leave out to ask the real service
 * });
 * const status = await client.checkKey();
 * if (status.apiKeyValid) console.log(status.data.credits); // 100
 * ```
 *
 * @typeParam Paths The `paths` that openapi-typescript makes of an OpenAPI document; this package's
 * own by default.
 * @param options Where and how to send requests; only `baseUrl` is required.
 * @returns The client.
 * @throws {ConfigurationError} When an option is wrong.
 */
export function createClient<Paths extends object = paths>(
  options: ClientOptions,
): ScamAddressClient<Paths> {
  return createClientWith(options, systemClock);
}

/** Creates a client whose waits between attempts a clock decides on, for tests. */
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
    // openapi-fetch's type has TRACE, which fetch forbids: it rejects.
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
