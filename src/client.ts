import createFetchClient, {
  type Client,
  type ClientOptions as FetchOptions,
  defaultBodySerializer,
} from "openapi-fetch";
import type { StandardSchemaV1 } from "@standard-schema/spec";

import type {
  CallOptions,
  ClientOptions,
  KeyStatus,
  Method,
  Middleware,
  ScamAddressClient,
  SchemaOptions,
} from "./api.ts";
import { checkMiddleware, type Init, prepareCall, toFetchOptions } from "./call.ts";
import { checkOptions, readApiKey, readNumber, readSignal, wrong } from "./checks.ts";
import { checkSchema, readData, readReceived, type Result, validate } from "./data.ts";
import { guardQuery, METHODS, toJson, toPath, toQuery, writeBody } from "./endpoint.ts";
import { requestClass, RequestRecord, rethrow, sendRequest } from "./fetch.ts";
import type { paths } from "./generated/types.ts";
import { CALL_OPTIONS, readClientOptions } from "./options.ts";
import { httpError } from "./transport/response.ts";
import { type Clock, systemClock, within } from "./transport/time.ts";

/** How the methods of the client differ. */
interface Kind {
  /** Whether the operation is looked up in the OpenAPI document. */
  readonly isDocumented: boolean;
  /** Whether a status that is not 2xx is thrown. */
  readonly throws: boolean;
  /** Checks the data of a 2xx response. */
  readonly schema?: StandardSchemaV1 | undefined;
}

type TypedPost = Client<paths>["POST"];

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
 * const status = await client.checkOwnKey();
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
  const { baseUrl, headers, requestInitExt } = settings;
  const openapi = createFetchClient<Record<string, never>>({
    baseUrl,
    headers,
    querySerializer: guardQuery(settings.querySerializer),
    bodySerializer: settings.bodySerializer ?? writeBody,
    requestInitExt,
  } as FetchOptions);
  let ownMiddleware: readonly Middleware[] = [];

  /** Sends a request through openapi-fetch and the transport, and checks the response. */
  // deno-lint-ignore require-await -- without it, the stack of an error has one frame less
  async function dispatch(
    method: unknown,
    path: unknown,
    given: Init | null | undefined,
    { isDocumented, throws, schema }: Kind,
    used = ownMiddleware,
  ): Promise<Result> {
    const init = given ?? {};
    const call = prepareCall(method, path, init, isDocumented, settings);
    const middleware = [...used, ...init.middleware ?? []].filter(Boolean);
    const isSeen = middleware.length > 0 || call.isSeen;
    const run = async (signal?: AbortSignal): Promise<Result> => {
      call.signals = signal ? [signal] : [];
      const result: Result = await openapi.request(call.method as never, path as never, {
        ...toFetchOptions(init, call),
        middleware,
        Request: isSeen ? requestClass(call) : RequestRecord,
        fetch: (request: Request, extension?: RequestInit) =>
          sendRequest(request, call, clock, extension),
        signal,
      } as never).catch(rethrow);
      const { response } = result;
      if (response.ok ? !call.isJson : !throws) return result;
      const received = await readReceived(result, call);
      if (!response.ok) throw httpError(received, call);
      const data = readData(received, result.data === undefined, call);
      return { response, data: schema ? await validate(schema, data, received, call) : data };
    };
    return call.signals.length > 0 ? within({ signals: call.signals }, run) : run();
  }

  /** `checkKey`, by its typed method, so that a change of its contract does not compile. */
  function check(
    apiKey: string,
    options: CallOptions,
    used?: readonly Middleware[],
  ): Promise<KeyStatus> {
    const post =
      ((path: string, init: Init) =>
        dispatch("POST", path, init, { isDocumented: true, throws: true }, used)) as TypedPost;
    return post("/checkKey", {
      ...options,
      signal: options.signal ?? null,
      body: { apiKey },
      bodySerializer: defaultBodySerializer,
    }).then(({ data }) => data!);
  }

  const request = (method: string, path: string, init?: Init) =>
    dispatch(method, path, init, { isDocumented: true, throws: false });
  const client = {
    // openapi-fetch's type has TRACE, which fetch forbids, so it rejects.
    ...Object.fromEntries(
      [...METHODS, "TRACE"].map((method) => [method, request.bind(undefined, method)]),
    ),
    request,
    use(...middleware: Middleware[]) {
      checkMiddleware(middleware);
      ownMiddleware = [...ownMiddleware, ...middleware];
    },
    eject(...middleware: Middleware[]) {
      ownMiddleware = ownMiddleware.filter((each) => !middleware.includes(each));
    },
    async checkKey(apiKey: string, options?: CallOptions | null): Promise<KeyStatus> {
      checkOptions(options ?? {}, CALL_OPTIONS, "checkKey()");
      return await check(readApiKey(apiKey), options ?? {});
    },
    async checkOwnKey(options?: CallOptions | null): Promise<KeyStatus> {
      checkOptions(options ?? {}, CALL_OPTIONS, "checkOwnKey()");
      const copy = { ...options };
      const used = ownMiddleware;
      const signals = readSignal(copy.signal);
      readNumber("timeout", copy.timeout);
      readNumber("retries", copy.retries);
      const { apiKey } = settings;
      if (apiKey === undefined) throw wrong("apiKey", "is missing: the client has no key");
      if (typeof apiKey === "string") return await check(apiKey, copy);
      const key = await within({ signals }, async () => await apiKey());
      return await check(readApiKey(key), copy, used);
    },
    async call(
      method: Method,
      endpoint: string,
      options?: Partial<SchemaOptions<StandardSchemaV1>> | null,
    ): Promise<unknown> {
      const own = ["body", "query", "headers", "idempotent", "schema"];
      checkOptions(options ?? {}, [...CALL_OPTIONS, ...own], "call()");
      const { schema, query, ...init } = options ?? {};
      checkSchema(schema);
      const written = toQuery(query);
      const { data } = await dispatch(method, toPath(endpoint), {
        ...init,
        pathSerializer: (url) => url,
        bodySerializer: toJson,
        querySerializer: () => written,
      }, { isDocumented: false, throws: true, schema });
      return data;
    },
  };
  return client as unknown as ScamAddressClient<Paths>;
}
