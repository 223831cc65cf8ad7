import type { StandardSchemaV1 } from "@standard-schema/spec";
import createFetchClient, { type Client, type ParseAs } from "openapi-fetch";

import type {
  CallOptions,
  ClientOptions,
  KeyStatus,
  RequestOptions,
  ScamAddressClient,
} from "./api.ts";
import type { CallContext, ErrorContext } from "./call.ts";
import { readData } from "./data.ts";
import { ScamAddressError } from "./errors.ts";
import { httpError, timeoutError, withoutQuery } from "./failures.ts";
import { apiKeyHeader, operations } from "./generated/operations.ts";
import type { paths } from "./generated/types.ts";
import { runWithin } from "./limits.ts";
import {
  CALL_OPTIONS,
  type Given,
  optionError,
  readApiKey,
  readClientOptions,
  readOptions,
  REQUEST_OPTIONS,
  type Settings,
  TYPED_OPTIONS,
  UNTYPED_OPTIONS,
} from "./options.ts";
import { sendRequest } from "./send.ts";
import { checkParameters, serializeBody, toPath, toQuery } from "./serialize.ts";

/** The methods of openapi-fetch's client. `fetch` refuses TRACE. */
const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];

/** The result of openapi-fetch's methods. */
type Result = { data?: unknown; error?: unknown; response: Response };

/** openapi-fetch's client without the types of paths, which `api.ts` has for users. */
interface UntypedClient extends Pick<Client<object>, "use" | "eject"> {
  request(method: string, path: string, init: object): Promise<Result>;
}

/** The options of a call that are read here; openapi-fetch reads the others. */
interface AnyOptions extends Given<RequestOptions> {
  idempotent?: boolean;
  body?: unknown;
  params?: { path?: Record<string, unknown> };
  parseAs?: ParseAs;
  baseUrl?: string;
  fetch?: (request: Request) => Promise<Response>;
}

/** What else a method says of a call. */
interface CallDetails extends Pick<CallContext, "operation" | "schema"> {
  readonly resolvesToErrors?: boolean;
  readonly deadline?: number | undefined;
}

/** What the methods of a client share. */
interface Shared {
  readonly openapi: UntypedClient;
  readonly settings: Settings;
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
 *   fetch: createSandbox({ keys: { "demo-key": 100 } }).fetch, // leave it out to call the service
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
  const settings = readClientOptions(options);
  const shared: Shared = { openapi: createOpenapiClient(settings), settings };
  const ownMethods = {
    checkKey: checkKey.bind(undefined, shared),
    checkOwnKey: checkOwnKey.bind(undefined, shared),
    call: call.bind(undefined, shared),
  } satisfies Omit<ScamAddressClient, keyof Client<paths>>;
  const typedMethods = Object.fromEntries(
    METHODS.map((name) => [name, request.bind(undefined, shared, name)]),
  );
  const methods: object = {
    ...ownMethods,
    ...typedMethods,
    request: request.bind(undefined, shared),
    use: shared.openapi.use,
    eject: shared.openapi.eject,
  };
  // Only openapi-fetch's types of `Paths` know what the typed methods take and resolve to.
  return methods as ScamAddressClient<Paths>;
}

/** Creates openapi-fetch's client. */
function createOpenapiClient(settings: Settings): UntypedClient {
  const { baseUrl, bodySerializer = serializeBody, Request, requestInitExt } = settings;
  const { pathSerializer, querySerializer } = settings;
  // A copy; that of an object keeps a `null`, which removes a header.
  const headers = settings.headers instanceof Headers
    ? new Headers(settings.headers)
    : { ...settings.headers };
  const serializers = { bodySerializer, pathSerializer, querySerializer };
  // openapi-fetch's types accept neither options that are `undefined`, nor any string as a path.
  return createFetchClient(
    { baseUrl, headers, Request, requestInitExt, ...serializers } as object,
  ) as unknown as UntypedClient;
}

/** Calls an operation for a typed method. */
async function request(shared: Shared, method: string, path: string, init?: object | null) {
  const name = method.toUpperCase();
  const tables = [REQUEST_OPTIONS, TYPED_OPTIONS, UNTYPED_OPTIONS];
  const options = readOptions(init, `${name}()`, ...tables);
  const operation = operations[`${name} ${path}`];
  return await dispatch(shared, name, path, options, { operation, resolvesToErrors: true });
}

async function checkKey(shared: Shared, apiKey: string, init?: RequestOptions | null) {
  return await postCheckKey(shared, apiKey, readOptions(init, "checkKey()", REQUEST_OPTIONS));
}

async function checkOwnKey(shared: Shared, init?: RequestOptions | null) {
  const { settings } = shared;
  const { apiKey } = settings;
  const options = readOptions(init, "checkOwnKey()", REQUEST_OPTIONS);
  if (apiKey === undefined) throw optionError("apiKey", "is missing: the client has no key");
  if (typeof apiKey === "string") return await postCheckKey(shared, apiKey, options);
  // The limits of the call include the caller's function.
  const { signal, totalTimeout = settings.totalTimeout } = options;
  const deadline = performance.now() + totalTimeout;
  const context = { name: "checkOwnKey()", attempt: 0, secrets: [], totalTimeout, deadline };
  const key = await limitCall(context, signal, async () => await apiKey());
  return await postCheckKey(shared, key, options, deadline);
}

async function postCheckKey(
  shared: Shared,
  apiKey: string,
  options: AnyOptions,
  deadline?: number,
): Promise<KeyStatus> {
  // A change of the operation in the OpenAPI document is a compile error here, or at `KeyStatus`.
  const path = "/checkKey" satisfies keyof paths;
  type Content = paths[typeof path]["post"]["requestBody"]["content"];
  const body: Content["application/json"] = { apiKey: readApiKey(apiKey) };
  const given = { ...options, body, bodySerializer: serializeBody };
  const operation = operations[`POST ${path}`];
  const { data } = await dispatch(shared, "POST", path, given, { operation, deadline });
  return data as KeyStatus;
}

async function call(
  shared: Shared,
  method: string,
  endpoint: string,
  init?: CallOptions<StandardSchemaV1 | undefined> | null,
  // deno-lint-ignore no-explicit-any -- the output of a schema that only the caller knows
): Promise<any> {
  const { schema, query, ...rest } = readOptions(init, "call()", REQUEST_OPTIONS, CALL_OPTIONS);
  if (schema !== undefined && typeof schema?.["~standard"]?.validate !== "function") {
    throw optionError("schema", "must be a Standard Schema, such as one of Zod 3.24 or later");
  }
  const queryText = toQuery(query);
  const options = {
    ...rest,
    bodySerializer: serializeBody,
    pathSerializer: (path: string) => path, // which has no parameters
    querySerializer: () => queryText,
  };
  return await dispatch(shared, method.toUpperCase(), toPath(endpoint), options, { schema });
}

/** Sends a request through openapi-fetch, which calls `sendRequest`, and checks the response. */
async function dispatch(
  { openapi, settings }: Shared,
  method: string,
  path: string,
  options: AnyOptions,
  details: CallDetails,
): Promise<Result> {
  const { operation, schema, resolvesToErrors = false } = details;
  checkParameters(path, options.params?.path);
  if (settings.apiKey === undefined && (operation?.access ?? "required") === "required") {
    const ignored = `a header "${apiKeyHeader}" is ignored`;
    throw optionError("apiKey", `is missing: this request needs the client's key; ${ignored}`);
  }
  const { body, parseAs = "json", totalTimeout = settings.totalTimeout } = options;
  const deadline = details.deadline ?? performance.now() + totalTimeout;
  if (body !== undefined && ["GET", "HEAD"].includes(method)) {
    throw optionError("body", `must be left out of a ${method} request`);
  }
  const base = `${options.baseUrl || settings.baseUrl}`.replace(/\/$/, "");
  const keys = [settings.apiKey, (body as { apiKey?: unknown } | null | undefined)?.apiKey];
  const context: CallContext = {
    ...settings,
    ...options,
    method,
    name: `${method} ${withoutQuery(base + path)}`,
    operation,
    schema,
    resolvesToErrors,
    parseAs,
    totalTimeout,
    deadline,
    secrets: keys.filter((key): key is string => typeof key === "string"),
    attempt: 0,
  };
  return await limitCall(context, options.signal, async (callSignal) => {
    const result = await openapi.request(method, path, {
      ...options,
      signal: callSignal,
      parseAs: parseAs === "json" ? "text" : parseAs, // JSON is parsed in `readData`, to be checked
      fetch: (request: Request, initExt?: RequestInit) =>
        sendRequest(request, context, callSignal, initExt),
    });
    const { data, error, response } = result;
    if (!response.ok && !resolvesToErrors) throw httpError(context, response, error);
    if (!response.ok || parseAs !== "json") return result;
    // There is no text for a response without content.
    return { data: await readData(`${data ?? ""}`, response, context), response };
  });
}

/**
 * Does the work of a call until its signal is aborted or its deadline is over. Its errors get the stack
 * of the caller.
 */
async function limitCall<T>(
  context: ErrorContext & Pick<CallContext, "totalTimeout" | "deadline">,
  signal: AbortSignal | null | undefined,
  work: (callSignal: AbortSignal | null | undefined) => Promise<T>,
): Promise<T> {
  const { deadline, totalTimeout } = context;
  const timeout = Math.ceil(deadline - performance.now());
  const onTimeout = () => timeoutError(context, totalTimeout);
  try {
    // Without a limit, `runWithin` would only cost time.
    if (!signal && timeout === Infinity) return await work(signal);
    const limits = { signals: [signal], timeout, onTimeout };
    return await runWithin(limits, (controller) => work(controller.signal));
  } catch (error) {
    // V8 keeps ten frames of a stack, and all of them may be in this client and openapi-fetch.
    if (error instanceof ScamAddressError) Error.captureStackTrace?.(error, limitCall);
    throw error;
  }
}
