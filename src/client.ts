import type { StandardSchemaV1 } from "@standard-schema/spec";
import createFetchClient, { type Client, type HeadersOptions, type ParseAs } from "openapi-fetch";

import type {
  CallOptions,
  ClientOptions,
  KeyStatus,
  OperationInput,
  RequestOptions,
  ScamAddressClient,
} from "./api.ts";
import type { CallContext } from "./call.ts";
import { readData } from "./data.ts";
import * as failures from "./failures.ts";
import { apiKeyHeader, operations } from "./generated/operations.ts";
import type { paths } from "./generated/types.ts";
import { runWithin } from "./limits.ts";
import type { ApiKey, Given, Settings } from "./options.ts";
import {
  checkApiKey,
  METHODS,
  optionError,
  OPTIONS,
  readBaseUrl,
  readClientOptions,
  readHeaders,
  readMethod,
  readOptions,
} from "./options.ts";
import { PlainRequest, PlainResponse } from "./plain.ts";
import { copyResponse } from "./response.ts";
import { resolveApiKey, sendRequest } from "./send.ts";
import { checkParameters, checkPath, serializeBody, serializers, toPath } from "./serialize.ts";
import { withoutQuery } from "./text.ts";

/** The result of openapi-fetch's methods. */
type Result = { data?: unknown; error?: unknown; response: Response };

/** openapi-fetch's client without the types of paths, which `api.ts` has for users. */
interface UntypedClient extends Pick<Client<object>, "use" | "eject"> {
  request(method: string, path: string, init: object): Promise<Result>;
}

/** The options of a call that are read here; openapi-fetch reads the others. */
interface AnyOptions extends Given<RequestOptions & Pick<CallOptions, "body" | "idempotent">> {
  params?: { path?: Record<string, unknown>; query?: unknown; header?: HeadersOptions };
  parseAs?: ParseAs;
  middleware?: unknown[];
  baseUrl?: string;
  fetch?: (request: Request) => Promise<Response>;
}

/** What else a method says of a call. */
interface CallDetails extends Partial<Pick<CallContext, "operation" | "resolvesToErrors">> {
  readonly schema?: StandardSchemaV1 | undefined;
  /** Makes the body, within the limits of the call. */
  readonly makeBody?: ((context: CallContext) => Promise<unknown>) | undefined;
}

/** What the methods of a client share. */
interface Shared {
  readonly openapi: UntypedClient;
  readonly settings: Settings;
  /** Whether the client may have middleware, which sees a `Request` and a `Response`. */
  usesMiddleware: boolean;
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
 *   fetch: createSandbox({ keys: { "demo-key": 100 } }).fetch, // delete this line to call the service
 * });
 * const status = await client.checkOwnKey();
 * if (status.apiKeyValid) console.log(status.data.credits); // 100
 * ```
 *
 * @typeParam Paths The type `paths` that openapi-typescript generates from an OpenAPI document; by
 * default, this package's own.
 * @param options Where and how to send requests; only `baseUrl` is required.
 * @returns The client.
 * @throws {ConfigurationError} If an option is wrong.
 */
export function createClient<Paths extends object = paths>(
  options: ClientOptions,
): ScamAddressClient<Paths> {
  const settings = readClientOptions(options);
  const openapi = createOpenapiClient(settings);
  const shared: Shared = { openapi, settings, usesMiddleware: false };
  const methods: Record<string, unknown> = {};
  for (const [endpoint, operation] of Object.entries(operations)) {
    const [method, path] = endpoint.split(" ") as [string, string];
    const owner = `${operation.operationId}()`;
    methods[operation.operationId] = async (init?: object | null) => {
      const options = readOptions(init, owner, OPTIONS.request, OPTIONS.operation);
      return await dispatch(shared, method, path, options, { operation });
    };
  }
  // `fetch` does not allow TRACE, which openapi-fetch's client has.
  for (const name of [...METHODS, "TRACE"]) methods[name] = request.bind(undefined, shared, name);
  methods.request = request.bind(undefined, shared);
  const ownMethods = {
    checkKey: checkKey.bind(undefined, shared),
    checkOwnKey: checkOwnKey.bind(undefined, shared),
    call: call.bind(undefined, shared),
    use(...middleware) {
      openapi.use(...middleware);
      shared.usesMiddleware = true;
    },
    eject: openapi.eject,
  } satisfies Partial<ScamAddressClient>;
  // Only the generated types, and openapi-fetch's, know what the other methods take and resolve to.
  return Object.assign(methods, ownMethods) as object as ScamAddressClient<Paths>;
}

/** Creates openapi-fetch's client. */
function createOpenapiClient(settings: Settings): UntypedClient {
  const { baseUrl, headers, pathSerializer, querySerializer } = { ...serializers, ...settings };
  const options: object = { baseUrl, headers, pathSerializer, querySerializer };
  // openapi-fetch's types accept neither options that are `undefined`, nor any string as a path.
  return createFetchClient(options) as unknown as UntypedClient;
}

/** Calls an operation for a typed method. */
async function request(shared: Shared, method: string, path: string, init?: object | null) {
  const name = readMethod(method);
  const options: AnyOptions = readOptions(init, `${name}()`, OPTIONS.request, OPTIONS.typed);
  checkPath(path);
  // Here and not in openapi-fetch's client, because the other methods do not use it.
  const { bodySerializer } = shared.settings;
  const defaults = bodySerializer && { bodySerializer };
  const details = { operation: operations[`${name} ${path}`], resolvesToErrors: true };
  return await dispatch(shared, name, path, { ...defaults, ...options }, details);
}

async function checkKey(shared: Shared, apiKey: string, init?: RequestOptions | null) {
  checkApiKey(apiKey);
  return await postCheckKey(shared, apiKey, readOptions(init, "checkKey()", OPTIONS.request));
}

async function checkOwnKey(shared: Shared, init?: RequestOptions | null) {
  const { apiKey } = shared.settings;
  if (apiKey === undefined) throw optionError("apiKey", "is missing: the client has no key");
  return await postCheckKey(shared, apiKey, readOptions(init, "checkOwnKey()", OPTIONS.request));
}

async function postCheckKey(shared: Shared, apiKey: ApiKey, options: AnyOptions) {
  // A change of the operation in the OpenAPI document is a compile error here, or at `KeyStatus`.
  const path = "/checkKey" satisfies keyof paths;
  const makeBody = async (context: CallContext) => {
    const key = await resolveApiKey(apiKey, context);
    const input: OperationInput<paths[typeof path]["post"]> = { body: { apiKey: key } };
    return input.body;
  };
  const details = { operation: operations[`POST ${path}`], makeBody };
  const { data } = await dispatch(shared, "POST", path, options, details);
  return data as KeyStatus;
}

async function call(
  shared: Shared,
  method: string,
  endpoint: string,
  init?: CallOptions<StandardSchemaV1 | undefined> | null,
  // deno-lint-ignore no-explicit-any -- the output of a schema that only the caller knows
): Promise<any> {
  const { schema, query, ...rest } = readOptions(init, "call()", OPTIONS.request, OPTIONS.call);
  const options = { ...rest, params: { query } };
  return await dispatch(shared, readMethod(method), toPath(endpoint), options, { schema });
}

/** Sends a request through openapi-fetch, which calls `sendRequest`, and checks the response. */
async function dispatch(
  shared: Shared,
  method: string,
  path: string,
  options: AnyOptions,
  details: CallDetails,
): Promise<Result> {
  const { openapi, settings } = shared;
  const context = createContext(settings, method, path, options, details);
  const { baseUrl, parseAs, resolvesToErrors } = context;
  return await limitCall(context, async (callSignal) => {
    const body = details.makeBody ? await details.makeBody(context) : options.body;
    for (const key of [settings.apiKey, Object(body).apiKey]) {
      if (typeof key === "string") context.secrets.add(key);
    }
    // Read here, because middleware may have been added while `makeBody` waited.
    const isPlain = parseAs === "json" && !shared.usesMiddleware && !options.middleware;
    let failure: { response?: unknown; error?: unknown } = {};
    const result = await openapi.request(method, path, {
      bodySerializer: (body: unknown, headers: Headers) => serializeBody(body, headers, context),
      ...resolvesToErrors ? options : { ...options, ...serializers },
      body,
      baseUrl,
      Request: isPlain ? PlainRequest : Request,
      duplex: "half", // Node.js requires it for a body that is a stream.
      signal: callSignal,
      parseAs: parseAs === "json" ? "text" : parseAs, // JSON is parsed in `readData`, to be checked
      async fetch(request: Request | PlainRequest) {
        const sent = await sendRequest(request, context, callSignal);
        const response = isPlain ? sent.response : copyResponse(sent.response);
        failure = { response, error: sent.error };
        return response;
      },
    });
    const isOurs = failure.response === result.response;
    const { ok } = result.response;
    if (result.response instanceof PlainResponse) result.response = result.response.original;
    const { data, error, response } = result;
    if (ok && parseAs === "json") {
      // There is no text for a response without content.
      return { data: await readData(`${data ?? ""}`, response, context), response };
    }
    if (ok || resolvesToErrors) return result;
    // A response that middleware made has no error yet.
    throw isOurs ? failure.error : failures.http(context, response, failures.toText(error));
  });
}

/** Creates the context of a call, and refuses what must not be sent. */
function createContext(
  settings: Settings,
  method: string,
  path: string,
  options: AnyOptions,
  { operation, resolvesToErrors = false, schema }: CallDetails,
): CallContext {
  if (options.body !== undefined && ["GET", "HEAD"].includes(method)) {
    throw optionError("body", `must be left out of a ${method} request`);
  }
  checkParameters(path, options.params?.path);
  if (options.params?.header) readHeaders("params.header", options.params.header);
  const access = operation?.access ?? "required";
  if (settings.apiKey === undefined && access === "required") {
    const ignored = `your own header "${apiKeyHeader}" is ignored`;
    throw optionError("apiKey", `is missing: this request needs the client's key; ${ignored}`);
  }
  const baseUrl = options.baseUrl ? readOwnBaseUrl(options.baseUrl, settings) : settings.baseUrl;
  const totalTimeout = options.totalTimeout ?? settings.totalTimeout;
  // A literal, because spreads of this many fields are slow.
  // deno-fmt-ignore
  return {
    method, operation, access, schema, resolvesToErrors, baseUrl, totalTimeout,
    apiKey: settings.apiKey, maxResponseBytes: settings.maxResponseBytes,
    onRetry: settings.onRetry, requestInitExt: settings.requestInitExt,
    fetch: options.fetch ?? settings.fetch, retries: options.retries ?? settings.retries,
    timeout: options.timeout ?? settings.timeout, parseAs: options.parseAs ?? "json",
    signal: options.signal, idempotent: options.idempotent,
    name: `${method} ${baseUrl}${withoutQuery(path.slice(1))}`,
    deadline: performance.now() + totalTimeout,
    secrets: new Set(), errors: new Set(), attempt: 0,
  };
}

/** Checks the base URL of a call: the key is only sent to the client's origin. */
function readOwnBaseUrl(baseUrl: string, settings: Settings): string {
  const address = readBaseUrl({ ...settings, baseUrl });
  if (new URL(address).origin === new URL(settings.baseUrl).origin) return address;
  throw optionError("baseUrl", "must have the same origin as the client's, to protect the key");
}

/**
 * Does the work of a call until its signal is aborted or its time is up. The errors that the call made
 * get the stack of the caller.
 */
async function limitCall<T>(
  context: CallContext,
  work: (callSignal?: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, totalTimeout } = context;
  const onTimeout = () => failures.timeout(context, totalTimeout);
  try {
    // Without a limit, `runWithin` would only cost time: on Deno, a fifth of the call.
    if (!signal && totalTimeout === Infinity) return await work();
    const limits = { signals: signal ? [signal] : [], timeout: totalTimeout, onTimeout };
    return await runWithin(limits, (controller) => work(controller.signal));
  } catch (error) {
    // V8 keeps ten frames of a stack, and all of them may be in this client and openapi-fetch.
    if (context.errors.has(error)) Error.captureStackTrace?.(error as Error, limitCall);
    throw error;
  }
}
