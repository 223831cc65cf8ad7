import createFetchClient, { type Client } from "openapi-fetch";

import type { CallOptions, ClientOptions, Method, Middleware, ScamAddressClient } from "./api.ts";
import { readApiKey } from "./api_key.ts";
import { type CallKind, prepareCall } from "./call.ts";
import { optionError, readOptions } from "./checks.ts";
import { readData } from "./data.ts";
import { RequestParts, sendWithKey } from "./fetch.ts";
import type { paths } from "./generated/types.ts";
import {
  type AnyEndpointOptions,
  CALL_OPTIONS,
  ENDPOINT_OPTIONS,
  FETCH_OPTION_NAMES,
  readClientOptions,
  TYPED_OPTIONS,
  type TypedOptions,
} from "./options.ts";
import { guardPath, METHODS, readMethod, toBody, toJson, toPath, toQuery } from "./request.ts";
import { abortable } from "./transport/abortable.ts";

/** What openapi-fetch's methods resolve to. */
type Result = { data?: unknown; error?: unknown; response: Response };

/** openapi-fetch's client without the types of paths, which `api.ts` has for users. */
interface UntypedClient extends Pick<Client<object>, "use" | "eject"> {
  request(method: string, path: string, init: object): Promise<Result>;
}

/** The methods that openapi-fetch's client lacks, and those of its methods that this one changes. */
type OwnMethods = Pick<
  ScamAddressClient,
  Exclude<keyof ScamAddressClient, keyof Client<paths>> | "use" | "eject"
>;

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
  // openapi-fetch's types accept neither options that are `undefined`, nor any string as a path.
  const openapi = createFetchClient(given as object) as unknown as UntypedClient;
  let hasMiddleware = false; // stays true after eject()

  /** Sends a request through openapi-fetch, which calls our `fetch`, and checks the response. */
  async function dispatch(
    method: Method,
    path: string,
    options: TypedOptions,
    kind: CallKind,
  ): Promise<Result> {
    const call = prepareCall(method, path, options, kind, settings, hasMiddleware);
    const { errors } = call.sendOptions;
    const run = async (callSignal?: AbortSignal): Promise<Result> => {
      const result = await openapi.request(method, path, {
        ...options,
        signal: callSignal,
        Request: call.isUnwatched ? RequestParts : options.Request ?? settings.Request,
        ...call.isJson && { parseAs: "text" }, // JSON is parsed here, to be checked
        ...kind.isTyped && {
          // Without path parameters, openapi-fetch would not call the serializer.
          params: { ...options.params, path: { ...options.params?.path } },
          pathSerializer: guardPath(options.pathSerializer ?? settings.pathSerializer),
        },
        fetch: (request: Request, requestInitExt?: RequestInit) =>
          sendWithKey(request, call, callSignal, requestInitExt),
      });
      const { data, error, response } = result;
      if (!response.ok && kind.throwsHttpError) throw errors.http(response, error);
      if (!response.ok || !call.isJson) return result;
      const text = `${data ?? ""}`;
      const read = await readData(text, response, call);
      if ("value" in read) return { data: read.value, response };
      throw errors.invalid(response, text, read.issues, read.problem);
    };
    const { signal } = options;
    return signal ? await abortable([signal], run) : await run();
  }

  async function request(givenMethod: string, path: string, init?: TypedOptions | null) {
    const method = readMethod(givenMethod);
    const options = readOptions(init ?? {}, TYPED_OPTIONS, `${method}()`, FETCH_OPTION_NAMES);
    if (typeof path !== "string" || !path.startsWith("/")) {
      throw optionError("path", "must begin with a slash");
    }
    return await dispatch(method, path, options, { isTyped: true, throwsHttpError: false });
  }

  // openapi-fetch's type says what the method takes and resolves to, so that a change of an
  // operation does not compile below. `start` is when a call began, if that was earlier.
  const postSince = (start?: number) =>
    ((path: string, options: TypedOptions) =>
      dispatch("POST", path, options, {
        isTyped: true,
        throwsHttpError: true,
        start,
      })) as Client<paths>["POST"];
  const post = postSince();

  // A signal is `null` where there is none, because openapi-fetch's type has no `undefined` for it.
  async function postCheckKey(
    apiKey: string,
    { signal = null, ...options }: CallOptions,
    send = post,
  ) {
    const init = { ...options, signal, body: { apiKey: readApiKey(apiKey) } };
    return (await send("/checkKey", { ...init, bodySerializer: toJson })).data!;
  }

  const ownMethods = {
    use(...middleware: Middleware[]) {
      hasMiddleware = true;
      openapi.use(...middleware);
    },
    eject: openapi.eject,
    async checkKey(apiKey: string, options?: CallOptions | null) {
      return await postCheckKey(apiKey, readOptions(options ?? {}, CALL_OPTIONS, "checkKey()"));
    },
    async checkOwnKey(options?: CallOptions | null) {
      const given = readOptions(options ?? {}, CALL_OPTIONS, "checkOwnKey()");
      const { apiKey } = settings;
      if (apiKey === undefined) throw optionError("apiKey", "is missing: the client has no key");
      if (typeof apiKey === "string") return await postCheckKey(apiKey, given);
      const start = performance.now();
      const key = await abortable([given.signal], async () => await apiKey());
      return await postCheckKey(key, given, postSince(start));
    },
    async call(
      givenMethod: Method,
      endpoint: string,
      options?: AnyEndpointOptions | null,
      // deno-lint-ignore no-explicit-any -- the output of a schema that only the caller knows
    ): Promise<any> {
      const { schema, query, ...rest } = readOptions(options ?? {}, ENDPOINT_OPTIONS, "call()");
      const written = toQuery(query);
      const init = { ...rest, bodySerializer: toJson, querySerializer: () => written };
      const kind = { isTyped: false, throwsHttpError: true, schema };
      return (await dispatch(readMethod(givenMethod), toPath(endpoint), init, kind)).data;
    },
  } satisfies OwnMethods;

  // openapi-fetch's type has TRACE, which fetch forbids, so it rejects.
  const methods = [...METHODS, "TRACE"].map((name) => [name, request.bind(undefined, name)]);
  const typedMethods = { request, ...Object.fromEntries(methods) };
  // What the typed methods take and resolve to is known to openapi-fetch's types of `Paths` alone.
  return { ...typedMethods, ...ownMethods } as ScamAddressClient<Paths>;
}
