import type { Middleware, ParseAs } from "openapi-fetch";

import { checkFunction, checkSignal, kindOf, readApiKey, readNumber } from "./checks.ts";
import { ConfigurationError } from "./errors.ts";
import type { Operation, Validator } from "./operation.ts";
import type { CallOptions, ClientOptions, Settings } from "./options.ts";
import { isIdempotent } from "./retry.ts";
import { Secrets } from "./secrets.ts";
import { type Clock, withTimeout } from "./time.ts";

/** What the methods take: openapi-fetch's options, and those of a single call. */
export interface Init extends CallOptions {
  body?: unknown;
  bodySerializer?: unknown;
  fetch?: ClientOptions["fetch"];
  headers?: ClientOptions["headers"];
  middleware?: Middleware[];
  params?: { path?: Record<string, unknown> };
  parseAs?: ParseAs;
  pathSerializer?: unknown;
  querySerializer?: unknown;
  Request?: typeof Request;
}

/** What holds for a call, however often its request is sent. */
export interface Call {
  /** The method and the path, as in `GET /report`. It may show a secret. */
  readonly target: string;
  readonly baseUrl: string;
  /** The key that the request carries. */
  readonly apiKey: string | undefined;
  /** Whether the request says that it is JSON, also without a body. */
  readonly isJson: boolean;
  /** Whether a request with the method may be repeated. */
  isIdempotent(method: string): boolean;
  /** The checks of 2xx responses, by status. */
  readonly validators: Readonly<Record<string, Validator>>;
  readonly timeout: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
  readonly signals: readonly AbortSignal[];
  readonly fetch: ClientOptions["fetch"];
  readonly Request: typeof Request;
  readonly onRetry: ClientOptions["onRetry"];
  /** What no error may show. */
  readonly secrets: Secrets;
  readonly clock: Clock;
  /** Whether middleware sees the request and the response, or the caller reads the body. */
  readonly isObserved: boolean;
}

const BODY_TYPES = ["json", "text", "blob", "arrayBuffer", "stream"];
const HOOKS = ["onRequest", "onResponse", "onError"];

/** Refuses middleware that openapi-fetch would refuse or not call. */
export function checkMiddleware(middleware: unknown): void {
  if (!Array.isArray(middleware)) {
    throw new ConfigurationError(`"middleware" must be a list, not ${kindOf(middleware)}`);
  }
  for (const each of middleware) {
    if (!each) continue; // as openapi-fetch skips it
    if (typeof each !== "object" || !HOOKS.some((name) => name in each)) {
      throw new ConfigurationError(
        `Middleware must be an object with one of ${HOOKS.join(", ")}, not ${kindOf(each)}`,
      );
    }
    HOOKS.forEach((name) => checkFunction(name, each[name]));
  }
}

/** Gives the client's own key. */
export async function resolveApiKey(settings: Settings, options: CallOptions): Promise<string> {
  const { apiKey } = settings;
  if (apiKey === undefined) {
    throw new ConfigurationError('This request needs a key: give createClient() an "apiKey"');
  }
  if (typeof apiKey === "string") return apiKey;
  const timeout = readNumber("timeout", options.timeout, settings.timeout);
  const signals = checkSignal(options.signal);
  const work = async () => {
    try {
      return await apiKey();
    } catch (cause) {
      throw new ConfigurationError('The function "apiKey" failed', { cause });
    }
  };
  return readApiKey(await withTimeout(work, { what: '"apiKey"', timeout, signals }));
}

/** Checks the options of a call, and gives it its key. */
export async function prepareCall(
  method: string,
  path: string,
  init: Init,
  operation: Operation | undefined,
  settings: Settings,
  clock: Clock,
  hasMiddleware: boolean,
): Promise<Call> {
  const { body, fetch = settings.fetch, middleware = [], parseAs = "json" } = init;
  const timeout = readNumber("timeout", init.timeout, settings.timeout);
  const retries = readNumber("retries", init.retries, settings.retries);
  const signals = checkSignal(init.signal);
  checkFunction("fetch", fetch);
  checkFunction("Request", init.Request);
  checkMiddleware(middleware);
  if (!BODY_TYPES.includes(parseAs)) {
    throw new ConfigurationError(`"parseAs" must be one of ${BODY_TYPES.join(", ")}`);
  }

  const secrets = new Secrets();
  secrets.add((body as { apiKey?: unknown } | null | undefined)?.apiKey);
  const access = operation?.apiKey ?? "required";
  const needsKey = access === "required" ||
    (access === "optional" && settings.apiKey !== undefined);
  const apiKey = needsKey ? await resolveApiKey(settings, init) : undefined;
  secrets.add(apiKey);
  return {
    target: `${method} ${path}`,
    baseUrl: settings.baseUrl,
    apiKey,
    isJson: access !== "none",
    isIdempotent: (sent) =>
      operation && sent === method ? operation.idempotent : isIdempotent(sent),
    validators: method === "HEAD" ? {} : operation?.responses ?? {},
    timeout,
    retries,
    maxResponseBytes: settings.maxResponseBytes,
    signals,
    fetch,
    Request: init.Request ?? settings.Request ?? globalThis.Request,
    onRetry: settings.onRetry,
    secrets,
    clock,
    isObserved: hasMiddleware || middleware.length > 0 || parseAs !== "json",
  };
}
