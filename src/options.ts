import { mergeHeaders, type Middleware, type ParseAs } from "openapi-fetch";
import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { CallOptions, ClientOptions, EndpointOptions } from "./api.ts";
import { readApiKey } from "./api_key.ts";
import {
  checkBoolean,
  checkFunction,
  checkNumber,
  checkSignal,
  classOf,
  convertOption,
  type OptionChecks,
  optionError,
  readOptions,
  typeError,
} from "./checks.ts";
import { checkPath } from "./request.ts";

/** The options of `call`, with any schema. */
export type AnyEndpointOptions = EndpointOptions<StandardSchemaV1 | undefined>;

/** The options of the typed methods: ours, and openapi-fetch's, without those of `fetch` itself. */
export interface TypedOptions
  extends
    CallOptions,
    Pick<EndpointOptions, "body" | "headers" | "idempotent">,
    Pick<
      ClientOptions,
      "Request" | "bodySerializer" | "fetch" | "pathSerializer" | "querySerializer"
    > {
  baseUrl?: string;
  middleware?: readonly Middleware[];
  params?: { path?: Record<string, unknown>; query?: unknown };
  parseAs?: ParseAs;
}

/** The options of `createClient`. */
const CLIENT_OPTIONS: OptionChecks<ClientOptions> = {
  allowInsecureHttp: checkBoolean,
  apiKey: checkApiKey,
  baseUrl: null,
  bodySerializer: null,
  fetch: checkFunction,
  headers: checkHeaders,
  maxResponseBytes: checkNumber,
  onRetry: checkFunction,
  pathSerializer: null,
  querySerializer: null,
  Request: null,
  requestInitExt: null,
  retries: checkNumber,
  timeout: checkNumber,
  totalTimeout: checkNumber,
};

/** The options of `checkKey` and `checkOwnKey`. */
export const CALL_OPTIONS: OptionChecks<CallOptions> = {
  signal: checkSignal,
  timeout: checkNumber,
  totalTimeout: checkNumber,
  retries: checkNumber,
};

/** The options of `call`. */
export const ENDPOINT_OPTIONS: OptionChecks<AnyEndpointOptions> = {
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

/** The options of the typed methods that are ours or openapi-fetch's. */
export const TYPED_OPTIONS: OptionChecks<TypedOptions> = {
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
export interface Settings extends ClientOptions {
  readonly baseUrl: string;
  readonly timeout: number;
  /** `Infinity` without a limit. */
  readonly totalTimeout: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
}

/** Reads the options of a client. */
export function readClientOptions(given: ClientOptions): Settings {
  const options = readOptions(given, CLIENT_OPTIONS, "createClient()");
  const { maxResponseBytes = 10 * 2 ** 20, retries = 2 } = options;
  const { timeout = 30_000, totalTimeout = Infinity } = options;
  const baseUrl = readBaseUrl(options);
  return { ...options, baseUrl, maxResponseBytes, retries, timeout, totalTimeout };
}

/** Checks the client's own key; what a function returns is checked for each call. */
function checkApiKey(apiKey: unknown): void {
  if (typeof apiKey !== "function") readApiKey(apiKey);
}

/** Checks that headers can be sent. */
function checkHeaders(headers: unknown): void {
  const isObject = headers instanceof Headers || classOf(headers ?? {}) === "Object";
  const expected = "an object or a Headers, with names and values that can be sent";
  convertOption("headers", expected, () => isObject ? mergeHeaders(headers as Headers) : undefined);
}

/** Checks the middleware of one call. */
function checkMiddleware(middleware: unknown): void {
  if (!Array.isArray(middleware)) throw typeError("middleware", "a list", middleware);
}

/** Checks what `data` shall be. */
function checkParseAs(parseAs: unknown): void {
  const all: unknown[] = ["json", "text", "blob", "arrayBuffer", "stream"] satisfies ParseAs[];
  if (!all.includes(parseAs)) throw optionError("parseAs", `must be one of ${all.join(", ")}`);
}

/** Checks that a value is a [Standard Schema](https://standardschema.dev). */
function checkSchema(schema: unknown): void {
  const { "~standard": standard } = Object(schema) as Partial<StandardSchemaV1>;
  if (typeof standard?.validate === "function") return;
  throw typeError("schema", "a Standard Schema, such as one of Zod, Valibot or ArkType", schema);
}

/** A host that is not reached over a network. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Checks the service's address, and normalizes it. */
function readBaseUrl({ allowInsecureHttp, baseUrl }: ClientOptions): string {
  if (!baseUrl) throw optionError("baseUrl", "is missing: set it to the address of the service");
  const expected = "an absolute https URL without a user name, password, query or fragment";
  const url = convertOption("baseUrl", expected, () => new URL(baseUrl));
  const { hostname, href, pathname, protocol } = url;
  const isAllowed = /^https?:\/\/[^/@]+\/[^?#]*$/.test(href);
  if (!isAllowed) throw optionError("baseUrl", `must be ${expected}`);
  const advice =
    'must be an https URL, because http does not encrypt the API key; set "allowInsecureHttp" to allow it';
  const isInsecure = protocol === "http:" && !LOOPBACK.test(hostname);
  if (isInsecure && !allowInsecureHttp) throw optionError("baseUrl", advice);
  checkPath("baseUrl", pathname);
  return href;
}
