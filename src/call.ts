import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Method } from "./api.ts";
import { isApiKey } from "./api_key.ts";
import { optionError } from "./checks.ts";
import { apiKeyHeader, operations } from "./generated/operations.ts";
import type { operations as Operations } from "./generated/types.ts";
import type { Operation } from "./operation.ts";
import { type Settings, TYPED_OPTIONS, type TypedOptions } from "./options.ts";
import { toJson, withoutQuery } from "./request.ts";
import { CallErrors } from "./transport/call_errors.ts";
import { MAX_SEARCHED } from "./transport/redact.ts";
import type { SendOptions } from "./transport/send.ts";

/** What distinguishes `checkKey`, `call` and the typed methods. */
export interface CallKind {
  /** Whether the path is looked up in the OpenAPI document, and its parameters are written. */
  readonly isTyped: boolean;
  /** Whether a status that is not 2xx is thrown. */
  readonly throwsHttpError: boolean;
  /** Checks the data of a 2xx response, for `call`. */
  readonly schema?: StandardSchemaV1 | undefined;
  /** When the call began, on the clock of `performance.now()`; by default now. */
  readonly start?: number | undefined;
}

/** What one call needs. */
export interface Call {
  readonly kind: CallKind;
  readonly method: Method;
  /** The options of the client. */
  readonly settings: Settings;
  /** The options of the call, most of which are used in place of the client's. */
  readonly options: TypedOptions;
  /** The operation of a typed method, if the OpenAPI document has it. */
  readonly operation: Operation | undefined;
  /** All that the transport knows of the call: its limits, and what makes its errors. */
  readonly sendOptions: SendOptions;
  /** Whether the data is parsed from JSON here, to be checked. */
  readonly isJson: boolean;
  /** See the function `isUnwatched`. */
  readonly isUnwatched: boolean;
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

/** Puts together what a call needs, from checked options, before anything is awaited. */
export function prepareCall(
  method: Method,
  path: string,
  options: TypedOptions,
  kind: CallKind,
  settings: Settings,
  hasMiddleware: boolean,
): Call {
  const { apiKey, baseUrl, maxResponseBytes, onRetry } = settings;
  const { retries = settings.retries, timeout = settings.timeout } = options;
  const { body, parseAs = "json", totalTimeout = settings.totalTimeout } = options;
  const { isTyped, start, throwsHttpError } = kind;
  const hasDeadline = totalTimeout < Infinity; // otherwise no clock is read
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
  const isPathKnown = operation !== undefined && !operation.has404;
  const errors = new CallErrors(() => `${method} ${address()}`, isPathKnown);
  for (const key of [apiKey, keyInBody(operation, body)]) {
    if (isApiKey(key)) errors.secrets.add(key);
  }
  return {
    kind,
    method,
    settings,
    options,
    operation,
    sendOptions: {
      timeout,
      totalTimeout,
      deadline: hasDeadline ? (start ?? performance.now()) + totalTimeout : Infinity,
      maxResponseBytes,
      // An error that is thrown keeps no more. The typed methods resolve to the whole body.
      maxErrorBytes: throwsHttpError ? Math.min(MAX_SEARCHED, maxResponseBytes) : maxResponseBytes,
      retries,
      onRetry,
      errors,
    },
    isJson: parseAs === "json",
    isUnwatched: isUnwatched(options, settings, hasMiddleware),
  };
}
