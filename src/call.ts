import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ParseAs } from "openapi-fetch";

import type { Method } from "./api.ts";
import { isApiKey } from "./api_key.ts";
import { convertOption, optionError } from "./checks.ts";
import { apiKeyHeader } from "./generated/operations.ts";
import type { Operation } from "./operation.ts";
import type { Settings, TypedOptions } from "./options.ts";
import type { SendContext } from "./transport/attempt.ts";
import { CallErrors } from "./transport/call_errors.ts";
import { MAX_ERROR_BODY } from "./transport/text.ts";
import { withoutQuery } from "./transport/url.ts";

/** The input of a call, from a method of the client. {@linkcode Call} has the docs of its fields. */
export interface CallInput {
  readonly method: Method;
  readonly path: string;
  readonly operation?: Operation | undefined;
  readonly schema?: StandardSchemaV1 | undefined;
  readonly resolvesToErrors?: boolean;
  /** The options of the call, most of which are used in place of the client's. */
  readonly options: TypedOptions;
  /** The start of the call, on the clock of `performance.now()`; by default now. */
  readonly start?: number | undefined;
}

/** Everything about one call, in one flat record. */
export interface Call extends SendContext {
  readonly method: Method;
  /** The operation, if the OpenAPI document has it. */
  readonly operation: Operation | undefined;
  /** The schema of the data of a 2xx response, for `call`. */
  readonly schema: StandardSchemaV1 | undefined;
  /** Whether the call resolves to the body of a 4xx or 5xx response, and does not throw. */
  readonly resolvesToErrors: boolean;
  /** The client's key, or the function that returns it. */
  readonly apiKey: Settings["apiKey"];
  /** Whether the key is sent, if there is one. */
  readonly isAuthenticated: boolean;
  /** The client's base URL, to whose origin alone the key goes. */
  readonly baseUrl: string;
  /** The custom `fetch`, if there is one. */
  readonly fetch: TypedOptions["fetch"];
  /** The class of requests, in place of the global one. */
  readonly Request: TypedOptions["Request"];
  /** Whether the caller says that the request is safe to repeat. */
  readonly idempotent: boolean | undefined;
  /** Whether middleware sees the request and the response. */
  readonly hasMiddleware: boolean;
  /** The form of the data of a 2xx response. */
  readonly parseAs: ParseAs;
}

/**
 * Puts together everything about one call, from checked options, before anything is awaited. Where
 * both the call and the client have an option, the call's is used.
 */
export function prepareCall(input: CallInput, settings: Settings, hasMiddleware: boolean): Call {
  const { method, path, options, operation, resolvesToErrors = false, schema } = input;
  const { start = performance.now() } = input;
  const { apiKey, maxResponseBytes } = settings;
  const { body, middleware = [], parseAs = "json", totalTimeout = settings.totalTimeout } = options;
  if (body !== undefined && (method === "GET" || method === "HEAD")) {
    throw optionError("body", `must be left out of a ${method} request`);
  }
  const { apiKey: access = "required" } = operation ?? {};
  if (access === "required" && apiKey === undefined) {
    const ignored = `a header "${apiKeyHeader}" is ignored`;
    throw optionError("apiKey", `is missing: this request needs the client's key, and ${ignored}`);
  }
  const base = options.baseUrl || settings.baseUrl; // openapi-fetch ignores an empty one
  // A function, because only errors need it.
  const describeRequest = () => `${method} ${withoutQuery(`${base}`.replace(/\/$/, "") + path)}`;
  const is404Unexpected = operation !== undefined && !operation.has404;
  const errors = new CallErrors(describeRequest, is404Unexpected);
  if (typeof apiKey === "string") errors.secrets.add(apiKey);
  const bodyKey = readBodyKey(body);
  if (isApiKey(bodyKey)) errors.secrets.add(bodyKey);
  return {
    method,
    operation,
    schema,
    resolvesToErrors,
    errors,
    apiKey,
    isAuthenticated: access !== "none",
    baseUrl: settings.baseUrl,
    fetch: options.fetch ?? settings.fetch,
    Request: options.Request ?? settings.Request,
    idempotent: options.idempotent,
    onRetry: settings.onRetry,
    retries: options.retries ?? settings.retries,
    timeout: options.timeout ?? settings.timeout,
    totalTimeout,
    deadline: start + totalTimeout,
    maxResponseBytes,
    // An error that is thrown keeps no more.
    maxErrorBytes: resolvesToErrors ? maxResponseBytes : Math.min(MAX_ERROR_BODY, maxResponseBytes),
    hasMiddleware: hasMiddleware || middleware.length > 0,
    parseAs,
  };
}

/** Returns the key in a body, not checked. An operation that is not documented may have one, too. */
function readBodyKey(body: unknown): unknown {
  const expected = "a value that JSON can represent"; // whose fields can be read
  return convertOption("body", expected, () => Object(body).apiKey ?? null); // undefined is refused
}
