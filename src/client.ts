import createFetchClient, { type Client } from "openapi-fetch";
import type { StandardSchemaV1 } from "@standard-schema/spec";

import type {
  CallOptions,
  ClientOptions,
  EndpointOptions,
  KeyStatus,
  Method,
  Middleware,
  ScamAddressClient,
} from "./api.ts";
import { type Init, type Kind, readCall, type Result } from "./call.ts";
import { readApiKey, readOptions, wrong } from "./checks.ts";
import { checkSchema, readData } from "./data.ts";
import { guardPath, METHODS, toBody, toJson, toPath, toQuery } from "./endpoint.ts";
import { RequestRecord, sendRequest } from "./fetch.ts";
import type { paths } from "./generated/types.ts";
import {
  CALL_OPTIONS,
  checkHeaders,
  ENDPOINT_OPTIONS,
  readCallOptions,
  readClientOptions,
} from "./options.ts";
import { within } from "./transport/time.ts";

/** openapi-fetch's client without the types of paths, which `api.ts` has for users. */
interface UntypedClient extends Pick<Client<object>, "use" | "eject"> {
  request(method: string, path: string, init: object): Promise<Result>;
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
  const { baseUrl, bodySerializer = toBody, headers, querySerializer, requestInitExt } = settings;
  const given = { baseUrl, bodySerializer, headers, querySerializer, requestInitExt };
  const openapi = createFetchClient(given as object) as unknown as UntypedClient;
  let hasMiddleware = false; // stays true after eject()

  /** Sends a request through openapi-fetch, which calls our `fetch`, and checks the response. */
  async function dispatch(method: string, path: string, init: Init, kind: Kind): Promise<Result> {
    const call = readCall(method, path, init, kind, settings, hasMiddleware);
    const run = async (signal?: AbortSignal): Promise<Result> => {
      const result = await openapi.request(call.method, path, {
        ...init,
        signal,
        Request: call.isPrivate ? RequestRecord : call.Request,
        ...call.isJson && { parseAs: "text" }, // JSON is parsed here, to be checked
        ...call.isDocumented && {
          // Without path parameters, openapi-fetch would not call the serializer.
          params: { ...init.params, path: { ...init.params?.path } },
          pathSerializer: guardPath(init.pathSerializer ?? settings.pathSerializer),
        },
        fetch: (request: Request, extension?: RequestInit) =>
          sendRequest(request, call, signal, extension),
      });
      const { data, error, response } = result;
      if (!response.ok && call.throws) throw call.failures.http(response, error);
      if (!response.ok || !call.isJson) return result;
      return { data: await readData(`${data ?? ""}`, response, call), response };
    };
    return call.signal ? await within([call.signal], run) : await run();
  }

  /** `POST` as openapi-fetch types it, so that a change of an operation does not compile. */
  const post =
    ((path: string, init: Init) =>
      dispatch("POST", path, init, { isDocumented: true, throws: true })) as Client<paths>["POST"];

  // A signal is `null` where there is none, because openapi-fetch's type has no `undefined` for it.
  async function check(apiKey: string, { signal = null, ...options }: CallOptions) {
    const init = { ...options, signal, body: { apiKey: readApiKey(apiKey) } };
    return (await post("/checkKey", { ...init, bodySerializer: toJson })).data!;
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
      hasMiddleware = true;
      openapi.use(...middleware);
    },
    eject: openapi.eject,
    async checkKey(apiKey: string, options?: CallOptions | null): Promise<KeyStatus> {
      return await check(apiKey, readOptions(options ?? {}, CALL_OPTIONS, "checkKey()"));
    },
    async checkOwnKey(options?: CallOptions | null): Promise<KeyStatus> {
      const given = readOptions(options ?? {}, CALL_OPTIONS, "checkOwnKey()");
      const init = readCallOptions(given, settings);
      const { apiKey } = settings;
      if (apiKey === undefined) throw wrong("apiKey", "is missing: the client has no key");
      if (typeof apiKey === "string") return await check(apiKey, init);
      return await check(await within([init.signal], async () => await apiKey()), init);
    },
    async call(
      method: Method,
      endpoint: string,
      options?: EndpointOptions<StandardSchemaV1 | undefined> | null,
    ): Promise<unknown> {
      const names = [...CALL_OPTIONS, ...ENDPOINT_OPTIONS];
      const { schema, query, ...init } = readOptions(options ?? {}, names, "call()");
      checkSchema(schema);
      checkHeaders(init.headers);
      const written = toQuery(query);
      const serializers = { bodySerializer: toJson, querySerializer: () => written };
      const kind = { isDocumented: false, throws: true, schema };
      return (await dispatch(method, toPath(endpoint), { ...init, ...serializers }, kind)).data;
    },
  };
  return client as unknown as ScamAddressClient<Paths>;
}
