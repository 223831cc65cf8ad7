import type { Middleware, ParseAs } from "openapi-fetch";

import { checkFunction, checkOneOf, mustBe, readApiKey, readNumber, readSignal } from "./checks.ts";
import { ConfigurationError } from "./errors.ts";
import type { Operation, Validator } from "./operation.ts";
import type { CallOptions, ClientOptions, Settings } from "./options.ts";
import { isIdempotent } from "./retry.ts";
import { Secrets } from "./secrets.ts";
import { withTimeout } from "./time.ts";

/** The options of the methods: openapi-fetch's, and those of a single call. */
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

/** What all attempts of a call have in common. */
export type Call = Settings & {
  /** The method and the path, for messages: `GET /report`. */
  readonly name: string;
  /** The key that the request carries. */
  readonly key: string | undefined;
  /** Whether the request has `Content-Type: application/json`, also without a body. */
  readonly isJson: boolean;
  /** Whether a request with the method may be retried after any failure. */
  readonly isIdempotent: (method: string) => boolean;
  /** The validators of 2xx responses, by status. */
  readonly validators: Readonly<Record<string, Validator>>;
  readonly signals: readonly AbortSignal[];
  readonly Request: typeof Request;
  /** The keys that no error may show. */
  readonly secrets: Secrets;
  /** Whether middleware or the caller sees more than the JSON of the response. */
  readonly isObserved: boolean;
};

const BODY_TYPES = ["json", "text", "blob", "arrayBuffer", "stream"];
const HOOKS = ["onRequest", "onResponse", "onError"] as const;

/** Checks middleware, because openapi-fetch ignores some mistakes. */
export function checkMiddleware(middleware: readonly Middleware[]): void {
  if (!Array.isArray(middleware)) throw mustBe("middleware", "a list", middleware);
  for (const each of middleware) {
    for (const name of HOOKS) checkFunction(name, each?.[name]);
  }
}

/** Resolves to the client's own key. */
export async function resolveApiKey(settings: Settings, options: CallOptions): Promise<string> {
  const { apiKey } = settings;
  if (apiKey === undefined) {
    throw new ConfigurationError('This request needs an API key: set the option "apiKey"');
  }
  if (typeof apiKey === "string") return apiKey;
  const timeout = readNumber("timeout", options.timeout, settings.timeout);
  const signals = readSignal(options.signal);
  const work = async () => {
    try {
      return await apiKey();
    } catch (cause) {
      throw new ConfigurationError('The function "apiKey" failed', { cause });
    }
  };
  return readApiKey(await withTimeout(work, { name: "apiKey", timeout, signals }));
}

/** Checks the options of a call, and resolves its key. */
export async function prepareCall(
  method: string,
  path: string,
  init: Init,
  operation: Operation | undefined,
  settings: Settings,
): Promise<Omit<Call, "isObserved">> {
  const { body, fetch = settings.fetch, middleware = [], parseAs = "json" } = init;
  const timeout = readNumber("timeout", init.timeout, settings.timeout);
  const retries = readNumber("retries", init.retries, settings.retries);
  const signals = readSignal(init.signal);
  checkFunction("fetch", fetch);
  checkFunction("Request", init.Request);
  checkMiddleware(middleware);
  checkOneOf("parseAs", parseAs, BODY_TYPES);

  const access = operation?.apiKey ?? "required";
  const needsKey = access === "required" ||
    (access === "optional" && settings.apiKey !== undefined);
  const key = needsKey ? await resolveApiKey(settings, init) : undefined;
  const secrets = new Secrets(key, (body as { apiKey?: unknown } | null | undefined)?.apiKey);
  return {
    ...settings,
    name: operation ? `${method} ${path}` : secrets.redact(`${method} ${path}`),
    key,
    isJson: access !== "none",
    isIdempotent: (sent) =>
      operation && sent === method ? operation.idempotent : isIdempotent(sent),
    validators: method === "HEAD" ? {} : operation?.responses ?? {},
    timeout,
    retries,
    signals,
    fetch,
    Request: init.Request ?? settings.Request ?? globalThis.Request,
    secrets,
  };
}
