import type { Client, Middleware } from "openapi-fetch";

import { ConfigurationError, ScamAddressError } from "./errors.ts";
import { apiKeyHeader, operations } from "./generated/operations.ts";
import type { components, paths } from "./generated/types.ts";
import {
  type CallOptions,
  checkFunction,
  checkSignal,
  type ClientOptions,
  readApiKey,
  readBaseUrl,
  readNumber,
} from "./options.ts";
import {
  build,
  checkPath,
  type Init,
  isBodiless,
  markJson,
  type Outgoing,
  repeatable,
  toPath,
} from "./request.ts";
import { through } from "./middleware.ts";
import { isIdempotent } from "./retry.ts";
import { redact, redactCause, secretForms } from "./secrets.ts";
import {
  bounded,
  decode,
  httpError,
  parse,
  read,
  readJson,
  rebuild,
  type Received,
  send,
} from "./transport.ts";

/**
 * What the service reports on an API key: {@linkcode ValidKey} or {@linkcode InvalidKey}, told
 * apart by `apiKeyValid` (sections 2 and 4 of the service's document).
 */
export type KeyStatus = components["schemas"]["KeyStatus"];

/** The report on a valid key, with its credits (section 4, rule 1). */
export type ValidKey = components["schemas"]["ValidKey"];

/** The report on a key that is not valid; what else it holds is not shown (section 4, rule 2). */
export type InvalidKey = components["schemas"]["InvalidKey"];

/** An HTTP method that {@linkcode ScamAddressClient.call} takes. */
export type Method = "DELETE" | "GET" | "HEAD" | "OPTIONS" | "PATCH" | "POST" | "PUT";

/** What {@linkcode ScamAddressClient.call} sends, and what differs from the client's options. */
export interface EndpointOptions extends CallOptions {
  /**
   * The body: anything that JSON can hold. `undefined` sends none, as GET and HEAD require.
   *
   * @default {undefined}
   */
  body?: unknown;
  /**
   * The query: arrays repeat the name, objects become `name[field]=value`, `null` and `undefined`
   * are left out.
   *
   * @default {undefined}
   */
  query?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Headers besides those of the client. An `X-API-Key` among them is left out.
   *
   * @default {undefined}
   */
  headers?: RequestInit["headers"] | undefined;
}

/**
 * A name of our own, because the documentation's lint asks for docs of openapi-fetch's.
 *
 * @internal
 */
type OpenapiFetchClient<Paths extends object> = Client<Paths>;

/**
 * The client: [openapi-fetch](https://openapi-ts.dev/openapi-fetch/)'s methods for the operations of
 * the OpenAPI document, and besides `checkKey` and `call`.
 *
 * `GET`, `POST` and their like resolve to `{ data, error, response }` and also take
 * {@linkcode CallOptions}. They reject as {@linkcode ScamAddressClient.call} does, but for statuses
 * outside 2xx and 3xx, which `error` and `response` report; `error` is `undefined` when the body is
 * empty, so test `response.ok` for errors, and `data` before you use it.
 *
 * Middleware runs once for each call, around all attempts, for `checkKey` and `call` too. It sees
 * requests without the `X-API-Key` header, which is added last, and the key that `checkKey` asks about
 * in the body; neither `timeout` nor `signal` ends what it does itself, and what it throws comes out as
 * it is.
 *
 * @typeParam Paths The `paths` that openapi-typescript makes of an OpenAPI document.
 */
export interface ScamAddressClient<Paths extends object = paths> extends OpenapiFetchClient<Paths> {
  /**
   * Asks the service whether a key is valid and how many credits it has (section 4).
   *
   * The key travels in the body; the request carries no `X-API-Key` header.
   *
   * @example Read the credits of a key
   * ```ts
   * import { createClient } from "@scam-address/client";
   * import { createSandbox } from "@scam-address/client/sandbox";
   *
   * const { fetch } = createSandbox({ keys: { "demo-key": 100 } });
   * const client = createClient({ baseUrl: "https://service.example/", fetch });
   * const status = await client.checkKey("demo-key");
   * console.log(status.apiKeyValid ? status.data.credits : "not valid"); // 100
   * ```
   *
   * @param apiKey The key to check; the client's own when it is left out.
   * @param options What differs from the client's options.
   * @returns The key's status.
   * @throws {ConfigurationError} When there is no key, or none that a header could carry.
   * @throws {HttpError} When the service answers with a status outside 2xx and 3xx.
   * @throws {RedirectError} When the service answers with a redirect.
   * @throws {NetworkError} When the service cannot be reached or the answer breaks off.
   * @throws {TimeoutError} When the last attempt's time is up.
   * @throws {InvalidResponseError} When the answer is not what the OpenAPI document says.
   */
  checkKey(apiKey?: string, options?: CallOptions): Promise<KeyStatus>;

  /**
   * Calls an endpoint that the OpenAPI document does not have, with the `X-API-Key` header and
   * `Content-Type: application/json` (section 4, "Other endpoints").
   *
   * @example Call an endpoint by its name
   * ```ts
   * import { createClient } from "@scam-address/client";
   * import { createSandbox } from "@scam-address/client/sandbox";
   *
   * const { fetch } = createSandbox({
   *   keys: { "demo-key": 100 },
   *   routes: { "GET report": () => Response.json({ reports: [] }) },
   * });
   * const client = createClient({
   *   baseUrl: "https://service.example/",
   *   apiKey: "demo-key",
   *   fetch,
   * });
   * console.log(await client.call("GET", "report", { query: { page: 1 } })); // { reports: [] }
   * ```
   *
   * @param method The method.
   * @param endpoint The endpoint's name, which directly follows the base URL.
   * @param options What to send, and what differs from the client's options.
   * @returns The JSON of the answer; `undefined` for a success without content.
   * @throws {ConfigurationError} When the client has no key, or an argument is wrong.
   * @throws {HttpError} When the service answers with a status outside 2xx and 3xx.
   * @throws {RedirectError} When the service answers with a redirect.
   * @throws {NetworkError} When the service cannot be reached or the answer breaks off.
   * @throws {TimeoutError} When the last attempt's time is up.
   * @throws {InvalidResponseError} When the answer is not JSON, or too large.
   */
  call(method: Method, endpoint: string, options?: EndpointOptions): Promise<unknown>;
}

interface Result {
  data?: unknown;
  error?: unknown;
  response: Response;
}

const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

/**
 * Creates a client of the Scam Address Service.
 *
 * It reads nothing from the environment, writes nothing to the console, and sends nothing until one
 * of its methods is called.
 *
 * @example Check a key
 * ```ts
 * import { createClient } from "@scam-address/client";
 * import { createSandbox } from "@scam-address/client/sandbox";
 *
 * const client = createClient({
 *   baseUrl: "https://service.example/api/",
 *   apiKey: "demo-key",
 *   fetch: createSandbox({ keys: { "demo-key": 100 } }).fetch, // leave out to ask the real service
 * });
 * const status = await client.checkKey();
 * if (status.apiKeyValid) console.log(status.data.credits); // 100
 * ```
 *
 * @typeParam Paths The `paths` that openapi-typescript makes of an OpenAPI document; those of this
 * package's own by default.
 * @param options Where and how to send requests; only `baseUrl` is required.
 * @returns The client.
 * @throws {ConfigurationError} When an option is wrong.
 */
export function createClient<Paths extends object = paths>(
  options: ClientOptions,
): ScamAddressClient<Paths> {
  options = Object(options); // null, from JavaScript, has no baseUrl either
  const { apiKey, fetch: defaultFetch, onRetry } = options;
  const baseUrl = readBaseUrl(options);
  const defaultTimeout = readNumber("timeout", options.timeout);
  const defaultRetries = readNumber("retries", options.retries);
  const maxResponseBytes = readNumber("maxResponseBytes", options.maxResponseBytes);
  if (typeof apiKey !== "function" && apiKey !== undefined) readApiKey(apiKey);
  checkFunction("fetch", defaultFetch);
  checkFunction("onRetry", onRetry);
  let defaultHeaders: Record<string, string>;
  try {
    defaultHeaders = Object.fromEntries(new Headers(options.headers));
  } catch {
    throw new ConfigurationError('"headers" holds a name or value that no header can carry');
  }

  let installed: Middleware[] = [];

  /** Gives the client's own key. */
  async function ask({ timeout, signal }: CallOptions): Promise<string> {
    if (apiKey === undefined) {
      throw new ConfigurationError('This request needs a key: give createClient() an "apiKey"');
    }
    if (typeof apiKey === "string") return apiKey;
    checkSignal(signal);
    const work = async () => {
      try {
        return await apiKey();
      } catch (cause) {
        throw new ConfigurationError('The function "apiKey" failed', {}, { cause });
      }
    };
    const bounds = {
      name: "apiKey",
      timeout: readNumber("timeout", timeout, defaultTimeout),
      signal,
    };
    return readApiKey(await bounded(work, bounds));
  }

  /** Refuses an address outside the base URL's origin, or one that is not what it seems. */
  function checkUrl(url: string): void {
    if (!url.startsWith(baseUrl) && new URL(url).origin !== new URL(baseUrl).origin) {
      throw new ConfigurationError('A request must stay at the origin of "baseUrl"');
    }
    checkPath("params.path", url.replace(/[?#].*/s, ""));
  }

  /** Performs a request as openapi-fetch does. Where `strict`, an error status throws. */
  async function perform(
    method: string,
    path: string,
    {
      fetch = defaultFetch,
      middleware: added = [],
      retries = defaultRetries,
      signal,
      timeout = defaultTimeout,
      ...init
    }: Init,
    strict = false,
  ): Promise<Result> {
    const { body, parseAs = "json" } = init;
    method = `${method}`.toUpperCase();
    if (!METHODS.includes(method)) {
      throw new ConfigurationError(`"method" must be one of ${METHODS.join(", ")}`);
    }
    if (body !== undefined && isBodiless(method)) {
      throw new ConfigurationError(`"body" must be left out of a ${method} request`);
    }
    checkFunction("fetch", fetch);
    readNumber("timeout", timeout);
    readNumber("retries", retries);
    checkSignal(signal);

    const target = `${method} ${path}`;
    const operation = operations[target];
    const access = operation?.apiKey ?? "required";
    const secrets = secretForms((body as { apiKey?: unknown } | null | undefined)?.apiKey);
    let key: string | undefined;
    if (access === "required" || (access === "optional" && apiKey !== undefined)) {
      key = await ask({ timeout, signal });
      secrets.push(...secretForms(key));
    }
    const name = operation ? target : redact(target, secrets);
    const policy = { name, timeout, retries, maxResponseBytes, signal, fetch, onRetry, secrets };

    let built;
    let middleware: Middleware[];
    let request: Request | undefined;
    try {
      middleware = [...installed, ...added].filter(Boolean); // openapi-fetch skips what is null
      built = build(
        method,
        path,
        { fetch, ...init, baseUrl: init.baseUrl || baseUrl },
        defaultHeaders,
      );
      checkUrl(built.url);
      if (middleware.length || typeof built.outgoing.body === "object") {
        request = new Request(built.url, built.outgoing); // whose bytes are the same each time
      }
    } catch (error) {
      if (error instanceof ScamAddressError) throw error;
      // A TypeError is the platform's, which may quote a header or an address.
      const options = error instanceof TypeError ? {} : { cause: redactCause(error, secrets) };
      throw new ConfigurationError(
        `"${name}" cannot be built: see "headers", "params", "middleware" and "baseUrl"`,
        {},
        options,
      );
    }
    const { url, outgoing, context } = built;

    let received: Received | undefined;
    const deliver = async (input: string | Request, init: Outgoing): Promise<Response> => {
      if (access !== "none") markJson(init);
      delete init.headers[apiKeyHeader.toLowerCase()];
      if (key !== undefined) init.headers[apiKeyHeader] = key;
      const { idempotent = isIdempotent(init.method) } = operations[`${init.method} ${path}`] ?? {};
      received = await send({ ...policy, idempotent, input, init });
      if (received.response.status > 599) throw httpError(policy, received); // rebuild() cannot
      if (middleware.length) received = { ...received, response: rebuild(received) };
      return received.response;
    };
    const response = request
      ? await through(middleware, request, context, async (request) => {
        checkUrl(request.url);
        return deliver(request, await repeatable(request));
      })
      : await deliver(url, outgoing);
    if (response !== received?.response) { // middleware has answered
      const body = await bounded((signal) => read(response, policy, signal), policy);
      received = { response, body };
    }

    if (!response.ok) {
      if (strict) throw httpError(policy, received);
      const text = decode(received.body);
      return { error: text ? parse(text) : undefined, response };
    }
    let data: unknown;
    if (parseAs !== "json") {
      const copy = rebuild(received);
      data = parseAs === "stream" ? copy.body : await copy[parseAs]();
    } else if (method !== "HEAD") {
      const { responses = {} } = operation ?? {};
      const validate = responses[response.status] ?? responses["2XX"] ?? responses["default"];
      data = readJson(received, policy, validate);
    }
    return { data, response };
  }

  // openapi-fetch's type has TRACE, which fetch forbids: it rejects.
  const methods = [...METHODS, "TRACE"].map((method) =>
    [method, (path: string, init?: Init) => perform(method, path, init ?? {})] as const
  );
  const client = {
    ...Object.fromEntries(methods),
    request: (method: string, path: string, init?: Init) => perform(method, path, init ?? {}),
    use(...added: Middleware[]) {
      installed = [...installed, ...added];
    },
    eject(...removed: Middleware[]) {
      installed = installed.filter((each, index) =>
        !removed.includes(each) || installed.indexOf(each) !== index // once, if it is there twice
      );
    },
    async checkKey(key?: string, options?: CallOptions): Promise<KeyStatus> {
      const body = { apiKey: key === undefined ? await ask(options ?? {}) : readApiKey(key) };
      const { data } = await perform("POST", "/checkKey", { ...options, body }, true);
      return data as KeyStatus;
    },
    async call(method: Method, endpoint: string, options?: EndpointOptions): Promise<unknown> {
      const { query = {}, ...rest } = options ?? {};
      const { data } = await perform(
        method,
        toPath(endpoint),
        { ...rest, params: { query } },
        true,
      );
      return data;
    },
  };
  return client as unknown as ScamAddressClient<Paths>;
}
