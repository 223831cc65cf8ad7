import type { StandardSchemaV1 } from "@standard-schema/spec";

import type {
  CallOptions,
  ClientOptions,
  KeyStatus,
  OperationInput,
  RequestOptions,
  ScamAddressClient,
} from "./api.ts";
import { createDispatch } from "./dispatch.ts";
import { operations } from "./generated/operations.ts";
import type { paths } from "./generated/types.ts";
import { optionError } from "./http/failures.ts";
import { checkApiKey, OPTIONS, readClientOptions, readOptions, resolveApiKey } from "./options.ts";
import { encodeNames, toPath } from "./serialize.ts";

/** The methods of openapi-fetch's client. */
const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];

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
  const { dispatch, use, eject } = createDispatch(settings);
  const encodesNames = typeof settings.querySerializer !== "function"; // The caller's does it itself.
  const toQuery = (query: object = {}) => encodesNames ? encodeNames(query) : query;
  const methods: Record<string, unknown> = {};
  for (const [endpoint, operation] of Object.entries(operations)) {
    const [method, path] = endpoint.split(" ") as [string, string];
    const { operationId } = operation;
    methods[operationId] = async (init?: AnyOperationOptions) => {
      const options = readOptions(init, operationId, OPTIONS.request, OPTIONS.operation);
      const params = { ...options.params, query: toQuery(options.params?.query) };
      return await dispatch(method, path, { ...options, params }, { operation });
    };
  }
  const request = async (method: string, path: string, init?: object) => {
    const name = method.toUpperCase();
    const options = readOptions(init, name, OPTIONS.request, OPTIONS.operation, OPTIONS.fetch);
    const operation = operations[`${name} ${path}`];
    return await dispatch(name, path, options, { operation, resolvesToErrors: true });
  };
  for (const method of METHODS) methods[method] = request.bind(undefined, method);

  /** Checks a key, which is made within the limits of the call. */
  async function postKey(
    owner: string,
    init: RequestOptions | undefined,
    makeKey: () => string | Promise<string>,
  ) {
    const options = readOptions(init, owner, OPTIONS.request);
    // A change of the operation in the OpenAPI document is a compile error here, or at `KeyStatus`.
    const path = "/checkKey" satisfies keyof paths;
    const makeBody = async () => {
      const key = await makeKey();
      const input: OperationInput<paths[typeof path]["post"]> = { body: { apiKey: key } };
      return input.body;
    };
    const operation = operations[`POST ${path}`];
    return (await dispatch("POST", path, options, { operation, makeBody })).data as KeyStatus;
  }
  const ownMethods = {
    checkKey: (apiKey: string, options?: RequestOptions) =>
      postKey("checkKey", options, () => checkApiKey(apiKey)),
    checkOwnKey: (options?: RequestOptions) =>
      postKey("checkOwnKey", options, () => resolveApiKey(settings)),
    // deno-lint-ignore no-explicit-any -- the output of a schema that only the caller knows
    async call(method: string, endpoint: string, init?: AnyCallOptions): Promise<any> {
      const { schema, query, ...rest } = readOptions(init, "call", OPTIONS.request, OPTIONS.call);
      if (schema !== undefined && typeof schema?.["~standard"]?.validate !== "function") {
        throw optionError("schema", "must be a Standard Schema, such as one of Zod 3.24 or later");
      }
      const given = { ...rest, params: { query: toQuery(query) } };
      return await dispatch(method.toUpperCase(), toPath(endpoint), given, { schema });
    },
  };
  // Only the generated types, and openapi-fetch's, know what the other methods take and resolve to.
  return { ...methods, request, use, eject, ...ownMethods } as object as ScamAddressClient<Paths>;
}

type AnyCallOptions = CallOptions<StandardSchemaV1 | undefined>;

type AnyOperationOptions = RequestOptions & { params?: { query?: object } };
