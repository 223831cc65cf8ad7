/**
 * The client of the Scam Address Service: it checks API keys, and calls the service's operations with
 * the `X-API-Key` header handled for you.
 *
 * {@linkcode createClient} makes a client, whose methods {@linkcode ScamAddressClient} describes;
 * {@linkcode ClientOptions} has its options. All errors extend {@linkcode ScamAddressError}:
 * {@linkcode HttpError}, {@linkcode NetworkError}, {@linkcode TimeoutError},
 * {@linkcode RedirectError}, {@linkcode InvalidResponseError} and {@linkcode ConfigurationError}.
 *
 * The other entry points are
 * [`sandbox`](https://jsr.io/@scam-address/client/doc/sandbox), the service in memory, for tests and
 * demonstrations; [`sandbox/server`](https://jsr.io/@scam-address/client/doc/sandbox/server), which
 * serves it over HTTP; and [`cli`](https://jsr.io/@scam-address/client/doc/cli), the command
 * `scam-address`.
 *
 * @example Check the client's own key
 * ```ts
 * import { createClient } from "@scam-address/client";
 * import { createSandbox } from "@scam-address/client/sandbox";
 *
 * const client = createClient({
 *   baseUrl: "https://service.example/api/",
 *   apiKey: "demo-key",
 *   fetch: createSandbox().fetch, // leave it out to call the service
 * });
 * const status = await client.checkOwnKey();
 * console.log(status.apiKeyValid ? `${status.data.credits} credits` : "not valid"); // 100 credits
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
  MethodOptions,
  Middleware,
  Readable,
  ScamAddressClient,
  SchemaOptions,
  UncheckedOptions,
  ValidKey,
  Writable,
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
