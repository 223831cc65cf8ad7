/**
 * A client for the Scam Address Service. It checks whether an API key is valid and how many credits
 * it has, and calls the service's other endpoints with your key.
 *
 * - {@linkcode createClient} creates a client. Its options are {@linkcode ClientOptions}.
 * - {@linkcode ScamAddressClient} describes the client's methods, such as
 *   {@linkcode ScamAddressClient.checkKey} and {@linkcode ScamAddressClient.call}.
 *   {@linkcode OperationMethods} describes the methods of the OpenAPI document's other operations.
 * - All errors extend {@linkcode ScamAddressError}: {@linkcode HttpError}, {@linkcode NetworkError},
 *   {@linkcode TimeoutError}, {@linkcode InvalidResponseError} and {@linkcode ConfigurationError}.
 *
 * The other entry points:
 *
 * - [`sandbox`](https://jsr.io/@scam-address/client/doc/sandbox) is an in-memory stand-in for the
 *   service, for tests and demonstrations.
 * - [`sandbox/server`](https://jsr.io/@scam-address/client/doc/sandbox/server) serves the sandbox
 *   over HTTP.
 * - [`cli`](https://jsr.io/@scam-address/client/doc/cli) is the command `scam-address`.
 *
 * [README](README.md) is an introduction. [RECIPES](RECIPES.md) covers many lookups, caching, web
 * frameworks, tests, tracing, proxies, and moving from other clients.
 *
 * @example Check the client's own key
 * ```ts
 * import { createClient } from "@scam-address/client";
 * import { createSandbox } from "@scam-address/client/sandbox";
 *
 * const client = createClient({
 *   baseUrl: "https://service.example/api/",
 *   apiKey: "demo-key",
 *   fetch: createSandbox().fetch, // delete this line to call the service
 * });
 * const status = await client.checkOwnKey();
 * console.log(status.apiKeyValid ? status.data.credits : "not valid"); // 100
 * ```
 *
 * @module
 */

export type {
  CallOptions,
  ClientOptions,
  InvalidKey,
  KeyStatus,
  Method,
  Middleware,
  OperationData,
  OperationMethods,
  OperationOptions,
  RequestOptions,
  ScamAddressClient,
  StandardSchemaV1,
  ValidKey,
} from "./src/api.ts";
export { createClient } from "./src/client.ts";
export {
  ConfigurationError,
  type ErrorCode,
  HttpError,
  InvalidResponseError,
  type Issue,
  NetworkError,
  type ResponseSnapshot,
  ScamAddressError,
  TimeoutError,
} from "./src/http/errors.ts";
export type { RetryEvent } from "./src/http/call.ts";
export type { components, operations, paths } from "./src/generated/types.ts";
