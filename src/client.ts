import type { StandardSchemaV1 } from "@standard-schema/spec";
import createFetchClient, { createQuerySerializer, defaultPathSerializer } from "openapi-fetch";
import type { Client, ParseAs } from "openapi-fetch";

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
  checkValue,
  METHODS,
  optionError,
  OPTIONS,
  readClientOptions,
  readMethod,
  readOptions,
} from "./options.ts";
import { resolveApiKey, sendRequest } from "./send.ts";
import { checkPath, serializeBody, toPath, toQuery } from "./serialize.ts";
import { withoutQuery } from "./text.ts";

/** The result of openapi-fetch's methods. */
type Result = { data?: unknown; error?: unknown; response: Response };

/** openapi-fetch's client without the types of paths, which `api.ts` has for users. */
interface UntypedClient extends Pick<Client<object>, "use" | "eject"> {
  request(method: string, path: string, init: object): Promise<Result>;
}

/** The options of a call that are read here; openapi-fetch reads the others. */
interface AnyOptions extends Given<RequestOptions & Pick<CallOptions, "body" | "idempotent">> {
  params?: { path?: Record<string, unknown> };
  parseAs?: ParseAs;
  baseUrl?: string;
  fetch?: (request: Request) => Promise<Response>;
}

/** What else a method says of a call. */
interface CallDetails extends Pick<CallContext, "operation" | "schema" | "resolvesToErrors"> {
  /** Makes the body, within the limits of the call. */
  readonly makeBody?: ((context: CallContext) => Promise<unknown>) | undefined;
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
  const shared: Shared = { openapi: createOpenapiClient(settings), settings };
  const methods: Record<string, unknown> = {};
  for (const [endpoint, { operationId }] of Object.entries(operations)) {
    methods[operationId] = async (init?: object | null) => {
      const options = readOptions(init, `${operationId}()`, OPTIONS.request, OPTIONS.operation);
      return await callOperation(shared, endpoint, options);
    };
  }
  for (const name of [...METHODS, "TRACE"]) methods[name] = request.bind(undefined, shared, name);
  methods.request = request.bind(undefined, shared);
  const ownMethods = {
    checkKey: checkKey.bind(undefined, shared),
    checkOwnKey: checkOwnKey.bind(undefined, shared),
    call: call.bind(undefined, shared),
    use: shared.openapi.use,
    eject: shared.openapi.eject,
  } satisfies Partial<ScamAddressClient>;
  // Only the generated types, and openapi-fetch's, know what the other methods take and resolve to.
  return Object.assign(methods, ownMethods) as object as ScamAddressClient<Paths>;
}

/** Creates openapi-fetch's client. */
function createOpenapiClient(settings: Settings): UntypedClient {
  const { baseUrl, pathSerializer, querySerializer } = settings;
  // A copy; that of an object keeps a `null`, which removes a header.
  const headers = settings.headers instanceof Headers
    ? new Headers(settings.headers)
    : { ...settings.headers };
  const options: object = { baseUrl, headers, pathSerializer, querySerializer };
  // openapi-fetch's types accept neither options that are `undefined`, nor any string as a path.
  return createFetchClient(options) as unknown as UntypedClient;
}

/** Calls an operation for a typed method. */
async function request(shared: Shared, method: string, path: string, init?: object | null) {
  const name = readMethod(method);
  const options: AnyOptions = readOptions(init, `${name}()`, OPTIONS.request, OPTIONS.typed);
  // Here and not in openapi-fetch's client, because the other methods do not use it.
  const { bodySerializer } = shared.settings;
  const defaults = bodySerializer && { bodySerializer };
  const details = { operation: operations[`${name} ${path}`], resolvesToErrors: true };
  return await dispatch(shared, name, path, { ...defaults, ...options }, details);
}

/** Calls an operation of the OpenAPI document. */
async function callOperation(
  shared: Shared,
  endpoint: string,
  options: AnyOptions,
  makeBody?: CallDetails["makeBody"],
): Promise<Result> {
  const [method, path] = endpoint.split(" ") as [string, string];
  const operation = operations[endpoint]!;
  const media = Object.values(operation.responses).find((content) => typeof content === "string");
  if (media) {
    const advice = `call ${method}("${path}") with "parseAs" in place of it`;
    throw optionError(operation.operationId, `responds with ${media}: ${advice}`);
  }
  // The document says how parameters are written, not the client's options.
  const querySerializer = createQuerySerializer();
  const init = { ...options, pathSerializer: defaultPathSerializer, querySerializer };
  return await dispatch(shared, method, path, init, { operation, makeBody });
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
  const { data } = await callOperation(shared, `POST ${path}`, options, makeBody);
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
  if (schema !== undefined && typeof schema?.["~standard"]?.validate !== "function") {
    throw optionError("schema", "must be a Standard Schema, such as one of Zod 3.24 or later");
  }
  checkValue("endpoint", endpoint, "string");
  const text = toQuery(query);
  const options = { ...rest, pathSerializer: defaultPathSerializer, querySerializer: () => text };
  return await dispatch(shared, readMethod(method), toPath(endpoint), options, { schema });
}

/** Sends a request through openapi-fetch, which calls `sendRequest`, and checks the response. */
async function dispatch(
  { openapi, settings }: Shared,
  method: string,
  path: string,
  options: AnyOptions,
  { makeBody, ...details }: CallDetails,
): Promise<Result> {
  checkPath(path, options.params?.path);
  const { parseAs = "json", totalTimeout = settings.totalTimeout } = options;
  const access = details.operation?.access ?? "required";
  if (settings.apiKey === undefined && access === "required") {
    const ignored = `your own header "${apiKeyHeader}" is ignored`;
    throw optionError("apiKey", `is missing: this request needs the client's key; ${ignored}`);
  }
  if (options.body !== undefined && ["GET", "HEAD"].includes(method)) {
    throw optionError("body", `must be left out of a ${method} request`);
  }
  const base = `${options.baseUrl || settings.baseUrl}`.replace(/\/$/, "");
  const context: CallContext = {
    ...settings,
    ...options,
    ...details,
    method,
    name: `${method} ${withoutQuery(base + path)}`,
    access,
    parseAs,
    totalTimeout,
    deadline: performance.now() + totalTimeout,
    secrets: new Set(),
    errors: new WeakSet(),
    attempt: 0,
  };
  return await limitCall(context, async (callSignal) => {
    const body = makeBody ? await makeBody(context) : options.body;
    for (const key of [settings.apiKey, Object(body).apiKey]) {
      if (typeof key === "string") context.secrets.add(key);
    }
    const result = await openapi.request(method, path, {
      bodySerializer: serializeBody.bind(undefined, context),
      ...options,
      ...body !== undefined && { body },
      signal: callSignal,
      parseAs: parseAs === "json" ? "text" : parseAs, // JSON is parsed in `readData`, to be checked
      fetch: (request: Request) => sendRequest(request, context, callSignal),
    });
    const { data, error, response } = result;
    if (response.ok && parseAs === "json") {
      // There is no text for a response without content.
      return { data: await readData(`${data ?? ""}`, response, context), response };
    }
    if (response.ok || details.resolvesToErrors) return result;
    // A response that middleware made has no error yet.
    throw context.failure?.response === response
      ? context.failure.error
      : failures.http(context, response, failures.toText(error));
  });
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
    if (context.errors.has(error as Error)) Error.captureStackTrace?.(error as Error, limitCall);
    throw error;
  }
}
