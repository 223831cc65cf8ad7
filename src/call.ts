import type { Middleware, ParseAs } from "openapi-fetch";
import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { CallOptions, ClientOptions } from "./api.ts";
import { checkType, isApiKey, mustBe, readOptions, wrong } from "./checks.ts";
import { readMethod, toJson, withoutQuery } from "./endpoint.ts";
import { apiKeyHeader, operations } from "./generated/operations.ts";
import type { operations as Operations } from "./generated/types.ts";
import type { Operation } from "./operation.ts";
import { readCallOptions, type Settings } from "./options.ts";
import { Failures } from "./transport/failures.ts";
import type { Sending } from "./transport/send.ts";

/** The options of the methods: ours, and openapi-fetch's, most of which clients have too. */
export interface Init extends CallOptions, Partial<ClientOptions> {
  body?: unknown;
  idempotent?: boolean | undefined;
  middleware?: readonly Middleware[];
  params?: { path?: Record<string, unknown>; query?: unknown };
  parseAs?: ParseAs;
}

/** What openapi-fetch's methods resolve to. */
export type Result = { data?: unknown; error?: unknown; response: Response };

/** What distinguishes the methods of the client. */
export interface Kind {
  /** Whether the operation is looked up in the OpenAPI document. */
  readonly isDocumented: boolean;
  /** Whether a status that is not 2xx is thrown. */
  readonly throws: boolean;
  /** Checks the data of a 2xx response that the OpenAPI document does not describe. */
  readonly schema?: StandardSchemaV1 | undefined;
}

/** What one call needs: the settings of the client, with what the call says instead. */
export type Call = Settings & Kind & Sending & {
  readonly method: string;
  /** What the OpenAPI document says; undefined where it is not asked. */
  readonly operation: Operation | undefined;
  /** Whether the request may be sent again, when the caller says so. */
  readonly idempotent: boolean | undefined;
  readonly signal: AbortSignal | undefined;
  /** Whether the data is parsed from JSON here, to be checked. */
  readonly isJson: boolean;
};

const PARSE_AS = ["json", "text", "blob", "arrayBuffer", "stream"];

/** The names of `fetch`'s standard options, which only a real `Request` understands. */
const FETCH_OPTIONS = /* @__PURE__ */ `cache credentials duplex integrity keepalive mode priority
  redirect referrer referrerPolicy window`.split(/\s+/);

/** The names of the options of `GET` and the other methods that are ours or openapi-fetch's. */
const OWN_OPTIONS = /* @__PURE__ */ `signal timeout retries idempotent body headers params parseAs
  middleware baseUrl fetch Request bodySerializer pathSerializer querySerializer method`.split(
  /\s+/,
);

/** The names of all options of `GET` and the other methods. */
const METHOD_OPTIONS = /* @__PURE__ */ OWN_OPTIONS.concat(FETCH_OPTIONS);

/** Checks the arguments of a method, before anything is sent. */
function checkArguments(method: string, path: unknown, init: Init): void {
  readOptions(init, METHOD_OPTIONS, `${method}()`);
  if (typeof path !== "string" || !path.startsWith("/")) {
    throw wrong("path", "must begin with a slash");
  }
  const { body, idempotent, middleware = [], parseAs = "json" } = init;
  checkType("idempotent", idempotent, "boolean");
  if (!Array.isArray(middleware)) throw mustBe("middleware", "a list", middleware);
  if (!PARSE_AS.includes(parseAs)) throw wrong("parseAs", `must be one of ${PARSE_AS.join(", ")}`);
  if (body !== undefined && (method === "GET" || method === "HEAD")) {
    throw wrong("body", `must be left out of a ${method} request`);
  }
}

/**
 * Whether a call is private: nobody except this client sees its request before `fetch`, and its
 * response after it. Middleware, a `Request` class, options of `fetch` itself, a body that is not
 * text, and a `parseAs` other than JSON and text make it a watched one.
 *
 * In a private call, a `RequestRecord` stands in for the `Request`, and a response of the runtime's
 * own is handed on with its text, not built again. Whatever holds for a private call is tested for a
 * watched one too.
 */
function isPrivate(init: Init, settings: Settings, hasMiddleware: boolean): boolean {
  const { body, middleware, parseAs = "json" } = init;
  const serializer = init.bodySerializer ?? settings.bodySerializer;
  const hasText = serializer ? serializer === toJson : !(body instanceof FormData);
  return hasText && !hasMiddleware && !middleware?.length && !init.Request && !settings.Request &&
    (parseAs === "json" || parseAs === "text") && !FETCH_OPTIONS.some((name) => name in init);
}

/** Returns the key that is checked, which `checkKey` has in its body. */
function keyInBody(operation: Operation | undefined, body: unknown): unknown {
  const checkKey: keyof Operations = "checkKey";
  return operation?.operationId === checkKey ? Object(body).apiKey : undefined;
}

/** Reads the arguments of a call, before anything is awaited. */
export function readCall(
  givenMethod: string,
  path: string,
  init: Init,
  { isDocumented, throws, schema }: Kind,
  settings: Settings,
  hasMiddleware: boolean,
): Call {
  const method = readMethod(givenMethod);
  checkArguments(method, path, init);
  const { apiKey, baseUrl, maxResponseBytes, onRetry } = settings;
  const { signal, timeout, retries } = readCallOptions(init, settings);
  const { body, fetch = settings.fetch, idempotent, parseAs = "json" } = init;
  const { Request = settings.Request } = init;
  const operation = isDocumented ? operations[`${method} ${path}`] : undefined;
  const isKeyRequired = operation === undefined || operation.apiKey === "required";
  if (isKeyRequired && apiKey === undefined) {
    const ignored = `a header "${apiKeyHeader}" is ignored`;
    throw wrong("apiKey", `is missing: this request needs the client's key, and ${ignored}`);
  }
  const address = () => withoutQuery(`${init.baseUrl || baseUrl}`.replace(/\/?$/, () => path));
  const failures = new Failures(() => `${method} ${address()}`, operation !== undefined);
  for (const key of [apiKey, keyInBody(operation, body)]) {
    if (isApiKey(key)) failures.secrets.add(key);
  }
  return { // one by one: to spread the settings costs 0.05 of openapi-fetch's time on Node.js
    isDocumented,
    throws,
    schema,
    apiKey,
    baseUrl,
    maxResponseBytes,
    onRetry,
    signal,
    timeout,
    retries,
    fetch,
    Request,
    method,
    operation,
    idempotent,
    isJson: parseAs === "json",
    isPrivate: isPrivate(init, settings, hasMiddleware),
    failures,
  };
}
