import type { Middleware, ParseAs } from "openapi-fetch";

import {
  checkOneOf,
  checkType,
  mustBe,
  readApiKey,
  readNumber,
  readSignal,
  wrong,
} from "./checks.ts";
import { isBodiless, readMethod } from "./endpoint.ts";
import { operations } from "./generated/operations.ts";
import type { Validator } from "./operation.ts";
import { type CallOptions, checkCase, type ClientOptions, type Settings } from "./options.ts";
import { redactor } from "./transport/redact.ts";
import type { Reading, Received } from "./transport/response.ts";
import { isIdempotent } from "./transport/retry.ts";
import type { Sending } from "./transport/send.ts";
import { within } from "./transport/time.ts";

/** The options of the methods: openapi-fetch's, most of which clients have too, and a call's. */
export interface Init extends CallOptions, Partial<ClientOptions> {
  body?: unknown;
  middleware?: Middleware[];
  params?: { path?: Record<string, unknown> };
  parseAs?: ParseAs;
}

/** What one call needs. */
export interface Call extends Reading, Pick<Sending, "retries" | "onRetry"> {
  readonly settings: Settings;
  readonly method: string;
  /** What is known of the responses that were read. */
  readonly received: Map<Response, Received>;
  /** The key that the request carries. */
  readonly key: string | undefined;
  /** Whether the request has `Content-Type: application/json`, also without a body. */
  readonly sendsJson: boolean;
  /** Whether a request with the method may be retried after any failure. */
  readonly isIdempotent: (method: string) => boolean;
  /** The validators of 2xx responses, by status. */
  readonly validators: Readonly<Record<string, Validator | undefined>>;
  readonly fetch: ClientOptions["fetch"];
  /** The caller's own class; undefined for the global one. */
  readonly Request: typeof Request | undefined;
}

const BODY_TYPES = ["json", "text", "blob", "arrayBuffer", "stream"];
const HOOKS = ["onRequest", "onResponse", "onError"] as const;

/** Checks middleware, because openapi-fetch ignores some mistakes. */
export function checkMiddleware(middleware: readonly Middleware[]): void {
  if (!Array.isArray(middleware)) throw mustBe("middleware", "a list", middleware);
  for (const each of middleware) {
    if (!each) continue; // as openapi-fetch does
    for (const name of HOOKS) checkType(name, each[name], "function");
    if (typeof each === "object" && HOOKS.some((name) => name in each)) continue;
    throw mustBe("middleware", "objects with onRequest, onResponse or onError", each);
  }
}

/** Resolves to the client's own key. */
export async function resolveApiKey(settings: Settings, options: CallOptions): Promise<string> {
  const { apiKey } = settings;
  if (apiKey === undefined) {
    throw wrong("apiKey", "is missing: this request needs the client's key");
  }
  if (typeof apiKey === "string") return apiKey;
  const timeout = readNumber("timeout", options.timeout, settings.timeout);
  const limits = { name: "apiKey", timeout, signals: readSignal(options.signal) };
  const explain = (cause: unknown) => wrong("apiKey", "is a function that failed", cause);
  return readApiKey(await within(limits, async () => await apiKey(), explain));
}

/** Checks the options of a call, and resolves its key. */
export async function prepareCall(
  givenMethod: unknown,
  path: unknown,
  init: Init,
  isDocumented: boolean,
  settings: Settings,
): Promise<Call> {
  const method = readMethod(givenMethod);
  if (typeof path !== "string") throw mustBe("path", "a string", path);
  checkCase(init);
  const operation = isDocumented ? operations[`${method} ${path}`] : undefined;
  const { body, fetch = settings.fetch, middleware = [], parseAs = "json" } = init;
  const timeout = readNumber("timeout", init.timeout, settings.timeout);
  const retries = readNumber("retries", init.retries, settings.retries);
  const signals = readSignal(init.signal);
  checkType("fetch", fetch, "function");
  checkType("Request", init.Request, "function");
  checkMiddleware(middleware);
  checkOneOf("parseAs", parseAs, BODY_TYPES);
  if (body !== undefined && isBodiless(method)) {
    throw wrong("body", `must be left out of a ${method} request`);
  }

  const access = operation?.apiKey ?? "required";
  const needsKey = access === "required" ||
    (access === "optional" && settings.apiKey !== undefined);
  const key = needsKey ? await resolveApiKey(settings, init) : undefined;
  const redact = redactor(key, (body as { apiKey?: unknown } | null | undefined)?.apiKey);
  return {
    settings,
    received: new Map(),
    method,
    name: operation ? `${method} ${path}` : redact(`${method} ${path}`),
    key,
    sendsJson: access !== "none",
    isIdempotent: (sent) =>
      operation && sent === method ? operation.idempotent : isIdempotent(sent),
    validators: method === "HEAD" ? {} : operation?.responses ?? {},
    maxResponseBytes: settings.maxResponseBytes,
    onRetry: settings.onRetry,
    timeout,
    retries,
    signals,
    fetch,
    Request: init.Request ?? settings.Request,
    redact,
  };
}
