import createFetchClient, { type Client } from "openapi-fetch";
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
import { type Init, type Kind, prepareCall, type Result } from "./call.ts";
import { readApiKey, readNumber, readOptions, readSignal, wrong } from "./checks.ts";
import { checkSchema, readData, toText, validate } from "./data.ts";
import { guardPath, METHODS, toJson, toPath, toQuery } from "./endpoint.ts";
import { RequestRecord, sendRequest } from "./fetch.ts";
import type { paths } from "./generated/types.ts";
import { CALL_OPTIONS, ENDPOINT_OPTIONS, readClientOptions, readHeaders } from "./options.ts";
import { httpError } from "./transport/response.ts";
import { type Clock, systemClock, within } from "./transport/time.ts";

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
  return createClientWith(options, systemClock);
}

/** Creates a client with a clock for the waits between attempts; tests pass their own. */
export function createClientWith<Paths extends object = paths>(
  options: ClientOptions,
  clock: Clock,
): ScamAddressClient<Paths> {
  const settings = readClientOptions(options);
  const { baseUrl, bodySerializer, headers, querySerializer, requestInitExt } = settings;
  const openapi = createFetchClient<Record<string, never>>({
    ...{ baseUrl, bodySerializer, headers, querySerializer, requestInitExt } as object,
  });
  let isObserved = false; // once it has had middleware

  /** Sends a request through openapi-fetch, which calls our `fetch`, and checks the response. */
  async function dispatch(
    method: string,
    path: string,
    init: Init,
    kind: Kind,
  ): Promise<Result> {
    const call = prepareCall(method, path, init, { ...kind, isObserved }, settings);
    const run = async (signal?: AbortSignal): Promise<Result> => {
      const result: Result = await openapi.request(call.method as never, path as never, {
        ...init,
        signal,
        Request: call.isSeen ? call.Request : RequestRecord,
        ...call.isJson && { parseAs: "text" }, // JSON is parsed here, to be checked
        ...kind.isDocumented && {
          params: { ...init.params, path: init.params?.path || {} }, // so that it is guarded
          pathSerializer: guardPath(init.pathSerializer ?? settings.pathSerializer),
        },
        fetch: (request: Request, extension?: RequestInit) =>
          sendRequest(request, { ...call, signal }, clock, extension),
      } as never);
      const { response, error } = result;
      if (!response.ok && kind.throws) throw httpError(response, toText(error), call);
      if (!response.ok || !call.isJson) return result;
      const text = `${result.data ?? ""}`;
      const data = readData(text, response, call);
      if (!kind.schema) return { data, response };
      return { data: await validate(kind.schema, data, text, response, call), response };
    };
    return call.signal ? await within(call.signal, run) : await run();
  }

  /** `POST` as openapi-fetch types it, so that a change of an operation does not compile. */
  const post =
    ((path: string, init: Init) =>
      dispatch("POST", path, init, { isDocumented: true, throws: true })) as Client<paths>["POST"];

  async function check(apiKey: string, options: CallOptions): Promise<KeyStatus> {
    const body = { apiKey: readApiKey(apiKey) };
    const init = { ...options, signal: options.signal ?? null, body, bodySerializer: toJson };
    return (await post("/checkKey", init)).data!;
  }

  const request = (method: string, path: string, init?: Init | null) =>
    dispatch(method, path, init ?? {}, { isDocumented: true, throws: false });
  const client = {
    // openapi-fetch's type has TRACE, which fetch forbids, so it rejects.
    ...Object.fromEntries(
      [...METHODS, "TRACE"].map((method) => [method, request.bind(undefined, method)]),
    ),
    request,
    use(...middleware: Middleware[]) {
      isObserved = true;
      openapi.use(...middleware);
    },
    eject: openapi.eject,
    async checkKey(apiKey: string, options?: CallOptions | null): Promise<KeyStatus> {
      return await check(apiKey, readOptions(options ?? {}, CALL_OPTIONS, "checkKey()"));
    },
    async checkOwnKey(options?: CallOptions | null): Promise<KeyStatus> {
      const init = readOptions(options ?? {}, CALL_OPTIONS, "checkOwnKey()");
      const { apiKey } = settings;
      if (apiKey === undefined) throw wrong("apiKey", "is missing: the client has no key");
      if (typeof apiKey === "string") return await check(apiKey, init);
      const signal = readSignal(init.signal);
      for (const name of ["timeout", "retries"] as const) readNumber(name, init[name]);
      return await check(await within(signal, async () => await apiKey()), init);
    },
    async call(
      method: Method,
      endpoint: string,
      options?: Partial<SchemaOptions<StandardSchemaV1>> | null,
    ): Promise<unknown> {
      const names = [...CALL_OPTIONS, ...ENDPOINT_OPTIONS];
      const { schema, query, ...init } = readOptions(options ?? {}, names, "call()");
      checkSchema(schema);
      readHeaders(init.headers);
      const written = toQuery(query);
      const { data } = await dispatch(method, toPath(endpoint), {
        ...init,
        bodySerializer: toJson,
        querySerializer: () => written,
      }, { isDocumented: false, throws: true, schema });
      return data;
    },
  };
  return client as unknown as ScamAddressClient<Paths>;
}
