import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Method } from "./api.ts";
import { isApiKey } from "./api_key.ts";
import { optionError } from "./checks.ts";
import { apiKeyHeader } from "./generated/operations.ts";
import type { Operation } from "./operation.ts";
import { type Settings, TYPED_OPTIONS, type TypedOptions } from "./options.ts";
import { guardPath } from "./path.ts";
import { toBody, toJson } from "./request_body.ts";
import { CallErrors } from "./transport/call_errors.ts";
import { MAX_ERROR_BODY, withoutQuery } from "./transport/redact.ts";

/** What a method of the client asks for. */
export interface CallInput {
  readonly method: Method;
  readonly path: string;
  /** The options of the call, most of which are used in place of the client's. */
  readonly options: TypedOptions;
  /** The operation, if the OpenAPI document has it. */
  readonly operation?: Operation | undefined;
  /** Whether the call resolves to the body of a 4xx or 5xx response, and does not throw. */
  readonly resolvesToErrors?: boolean;
  /** Checks the data of a 2xx response, for `call`. */
  readonly schema?: StandardSchemaV1 | undefined;
  /** When the call began, on the clock of `performance.now()`; by default now. */
  readonly start?: number | undefined;
}

/**
 * Whether a call is unwatched: nobody except this client sees its request before `fetch`, and its
 * response after it. Then a `RequestParts` stands in for the `Request`, and a response of the runtime's
 * own is handed on with its text, not built again.
 *
 * Middleware and a `Request` class watch. What the two cannot carry makes a call watched, too: an
 * option of `fetch` itself, a body that may be no text, a `parseAs` other than JSON and text.
 */
function isUnwatched(options: TypedOptions, settings: Settings, hasMiddleware: boolean): boolean {
  const { bodySerializer = settings.bodySerializer, middleware, parseAs = "json" } = options;
  const writesText = bodySerializer === toJson ||
    bodySerializer === toBody && !(options.body instanceof FormData);
  return writesText && !hasMiddleware && !middleware?.length && !options.Request &&
    !settings.Request && (parseAs === "json" || parseAs === "text") &&
    Object.keys(options).every((name) => name in TYPED_OPTIONS);
}

/** Everything about one call; the transport gets all of it, and knows what `SendContext` has. */
export type Call = ReturnType<typeof prepareCall>;

/**
 * Puts together everything about one call, from checked options, before anything is awaited. Where
 * both the call and the client have an option, the call's is used.
 */
export function prepareCall(input: CallInput, settings: Settings, hasMiddleware: boolean) {
  const { method, path, options, operation, resolvesToErrors = false, schema } = input;
  const { start = performance.now() } = input;
  const { apiKey, maxResponseBytes } = settings;
  const { body, parseAs = "json", totalTimeout = settings.totalTimeout } = options;
  if (body !== undefined && (method === "GET" || method === "HEAD")) {
    throw optionError("body", `must be left out of a ${method} request`);
  }
  const { apiKey: access = "required" } = operation ?? {};
  if (access === "required" && apiKey === undefined) {
    const ignored = `a header "${apiKeyHeader}" is ignored`;
    const problem = `is missing: this request needs the client's key, and ${ignored}`;
    throw optionError("apiKey", problem);
  }
  const base = options.baseUrl || settings.baseUrl;
  const address = () => withoutQuery(`${base}`.replace(/\/$/, "") + path); // only errors need it
  const is404Unexpected = operation !== undefined && !operation.has404;
  const errors = new CallErrors(() => `${method} ${address()}`, is404Unexpected);
  // `checkKey` has a key in its body, and so may an operation that is not documented.
  for (const key of [apiKey, Object(body).apiKey]) {
    if (isApiKey(key)) errors.secrets.add(key);
  }
  return {
    method,
    operation,
    schema,
    resolvesToErrors,
    errors, // makes the errors of this call
    apiKey,
    isAuthenticated: access !== "none",
    baseUrl: settings.baseUrl, // the key goes to its origin only
    fetch: options.fetch ?? settings.fetch,
    Request: options.Request ?? settings.Request,
    pathSerializer: guardPath(options.pathSerializer ?? settings.pathSerializer),
    idempotent: options.idempotent,
    onRetry: settings.onRetry,
    retries: options.retries ?? settings.retries,
    timeout: options.timeout ?? settings.timeout,
    totalTimeout,
    deadline: start + totalTimeout,
    maxResponseBytes,
    // An error that is thrown keeps no more.
    maxErrorBytes: resolvesToErrors ? maxResponseBytes : Math.min(MAX_ERROR_BODY, maxResponseBytes),
    /** Whether the data is parsed from JSON here, to be checked. */
    isJson: parseAs === "json",
    isUnwatched: isUnwatched(options, settings, hasMiddleware),
  };
}
