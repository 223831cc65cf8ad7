import { mergeHeaders, type Middleware, type ParseAs } from "openapi-fetch";
import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { CallOptions, ClientOptions, RequestOptions } from "./api.ts";
import { readApiKey } from "./api_key.ts";
import { readBaseUrl } from "./base_url.ts";
import {
  checkBoolean,
  checkFunction,
  checkNumber,
  classOf,
  convertOption,
  type OptionChecks,
  optionError,
  readOptions,
  wrongType,
} from "./checks.ts";
import { serializeBody } from "./serialize.ts";

/** The options of `call`, with any schema. */
export type AnyCallOptions = CallOptions<StandardSchemaV1 | undefined>;

/** The options of the typed methods: ours, and openapi-fetch's, without those of `fetch` itself. */
export interface TypedOptions
  extends
    RequestOptions,
    Pick<CallOptions, "body" | "idempotent">,
    Pick<
      ClientOptions,
      "Request" | "bodySerializer" | "fetch" | "pathSerializer" | "querySerializer"
    > {
  baseUrl?: string;
  middleware?: readonly Middleware[];
  params?: { path?: Record<string, unknown>; query?: unknown };
  parseAs?: ParseAs;
}

// The tables below repeat rows, because bundlers keep a table that spreads another one, used or not.

/** The checks of the options of `createClient`. */
const CLIENT_CHECKS: OptionChecks<ClientOptions> = {
  baseUrl: null,
  apiKey: checkApiKey,
  timeout: checkNumber,
  totalTimeout: checkNumber,
  retries: checkNumber,
  maxResponseBytes: checkNumber,
  headers: checkHeaders,
  fetch: checkFunction,
  allowInsecureHttp: checkBoolean,
  onRetry: checkFunction,
  querySerializer: null,
  bodySerializer: null,
  pathSerializer: null,
  Request: null,
  requestInitExt: null,
};

/** The checks of the options of `checkKey` and `checkOwnKey`. */
export const REQUEST_CHECKS: OptionChecks<RequestOptions> = {
  signal: checkSignal,
  timeout: checkNumber,
  totalTimeout: checkNumber,
  retries: checkNumber,
  headers: checkHeaders,
};

/** The checks of the options of `call`. */
export const CALL_CHECKS: OptionChecks<AnyCallOptions> = {
  signal: checkSignal,
  timeout: checkNumber,
  totalTimeout: checkNumber,
  retries: checkNumber,
  body: null,
  query: null,
  headers: checkHeaders,
  idempotent: checkBoolean,
  schema: checkSchema,
};

/**
 * The checks of the typed methods' options, ours and openapi-fetch's. The latter are left to it, except
 * `parseAs`, whose mistakes would show after sending, and `middleware`, which `prepareCall` reads.
 */
export const TYPED_CHECKS: OptionChecks<TypedOptions> = {
  signal: checkSignal,
  timeout: checkNumber,
  totalTimeout: checkNumber,
  retries: checkNumber,
  idempotent: checkBoolean,
  body: null,
  headers: null,
  params: null,
  parseAs: checkParseAs,
  middleware: checkMiddleware,
  baseUrl: null,
  fetch: null,
  Request: null,
  bodySerializer: null,
  pathSerializer: null,
  querySerializer: null,
};

/** The names of `fetch`'s own options (`RequestInit`), which the typed methods have in addition. */
export const FETCH_OPTION_NAMES: readonly string[] =
  /* @__PURE__ */ `cache credentials duplex integrity keepalive method mode priority redirect
  referrer referrerPolicy window`.split(/\s+/);

/** The options of a client, checked and with defaults. */
export type Settings = ReturnType<typeof readClientOptions>;

/** Reads the options of a client. */
export function readClientOptions(given: ClientOptions) {
  const options = readOptions(given, CLIENT_CHECKS, "createClient()");
  const { bodySerializer = serializeBody, maxResponseBytes = 10 * 2 ** 20, retries = 2 } = options;
  const { timeout = 30_000, totalTimeout = Infinity } = options;
  const headers = copyHeaders(options.headers);
  const baseUrl = readBaseUrl(options);
  const limits = { maxResponseBytes, retries, timeout, totalTimeout };
  return { ...options, ...limits, baseUrl, bodySerializer, headers };
}

/** Copies headers. The copy of an object keeps a `null`, which removes a header. */
export function copyHeaders(headers: ClientOptions["headers"]): ClientOptions["headers"] {
  return headers instanceof Headers ? new Headers(headers) : headers && { ...headers };
}

/** Checks the client's own key; what a function returns is checked for each call. */
function checkApiKey(apiKey: unknown): void {
  if (typeof apiKey !== "function") readApiKey(apiKey);
}

/** Checks that headers can be sent. */
function checkHeaders(headers: unknown): void {
  const expected = "an object or a Headers, with names and values that can be sent";
  convertOption("headers", expected, () => {
    // JavaScript may pass `null`, as for a signal.
    const isObject = headers instanceof Headers || classOf(headers ?? {}) === "Object";
    return isObject ? mergeHeaders(headers as Headers) : undefined;
  });
}

/** Checks the middleware of one call. */
function checkMiddleware(middleware: unknown): void {
  if (!Array.isArray(middleware)) throw wrongType("middleware", "a list", middleware);
}

/** Checks the option that says what `data` is. */
function checkParseAs(parseAs: unknown): void {
  const all: unknown[] = ["json", "text", "blob", "arrayBuffer", "stream"] satisfies ParseAs[];
  if (!all.includes(parseAs)) throw optionError("parseAs", `must be one of ${all.join(", ")}`);
}

/** Checks the signal of a call, which may be `null`. */
function checkSignal(signal: unknown): void {
  if (signal === null || classOf(signal) === "AbortSignal") return;
  throw wrongType("signal", "an AbortSignal", signal);
}

/** Checks that a value is a [Standard Schema](https://standardschema.dev). */
function checkSchema(schema: unknown): void {
  const { "~standard": standard } = Object(schema) as Partial<StandardSchemaV1>;
  if (typeof standard?.validate === "function") return;
  throw wrongType("schema", "a Standard Schema, such as one of Zod, Valibot or ArkType", schema);
}
