import type { RequestOptions as FetchOptions } from "openapi-fetch";

import type { CallOptions, ClientOptions, OperationOptions, RequestOptions } from "./api.ts";
import { has } from "./checks.ts";
import { ofCall, optionError } from "./http/failures.ts";

/** The range of a number: the compiler cannot tell it, and many numbers come from elsewhere. */
type Range = readonly [min: number, max: number];

/**
 * The options of a function, with the ranges of those that are numbers. A name that is missing, and one too
 * many, is a compile error.
 */
export type OptionTable<Options> = Readonly<Record<keyof Options, Range | null>>;

const TIME: Range = [1, 2_147_483_647]; // A longer one makes `setTimeout` fire at once.
const RETRIES: Range = [0, 100];

// deno-fmt-ignore
const CLIENT_OPTIONS: OptionTable<ClientOptions> = {
  baseUrl: null, apiKey: null, timeout: TIME, totalTimeout: TIME, retries: RETRIES,
  maxResponseBytes: [1, 9_007_199_254_740_991], headers: null, fetch: null, onRetry: null,
  allowInsecureHttp: null, requestInitExt: null,
  querySerializer: null, bodySerializer: null, pathSerializer: null,
};

/** The options of calls: a literal, which bundlers drop if it is unused. */
// deno-fmt-ignore
export const OPTIONS = {
  /** Of every call. */
  request: {
    signal: null, timeout: TIME, totalTimeout: TIME, retries: RETRIES, headers: null,
  } satisfies OptionTable<RequestOptions>,
  /** Of `call`, in addition. */
  call: {
    body: null, query: null, idempotent: null, schema: null,
  } satisfies OptionTable<Omit<CallOptions, keyof RequestOptions>>,
  /** Of the methods of operations, and of the typed methods, in addition. */
  operation: {
    params: null, body: null, idempotent: null,
  } satisfies OptionTable<Omit<OperationOptions<never>, keyof RequestOptions>>,
  /** Of the typed methods, in addition: openapi-fetch's. */
  fetch: {
    baseUrl: null, fetch: null, parseAs: null, middleware: null,
    querySerializer: null, bodySerializer: null, pathSerializer: null,
  } satisfies OptionTable<Omit<FetchOptions<object>, "headers" | "params" | "body">>,
};

const isWithin = ([min, max]: Range, value: unknown) =>
  typeof value === "number" && value >= min && value <= max;

/** Options without those that are `undefined`. */
export type Given<Options> = { [Name in keyof Options]: Exclude<Options[Name], undefined> };

/**
 * Leaves out the options that are `undefined`, and refuses unknown names and numbers out of range.
 *
 * @param owner The name of the function that has the options.
 * @param tables The options that it has.
 */
export function readOptions<Options extends object>(
  options: Options | null | undefined,
  owner: string,
  ...tables: Readonly<Record<string, Range | null>>[]
): Given<Options> {
  if (typeof (options ?? {}) !== "object") throw optionError("options", "must be an object");
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options ?? {})) {
    const table = tables.find((table) => has(table, name));
    if (!table) {
      const names = tables.flatMap((table) => Object.keys(table)).join(", ");
      throw optionError(name, `is not an option of ${owner}(), which has ${names}`);
    }
    if (value === undefined) continue;
    const range = table[name];
    if (range && !isWithin(range, value)) {
      throw optionError(name, `must be a number from ${range.join(" to ")}`);
    }
    // openapi-fetch does not read lists of names and values.
    const isList = name === "headers" && Symbol.iterator in Object(value);
    given[name] = isList ? new Headers(value as HeadersInit) : value;
  }
  return given as Given<Options>;
}

/** The options of a client, checked and with defaults. */
export type Settings = ReturnType<typeof readClientOptions>;

/** Reads the options of a client. */
export function readClientOptions(options: ClientOptions) {
  const { apiKey, ...given } = readOptions(options, "createClient", CLIENT_OPTIONS);
  if (typeof apiKey !== "function" && apiKey !== undefined) checkApiKey(apiKey);
  return {
    timeout: 30_000,
    totalTimeout: Infinity,
    retries: 2,
    maxResponseBytes: 10 * 2 ** 20,
    ...given,
    apiKey,
    baseUrl: readBaseUrl(given),
  };
}

/** Tells whether a value is an API key, which a header must be able to carry. */
export function isApiKey(value: unknown): value is string {
  return typeof value === "string" && /^(?! )[ -~]{1,4096}(?<! )$/.test(value);
}

/** Returns an API key, and refuses what is none, without quoting it. */
export function checkApiKey(key: unknown): string {
  if (isApiKey(key)) return key;
  const form = "1 to 4,096 printable ASCII characters, without leading or trailing spaces";
  throw ofCall(optionError("apiKey", key === "" ? "is empty" : `must be a string of ${form}`));
}

/** Returns the client's key, or what its function returns. */
export async function resolveApiKey({ apiKey }: Settings): Promise<string> {
  if (apiKey === undefined) {
    throw ofCall(optionError("apiKey", "is missing: the client has no key"));
  }
  return checkApiKey(typeof apiKey === "function" ? await apiKey() : apiKey);
}

/** A host that is not reached over a network. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Checks the service's address, and normalizes it, with a slash at the end. */
function readBaseUrl({ allowInsecureHttp, baseUrl }: ClientOptions): string {
  if (!baseUrl) throw optionError("baseUrl", "is missing"); // such as from an unset variable
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
