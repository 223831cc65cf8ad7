import type { HeadersOptions, RequestOptions as FetchOptions } from "openapi-fetch";

import type {
  CallOptions,
  ClientOptions,
  Method,
  OperationOptions,
  RequestOptions,
} from "./api.ts";
import { ConfigurationError } from "./errors.ts";
import { toLine } from "./text.ts";

/** What the error for an option must know of the call that makes it. */
type ErrorContext = { readonly attempt: number; readonly errors: Set<unknown> };

/**
 * Makes the error for an option or an argument: its name, and what is wrong with it.
 *
 * @param call The call that finds it wrong, if one has begun.
 */
export function optionError(option: string, problem: string, call?: ErrorContext) {
  const wasSent = (call?.attempt ?? 0) > 0;
  const error = new ConfigurationError(toLine(`"${option}" ${problem}`), { option, wasSent });
  call?.errors.add(error);
  return error;
}

/** What an option may be: words for the error, and a test; `null` if it is checked elsewhere. */
type OptionType = readonly [words: string, accepts: (value: unknown) => boolean] | null;

/** The options of a function. A name that is missing, and one too many, is a compile error. */
export type OptionTable<Options> = Readonly<Record<keyof Options, OptionType>>;

const isFunction = (value: unknown) => typeof value === "function";
const isObject = (value: unknown) => typeof value === "object" && value !== null;

/** Tells whether a value is an object that is no array, `Map`, `Blob` or the like. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === "[object Object]";
}

/** Tells whether a value is a whole number within a range. */
export const isWhole = (value: unknown, min: number, max: number): boolean =>
  Number.isInteger(value) && Number(value) >= min && Number(value) <= max;

// The types and the tables are literals, so that bundlers can drop what is unused.
const BOOLEAN: OptionType = ["of the type boolean", (value) => typeof value === "boolean"];
const FUNCTION: OptionType = ["of the type function", isFunction];
const FUNCTION_OR_OBJECT: OptionType = [
  "of the type function or object",
  (value) => isFunction(value) || isObject(value),
];
const HEADERS: OptionType = ["of the type HeadersInit", isObject];
const OBJECT: OptionType = ["an object of names and values", isPlainObject];
const RETRIES: OptionType = ["a whole number from 0 to 100", (value) => isWhole(value, 0, 100)];
const TIME: OptionType = [
  "a number of milliseconds above 0, up to 2147483647", // A longer one makes `setTimeout` fire at once.
  (value) => typeof value === "number" && value > 0 && value <= 2_147_483_647,
];

/** The options of `createClient`. */
// deno-fmt-ignore
const CLIENT_OPTIONS: OptionTable<ClientOptions> = {
  baseUrl: null, apiKey: null, timeout: TIME, totalTimeout: TIME, retries: RETRIES,
  maxResponseBytes: ["a whole number from 1 to 9007199254740991",
    (value) => isWhole(value, 1, Number.MAX_SAFE_INTEGER)],
  headers: HEADERS, fetch: FUNCTION, onRetry: FUNCTION, allowInsecureHttp: BOOLEAN,
  querySerializer: FUNCTION_OR_OBJECT, bodySerializer: FUNCTION, pathSerializer: FUNCTION,
  requestInitExt: OBJECT,
};

/** The options of calls. */
// deno-fmt-ignore
export const OPTIONS = {
  /** Of every call. */
  request: {
    // A signal of another realm is no instance of `AbortSignal`.
    signal: ["of the type AbortSignal", (value) => value === null || "throwIfAborted" in Object(value)],
    timeout: TIME, totalTimeout: TIME, retries: RETRIES, headers: HEADERS,
  } satisfies OptionTable<RequestOptions>,
  /** Of `call`. */
  call: {
    body: null, query: OBJECT, idempotent: BOOLEAN,
    schema: ["a Standard Schema, such as one of Zod 3.24 or later",
      (value) => isFunction(Object(Object(value)["~standard"]).validate)],
  } satisfies OptionTable<Omit<CallOptions, keyof RequestOptions>>,
  /** Of the methods of operations. */
  operation: {
    params: OBJECT, body: null, idempotent: BOOLEAN,
  } satisfies OptionTable<Omit<OperationOptions<never>, keyof RequestOptions>>,
  /** Of the typed methods: openapi-fetch's, and one more. */
  typed: {
    body: null, params: OBJECT,
    parseAs: ["one of json, text, blob, arrayBuffer, stream",
      (value) => ["json", "text", "blob", "arrayBuffer", "stream"].includes(value as string)],
    middleware: ["of the type Array", (value) => Array.isArray(value)],
    baseUrl: ["of the type string", (value) => typeof value === "string"],
    fetch: FUNCTION, bodySerializer: FUNCTION, pathSerializer: FUNCTION,
    querySerializer: FUNCTION_OR_OBJECT, idempotent: BOOLEAN,
  } satisfies OptionTable<Omit<FetchOptions<object>, "headers"> & Pick<CallOptions, "idempotent">>,
};

/** Options without those that are `undefined`. */
export type Given<Options> = { [Name in keyof Options]: Exclude<Options[Name], undefined> };

/**
 * Reads options: refuses unknown names, and values that an option may not have.
 *
 * @param owner The function that has the options.
 * @param tables The options that it has.
 */
export function readOptions<Options extends object>(
  options: Options | null | undefined,
  owner: string,
  ...tables: Readonly<Record<string, OptionType>>[]
): Given<Options> {
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options ?? {})) {
    // Not `Object.hasOwn`, for which dnt adds a polyfill.
    const table = tables.find((table) => Object.prototype.hasOwnProperty.call(table, name));
    if (!table) {
      const names = tables.flatMap((table) => Object.keys(table)).join(", ");
      throw optionError(name, `is not an option of ${owner}, which has ${names}`);
    }
    if (value === undefined) continue;
    const type = table[name];
    const [words, accepts] = type ?? [];
    if (accepts && !accepts(value)) throw optionError(name, `must be ${words}`);
    given[name] = type === HEADERS ? readHeaders(name, value as HeadersOptions) : value;
  }
  return given as Given<Options>;
}

/**
 * Copies headers, a list of pairs as `Headers`, because openapi-fetch does not read one. Refuses what HTTP
 * does not allow, without quoting a value, which may be secret.
 */
export function readHeaders(option: string, headers: HeadersOptions): HeadersOptions {
  const list = Symbol.iterator in Object(headers) ? [...headers as Headers] : undefined;
  for (const pair of list ?? Object.entries(headers)) {
    try {
      new Headers([pair as [string, string]]); // openapi-fetch knows other values, which become texts.
    } catch {
      const problem = `must have names and values that HTTP allows, unlike "${Object(pair)[0]}"`;
      throw optionError(option, problem);
    }
  }
  return list ? new Headers(list) : { ...headers };
}

/** The methods that calls can have; `fetch` refuses CONNECT and TRACE. */
// deno-fmt-ignore
export const METHODS: readonly string[] =
  ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"] satisfies Method[];

/** Returns the name of a method in capitals, and refuses what is no method. */
export function readMethod(method: string): string {
  const name = `${method}`.toUpperCase();
  if (METHODS.includes(name)) return name;
  throw optionError("method", `must be one of ${METHODS.join(", ")}`);
}

/** The options of a client, checked and with defaults. */
export type Settings = ReturnType<typeof readClientOptions>;

/** Reads the options of a client. */
export function readClientOptions(options: ClientOptions) {
  const given = readOptions(options, "createClient()", CLIENT_OPTIONS);
  const { apiKey } = given;
  if (apiKey !== undefined && typeof apiKey !== "function") checkApiKey(apiKey);
  const baseUrl = readBaseUrl(given);
  try {
    if (given.requestInitExt) new Request(baseUrl, given.requestInitExt);
  } catch (error) {
    throw optionError("requestInitExt", `is refused by "Request": ${(error as Error).message}`);
  }
  return {
    timeout: 30_000,
    totalTimeout: Infinity,
    retries: 2,
    maxResponseBytes: 10 * 2 ** 20,
    ...given,
    baseUrl,
  };
}

/** A key, or a function that returns one. */
export type ApiKey = NonNullable<Settings["apiKey"]>;

/** Tells whether a value is an API key, which a header must be able to carry. */
export function isApiKey(value: unknown): value is string {
  return typeof value === "string" && /^(?! )[ -~]{1,4096}(?<! )$/.test(value);
}

/**
 * Refuses what is not an API key, without quoting it.
 *
 * @param call The call that needs the key, if one has begun.
 */
export function checkApiKey(key: unknown, call?: ErrorContext): asserts key is string {
  if (isApiKey(key)) return;
  if (key === "") throw optionError("apiKey", "is empty: set it to an API key", call);
  const form = "1 to 4,096 printable ASCII characters, without leading or trailing spaces";
  throw optionError("apiKey", `must be a string of ${form}`, call);
}

/** A host that is not reached over a network. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Checks the service's address, and normalizes it, with a slash at the end. */
export function readBaseUrl(
  { allowInsecureHttp, baseUrl }: Pick<ClientOptions, "allowInsecureHttp" | "baseUrl">,
): string {
  if (!baseUrl) throw optionError("baseUrl", "is missing: set it to the address of the service");
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:\/\/[^/@]+\/[^?#]*$/.test(url.href)) {
    const expected = "an absolute https URL without a user name, password, query or fragment";
    throw optionError("baseUrl", `must be ${expected}`);
  }
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname) && allowInsecureHttp !== true) {
    throw optionError("baseUrl", 'must be https, to encrypt the key, or set "allowInsecureHttp"');
  }
  return url.href.replace(/\/?$/, "/");
}
