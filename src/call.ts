import { mergeHeaders, type Middleware, type ParseAs } from "openapi-fetch";

import type { CallOptions, ClientOptions } from "./api.ts";
import {
  checkObject,
  checkOneOf,
  checkType,
  mustBe,
  readNumber,
  readSignal,
  wrong,
} from "./checks.ts";
import { guardPath, guardQuery, isBodiless, readMethod } from "./endpoint.ts";
import { operations } from "./generated/operations.ts";
import type { Operation } from "./operation.ts";
import { readBaseUrl, readHeaders, type Settings } from "./options.ts";
import { type Redact, redactor } from "./transport/redact.ts";
import type { Received } from "./transport/response.ts";
import type { Sending } from "./transport/send.ts";

/** The options of the methods: openapi-fetch's, most of which clients have too, and a call's. */
export interface Init extends CallOptions, Partial<ClientOptions> {
  body?: unknown;
  idempotent?: boolean | undefined;
  middleware?: Middleware[];
  params?: { path?: Record<string, unknown>; header?: ClientOptions["headers"] };
  parseAs?: ParseAs;
}

/** What one call needs. */
export interface Call extends Omit<Sending, "attempt" | "clock" | "isIdempotent"> {
  readonly settings: Settings;
  readonly method: string;
  /** What the OpenAPI document says; undefined where it is not asked. */
  readonly operation: Operation | undefined;
  /** Whether the request may be sent again, when the caller says so. */
  readonly idempotent: boolean | undefined;
  /** Whether the caller names a content type; openapi-fetch's own is right for text only. */
  readonly hasOwnType: () => boolean;
  /** The key in the body of `checkKey`. */
  readonly checkedKey: unknown;
  readonly fetch: ClientOptions["fetch"];
  readonly Request: typeof Request | undefined;
  readonly isJson: boolean;
  /** Whether more than this client may see the request, which then must be a real one. */
  readonly isSeen: boolean;
  /** These change when the request is sent, which is when its address and its key are known. */
  describe: () => string;
  redact: Redact;
  signals: readonly AbortSignal[];
  /** The last response that was read. */
  received?: Received;
}

const BODY_TYPES = ["json", "text", "blob", "arrayBuffer", "stream"];
const FUNCTIONS = ["bodySerializer", "fetch", "pathSerializer", "Request"] as const;
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

/** What this client or openapi-fetch reads; all others are options of `fetch`. */
const KNOWN_OPTION =
  /^(baseUrl|body|fetch|headers|idempotent|middleware|params|parseAs|Request|retries|signal|timeout|\w+Serializer)$/;

/** Reads and checks the arguments of a call, before anything is awaited. */
export function prepareCall(
  givenMethod: unknown,
  path: unknown,
  init: Init,
  isDocumented: boolean,
  settings: Settings,
): Call {
  const method = readMethod(givenMethod);
  if (typeof path !== "string") throw mustBe("path", "a string", path);
  if (!path.startsWith("/")) throw wrong("path", "must begin with a slash");
  checkObject("options", init);
  checkObject("params", init.params ?? {});
  const { body, fetch = settings.fetch, idempotent, middleware = [], parseAs = "json" } = init;
  const { Request = settings.Request } = init;
  for (const name of FUNCTIONS) checkType(name, init[name], "function");
  checkType("idempotent", idempotent, "boolean");
  checkMiddleware(middleware);
  checkOneOf("parseAs", parseAs, BODY_TYPES);
  if (body !== undefined && isBodiless(method)) {
    throw wrong("body", `must be left out of a ${method} request`);
  }
  const operation = isDocumented ? operations[`${method} ${path}`] : undefined;
  const { apiKey } = settings;
  if (apiKey === undefined && (operation?.apiKey ?? "required") === "required") {
    throw wrong("apiKey", "is missing: this request needs the client's key");
  }
  const checkedKey = (body as { apiKey?: unknown } | null | undefined)?.apiKey;
  const redact = redactor(checkedKey, apiKey);
  return {
    settings,
    method,
    operation,
    idempotent,
    checkedKey,
    fetch,
    Request,
    hasOwnType: () =>
      mergeHeaders(
        settings.headers,
        readHeaders(init.headers, "headers"),
        readHeaders(init.params?.header, "params.header"),
      ).has("content-type"),
    isJson: parseAs === "json",
    isSeen: parseAs !== "json" || !!(fetch ?? Request) ||
      Object.keys(init).some((name) => !KNOWN_OPTION.test(name)),
    describe: () => redact(`${method} ${path}`),
    redact,
    signals: readSignal(init.signal),
    timeout: readNumber("timeout", init.timeout, settings.timeout),
    retries: readNumber("retries", init.retries, settings.retries),
    maxResponseBytes: settings.maxResponseBytes,
    onRetry: settings.onRetry,
  };
}

/** Converts the options of a call to openapi-fetch's own. */
export function toFetchOptions(init: Init, { isJson, settings }: Call): object {
  const { params, parseAs, pathSerializer = settings.pathSerializer } = init;
  const path = params?.path || {}; // without it, no serializer is called
  return {
    ...init,
    baseUrl: init.baseUrl ? readBaseUrl(init.baseUrl, settings) : undefined,
    headers: readHeaders(init.headers, "headers"),
    params: {
      ...params,
      path,
      ...params?.header && { header: readHeaders(params.header, "params.header") },
    },
    parseAs: isJson ? "stream" : parseAs, // JSON is parsed here, to be checked
    pathSerializer: guardPath(pathSerializer, path, settings.baseUrl),
    querySerializer: init.querySerializer &&
      guardQuery(init.querySerializer, settings.querySerializer),
  };
}
