/**
 * The client of the Scam Address Service: it checks API keys and calls the service's operations
 * with the `X-API-Key` header handled for you.
 *
 * @example Check a key
 * ```ts
 * import { createClient } from "@scam-address/client";
 * import { createSandbox } from "@scam-address/client/sandbox";
 *
 * const client = createClient({
 *   baseUrl: "https://service.example/api/",
 *   fetch: createSandbox({ keys: { "demo-key": 100 } }).fetch, // leave it out to call the service
 * });
 * const status = await client.checkKey("demo-key");
 * console.log(status.apiKeyValid ? `${status.data.credits} credits` : "not valid");
 * ```
 *
 * @module
 */

export type {
  CallOptions,
  ClientOptions,
  EndpointOptions,
  InvalidKey,
  KeyStatus,
  Method,
  Middleware,
  ScamAddressClient,
  SchemaOptions,
  UncheckedOptions,
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
  RedirectError,
  ScamAddressError,
  TimeoutError,
} from "./src/errors.ts";
export type { components, operations, paths } from "./src/generated/types.ts";
export type { RetryEvent } from "./src/transport/retry.ts";
