import type { RequestOptions as FetchOptions } from "openapi-fetch";

import type { CallOptions, ClientOptions, OperationOptions, RequestOptions } from "./api.ts";
import { ConfigurationError } from "./errors.ts";
import { toLine } from "./text.ts";

/** What the error for an option must know of the call that makes it. */
type ErrorContext = { readonly attempt: number; readonly errors: WeakSet<Error> };

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

/** The range of a whole number, or of milliseconds above `min`; `null` for any other option. */
type Range = readonly [min: number, max: number, unit?: "ms"] | null;

/** The names of a function's options. A name that is missing, and one too many, is a compile error. */
export type OptionTable<Options> = Readonly<Record<keyof Options, Range>>;

const TIME: Range = [0, 2_147_483_647, "ms"]; // A longer one makes `setTimeout` fire at once.
const RETRIES: Range = [0, 100];

/** The options of `createClient`. The tables are literals, so that bundlers can drop what is unused. */
// deno-fmt-ignore
const CLIENT_OPTIONS: OptionTable<ClientOptions> = {
  baseUrl: null, apiKey: null, timeout: TIME, totalTimeout: TIME, retries: RETRIES,
  maxResponseBytes: [1, 9_007_199_254_740_991], headers: null, fetch: null, onRetry: null,
  allowInsecureHttp: null, querySerializer: null, bodySerializer: null, pathSerializer: null,
  requestInitExt: null,
};

/** The options of calls. */
// deno-fmt-ignore
export const OPTIONS = {
  /** Of every call. */
  request: {
    signal: null, timeout: TIME, totalTimeout: TIME, retries: RETRIES, headers: null,
  } satisfies OptionTable<RequestOptions>,
  /** Of `call`. */
  call: {
    body: null, query: null, idempotent: null, schema: null,
  } satisfies OptionTable<Omit<CallOptions, keyof RequestOptions>>,
  /** Of the methods of operations. */
  operation: {
    params: null, body: null, idempotent: null,
  } satisfies OptionTable<Omit<OperationOptions<never>, keyof RequestOptions>>,
  /** Of the typed methods: openapi-fetch's, and one more. */
  typed: {
    body: null, params: null, parseAs: null, middleware: null, baseUrl: null, fetch: null,
    bodySerializer: null, pathSerializer: null, querySerializer: null, idempotent: null,
  } satisfies OptionTable<Omit<FetchOptions<object>, "headers"> & Pick<CallOptions, "idempotent">>,
};

/** Options without those that are `undefined`. */
export type Given<Options> = { [Name in keyof Options]: Exclude<Options[Name], undefined> };

/**
 * Reads options: refuses unknown names, and numbers out of range.
 *
 * @param owner The function that has the options.
 * @param tables The options that it has.
 */
export function readOptions<Options extends object>(
  options: Options | null | undefined,
  owner: string,
  ...tables: Readonly<Record<string, Range>>[]
): Given<Options> {
  const ranges = new Map(tables.flatMap((table) => Object.entries(table)));
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options ?? {})) {
    const range = ranges.get(name);
    if (range === undefined) {
      const names = [...ranges.keys()].join(", ");
      throw optionError(name, `is not an option of ${owner}, which has ${names}`);
    }
    if (value === undefined) continue;
    if (range) checkNumber(name, value, range);
    given[name] = value;
  }
  return given as Given<Options>;
}

/** Refuses an option that is not a number within its range. */
function checkNumber(name: string, value: unknown, [min, max, unit]: NonNullable<Range>): void {
  const number = typeof value === "number" ? value : NaN;
  const isAboveMin = unit ? number > min : Number.isInteger(number) && number >= min;
  if (isAboveMin && number <= max) return;
  const from = unit ? `a number of milliseconds above ${min}, up` : `a whole number from ${min}`;
  throw optionError(name, `must be ${from} to ${max}`);
}

/** The options of a client, checked and with defaults. */
export type Settings = ReturnType<typeof readClientOptions>;

/** Reads the options of a client. */
export function readClientOptions(options: ClientOptions) {
  const given = readOptions(options, "createClient()", CLIENT_OPTIONS);
  const { apiKey } = given;
  if (apiKey !== undefined && typeof apiKey !== "function") checkApiKey(apiKey);
  const baseUrl = readBaseUrl(given);
  return {
    timeout: 30_000,
    totalTimeout: Infinity,
    retries: 2,
    maxResponseBytes: 10 * 2 ** 20,
    ...given,
    baseUrl,
    origin: new URL(baseUrl).origin,
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

/** Checks the service's address, and normalizes it. */
function readBaseUrl({ allowInsecureHttp, baseUrl }: ClientOptions): string {
  if (!baseUrl) throw optionError("baseUrl", "is missing: set it to the address of the service");
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:\/\/[^/@]+\/[^?#]*$/.test(url.href)) {
    const expected = "an absolute https URL without a user name, password, query or fragment";
    throw optionError("baseUrl", `must be ${expected}`);
  }
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname) && allowInsecureHttp !== true) {
    throw optionError("baseUrl", 'must be https, to encrypt the key, or set "allowInsecureHttp"');
  }
  return url.href;
}
