import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Method } from "./api.ts";
import { isApiKey, optionError } from "./checks.ts";
import { apiKeyHeader, operations } from "./generated/operations.ts";
import type { operations as Operations } from "./generated/types.ts";
import type { Operation } from "./operation.ts";
import { type Settings, TYPED_OPTIONS, type TypedOptions } from "./options.ts";
import { toJson, withoutQuery } from "./request.ts";
import { CallErrors } from "./transport/call_errors.ts";
import type { SendOptions } from "./transport/send.ts";

/** What distinguishes `checkKey`, `call` and the typed methods. */
export interface DispatchOptions {
  /** Whether the path is looked up in the OpenAPI document, and its parameters are written. */
  readonly isTyped: boolean;
  /** Whether a status that is not 2xx is thrown. */
  readonly throwsHttpError: boolean;
  /** Checks the data of a 2xx response, for `call`. */
  readonly schema?: StandardSchemaV1 | undefined;
}

/** What one call needs: the settings of the client, with what the call says instead. */
export interface Call
  extends DispatchOptions, SendOptions, Pick<Settings, "Request" | "apiKey" | "baseUrl" | "fetch"> {
  readonly method: Method;
  /** The operation in the OpenAPI document; `undefined` if it has none, or is not asked. */
  readonly operation: Operation | undefined;
  /** The caller's option `idempotent`; `undefined` if it is not given. */
  readonly idempotent: boolean | undefined;
  /** The signal that the caller gave. */
  readonly callerSignal: AbortSignal | undefined;
  /** Whether the data is parsed from JSON here, to be checked. */
  readonly isJson: boolean;
}

/**
 * Whether a call is unwatched: nobody except this client sees its request before `fetch`, and its
 * response after it. A call is watched if it has middleware, a `Request` class, an option of `fetch`
 * itself, a body that is not text, or a `parseAs` other than JSON and text.
 *
 * In an unwatched call, a `RequestParts` stands in for the `Request`, and a response of the runtime's
 * own is handed on with its text, not built again. Tests run with both kinds of calls.
 */
function isUnwatched(options: TypedOptions, settings: Settings, hasMiddleware: boolean): boolean {
  const { body, middleware, parseAs = "json" } = options;
  const serializer = options.bodySerializer ?? settings.bodySerializer;
  const hasText = serializer ? serializer === toJson : !(body instanceof FormData);
  return hasText && !hasMiddleware && !middleware?.length && !options.Request &&
    !settings.Request && (parseAs === "json" || parseAs === "text") &&
    Object.keys(options).every((name) => name in TYPED_OPTIONS);
}

/** Returns the key in the body of a `checkKey` request. */
function keyInBody(operation: Operation | undefined, body: unknown): unknown {
  const checkKey: keyof Operations = "checkKey";
  return operation?.operationId === checkKey ? Object(body).apiKey : undefined;
}

/** Puts together what a call needs, before anything is awaited, of options that are checked. */
export function prepareCall(
  method: Method,
  path: string,
  options: TypedOptions,
  { isTyped, throwsHttpError, schema }: DispatchOptions,
  settings: Settings,
  hasMiddleware: boolean,
): Call {
  const { apiKey, baseUrl, maxResponseBytes, onRetry } = settings;
  const { retries = settings.retries, timeout = settings.timeout } = options;
  const { body, fetch = settings.fetch, idempotent, parseAs = "json", signal } = options;
  const { Request = settings.Request } = options;
  if (body !== undefined && (method === "GET" || method === "HEAD")) {
    throw optionError("body", `must be left out of a ${method} request`);
  }
  const operation = isTyped ? operations[`${method} ${path}`] : undefined;
  const isKeyRequired = operation === undefined || operation.apiKey === "required";
  if (isKeyRequired && apiKey === undefined) {
    const ignored = `a header "${apiKeyHeader}" is ignored`;
    const problem = `is missing: this request needs the client's key, and ${ignored}`;
    throw optionError("apiKey", problem);
  }
  const address = () => withoutQuery(`${options.baseUrl || baseUrl}`.replace(/\/?$/, () => path));
  const errors = new CallErrors(() => `${method} ${address()}`, operation !== undefined);
  for (const key of [apiKey, keyInBody(operation, body)]) {
    if (isApiKey(key)) errors.secrets.add(key);
  }
  return { // one by one: to spread the settings costs 0.05 of openapi-fetch's time on Node.js
    isTyped,
    throwsHttpError,
    schema,
    apiKey,
    baseUrl,
    maxResponseBytes,
    onRetry,
    timeout,
    retries,
    callerSignal: signal ?? undefined,
    fetch,
    Request,
    method,
    operation,
    idempotent,
    isJson: parseAs === "json",
    isUnwatched: isUnwatched(options, settings, hasMiddleware),
    errors,
  };
}
