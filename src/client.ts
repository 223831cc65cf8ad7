import createFetchClient, { type Client } from "openapi-fetch";

import type {
  ClientOptions,
  Method,
  Middleware,
  RequestOptions,
  ScamAddressClient,
} from "./api.ts";
import { readApiKey } from "./api_key.ts";
import { type CallInput, prepareCall } from "./call.ts";
import { optionError, readOptions } from "./checks.ts";
import { readData } from "./data.ts";
import { operations } from "./generated/operations.ts";
import type { paths } from "./generated/types.ts";
import { METHODS, readMethod } from "./method.ts";
import {
  type AnyCallOptions,
  CALL_CHECKS,
  copyHeaders,
  FETCH_OPTION_NAMES,
  readClientOptions,
  REQUEST_CHECKS,
  TYPED_CHECKS,
  type TypedOptions,
} from "./options.ts";
import { checkParameters, serializeBody, toPath, toQuery } from "./serialize.ts";
import { sendRequest } from "./send_request.ts";
import { abortable } from "./transport/abortable.ts";

/** The result of openapi-fetch's methods. */
type Result = { data?: unknown; error?: unknown; response: Response };

/** openapi-fetch's client without the types of paths, which `api.ts` has for users. */
interface UntypedClient extends Pick<Client<object>, "use" | "eject"> {
  request(method: string, path: string, init: object): Promise<Result>;
}

/** The methods other than the typed ones. */
type OtherMethods = Pick<
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
  const { baseUrl, bodySerializer, headers, requestInitExt } = settings;
  const { pathSerializer, querySerializer } = settings;
  const serializers = { bodySerializer, pathSerializer, querySerializer };
  // openapi-fetch's types accept neither options that are `undefined`, nor any string as a path.
  const openapi = createFetchClient(
    { baseUrl, headers, requestInitExt, ...serializers } as object,
  ) as unknown as UntypedClient;
  let hasMiddleware = false; // stays true after eject(): others may be left

  /** Sends a request through openapi-fetch, which calls `sendRequest`, and checks the response. */
  async function dispatch(input: CallInput): Promise<Result> {
    const call = prepareCall(input, settings, hasMiddleware);
    const { method, path, options } = input;
    const { params, signal } = options;
    checkParameters(path, params?.path);
    const isJson = call.parseAs === "json";
    const run = async (callSignal?: AbortSignal): Promise<Result> => {
      const result = await openapi.request(method, path, {
        ...options,
        signal: callSignal,
        Request: call.Request,
        ...isJson && { parseAs: "text" }, // JSON is parsed here, to be checked
        fetch: (request: Request, initExt?: RequestInit) =>
          sendRequest(request, call, callSignal, initExt),
      });
      const { data, error, response } = result;
      if (!response.ok && !call.resolvesToErrors) throw call.errors.http(response, error);
      if (!response.ok || !isJson) return result;
      const text = `${data ?? ""}`; // `undefined` for a response without content
      const read = await readData(text, response, call);
      if ("value" in read) return { data: read.value, response };
      throw call.errors.invalid(response, text, read.issues, read.problem);
    };
    // Without a signal, `abortable` would only cost time: 15 % on Deno, with middleware.
    return signal ? await abortable([signal], run) : await run();
  }

  /** Calls an operation for a typed method. */
  async function request(givenMethod: string, path: string, init?: TypedOptions | null) {
    const method = readMethod(givenMethod);
    const options = readOptions(init ?? {}, TYPED_CHECKS, `${method}()`, FETCH_OPTION_NAMES);
    if (typeof path !== "string" || !path.startsWith("/")) {
      throw optionError("path", "must begin with a slash");
    }
    const operation = operations[`${method} ${path}`];
    return await dispatch({ method, path, options, operation, resolvesToErrors: true });
  }

  /**
   * Makes a function that calls an operation with the options of a method such as `checkKey`. It has
   * the type of openapi-fetch's `request`, so that a change of the operation's method, path, body or
   * response in the OpenAPI document is a compile error. Each method of its own for an operation goes
   * through it.
   */
  function makeCaller(given: RequestOptions, start?: number) {
    return (async (givenMethod: string, path: string, init: TypedOptions) => {
      const method = readMethod(givenMethod);
      const operation = operations[`${method} ${path}`];
      const options = { ...given, ...init, bodySerializer: serializeBody };
      return await dispatch({ method, path, options, operation, start });
    }) as Client<paths>["request"];
  }

  /** Calls `checkKey` of the OpenAPI document. */
  async function postCheckKey(apiKey: string, options: RequestOptions, start?: number) {
    const body = { apiKey: readApiKey(apiKey) };
    return (await makeCaller(options, start)("post", "/checkKey", { body })).data!;
  }

  const otherMethods = {
    use(...middleware: Middleware[]) {
      hasMiddleware = true;
      openapi.use(...middleware);
    },
    eject: openapi.eject,
    async checkKey(apiKey: string, options?: RequestOptions | null) {
      return await postCheckKey(apiKey, readOptions(options ?? {}, REQUEST_CHECKS, "checkKey()"));
    },
    async checkOwnKey(options?: RequestOptions | null) {
      const given = readOptions(options ?? {}, REQUEST_CHECKS, "checkOwnKey()");
      const { apiKey } = settings;
      if (apiKey === undefined) throw optionError("apiKey", "is missing: the client has no key");
      if (typeof apiKey === "string") return await postCheckKey(apiKey, given);
      const start = performance.now(); // the time of the function counts
      const headers = copyHeaders(given.headers); // which may change meanwhile
      const key = await abortable([given.signal], async () => await apiKey());
      return await postCheckKey(key, { ...given, headers }, start);
    },
    async call(
      givenMethod: Method,
      endpoint: string,
      options?: AnyCallOptions | null,
      // deno-lint-ignore no-explicit-any -- the output of a schema that only the caller knows
    ): Promise<any> {
      const { schema, query, ...rest } = readOptions(options ?? {}, CALL_CHECKS, "call()");
      const queryText = toQuery(query);
      const method = readMethod(givenMethod);
      const path = toPath(endpoint);
      const serializers = {
        bodySerializer: serializeBody,
        pathSerializer: (path: string) => path, // which has no parameters
        querySerializer: () => queryText,
      };
      return await dispatch({ method, path, options: { ...rest, ...serializers }, schema });
    },
  } satisfies OtherMethods;

  // openapi-fetch's type has TRACE, which fetch forbids and `readMethod` refuses.
  const methods = [...METHODS, "TRACE"].map((name) => [name, request.bind(undefined, name)]);
  const typedMethods = { request, ...Object.fromEntries(methods) };
  // Only openapi-fetch's types of `Paths` know what the typed methods take and resolve to.
  return { ...typedMethods, ...otherMethods } as ScamAddressClient<Paths>;
}
