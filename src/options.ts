import { mergeHeaders, type Middleware, type ParseAs } from "openapi-fetch";
import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { CallOptions, ClientOptions, EndpointOptions } from "./api.ts";
import {
  checkBoolean,
  checkFunction,
  checkNumber,
  type Checks,
  checkSignal,
  classOf,
  convertOption,
  MAX_BODY_BYTES,
  optionError,
  readApiKey,
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
const CLIENT_OPTIONS: Checks<ClientOptions> = {
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
};

/** The options of `checkKey` and `checkOwnKey`. */
export const CALL_OPTIONS: Checks<CallOptions> = {
  signal: checkSignal,
  timeout: checkNumber,
  retries: checkNumber,
};

/** The options of `call`. */
export const ENDPOINT_OPTIONS: Checks<AnyEndpointOptions> = {
  signal: checkSignal,
  timeout: checkNumber,
  retries: checkNumber,
  body: null,
  query: null,
  headers: checkHeaders,
  idempotent: checkBoolean,
  schema: checkSchema,
};

/** The options of the typed methods that are ours or openapi-fetch's. */
export const TYPED_OPTIONS: Checks<TypedOptions> = {
  signal: checkSignal,
  timeout: checkNumber,
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
export const REQUEST_INIT_NAMES: readonly string[] =
  /* @__PURE__ */ `cache credentials duplex integrity keepalive method mode priority redirect
  referrer referrerPolicy window`.split(/\s+/);

/** The options of a client, checked and with defaults. */
export interface Settings extends ClientOptions {
  /** It ends with a slash. */
  readonly baseUrl: string;
  readonly timeout: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
}

/** Reads the options of a client. */
export function readClientOptions(given: ClientOptions): Settings {
  const options = readOptions(given, CLIENT_OPTIONS, "createClient()");
  const { maxResponseBytes = MAX_BODY_BYTES, retries = 2, timeout = 30_000 } = options;
  return { ...options, baseUrl: readBaseUrl(options), maxResponseBytes, retries, timeout };
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
  if (!all.includes(parseAs)) {
    throw optionError("parseAs", `must be one of ${all.join(", ")}`);
  }
}

/** Checks that a value is a [Standard Schema](https://standardschema.dev). */
function checkSchema(schema: unknown): void {
  const { "~standard": standard } = Object(schema) as Partial<StandardSchemaV1>;
  if (typeof standard?.validate === "function") return;
  throw typeError("schema", "a Standard Schema, such as one of Zod, Valibot or ArkType", schema);
}

/** A host that is not reached over a network. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Checks the service's address, and adds the slash at its end. */
function readBaseUrl({ allowInsecureHttp, baseUrl }: ClientOptions): string {
  if (!baseUrl) throw optionError("baseUrl", "is missing: set it to the address of the service");
  const expected = "an absolute https URL without a user name, password, query or fragment";
  const url = convertOption("baseUrl", expected, () => new URL(baseUrl));
  const { hostname, href, pathname, protocol } = url;
  if (!/^https?:\/\/[^/@]+\/[^?#]*$/.test(href)) {
    throw optionError("baseUrl", `must be ${expected}`);
  }
  const advice =
    'must be an https URL, because http does not encrypt the API key; set "allowInsecureHttp" to allow it';
  const isInsecure = protocol === "http:" && !LOOPBACK.test(hostname);
  if (isInsecure && !allowInsecureHttp) throw optionError("baseUrl", advice);
  checkPath("baseUrl", pathname);
  return href.replace(/\/?$/, "/");
}
