import type { ClientOptions } from "./api.ts";
import { optionError } from "./http/failures.ts";

/** The range of each option that is a number: the compiler cannot tell, and many come from elsewhere. */
const RANGES = {
  timeout: [1, 2_147_483_647], // A longer one makes `setTimeout` fire at once.
  totalTimeout: [1, 2_147_483_647],
  retries: [0, 100],
  maxResponseBytes: [1, Number.MAX_SAFE_INTEGER],
} as const;

/** Options without those that are `undefined`. */
export type Given<Options> = { [Name in keyof Options]: Exclude<Options[Name], undefined> };

/** Leaves out the options that are `undefined`, and refuses numbers out of range. */
export function readOptions<Options extends object>(options: Options): Given<Options> {
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const [min, max] = RANGES[name as keyof typeof RANGES] ?? [];
    if (min !== undefined && !(value >= min && value <= max)) {
      throw optionError(name, `must be a number from ${min} to ${max}`);
    }
    // openapi-fetch does not read lists of names and values.
    const isList = name === "headers" && Symbol.iterator in Object(value);
    given[name] = isList ? new Headers(value) : value;
  }
  return given as Given<Options>;
}

/** The options of a client, checked and with defaults. */
export type Settings = ReturnType<typeof readClientOptions>;

/** Reads the options of a client. */
export function readClientOptions(options: ClientOptions) {
  const { apiKey, ...given } = readOptions(options);
  if (typeof apiKey !== "function" && apiKey !== undefined) checkApiKey(apiKey);
  return {
    timeout: 30_000,
    totalTimeout: Infinity,
    retries: 2,
    maxResponseBytes: 10 * 2 ** 20,
    ...given,
    apiKey,
    baseUrl: readBaseUrl(options),
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
  throw optionError("apiKey", `must be a string of ${form}`);
}

/** Returns the client's key, or what its function returns. */
export async function resolveApiKey({ apiKey }: Settings): Promise<string> {
  if (apiKey === undefined) throw optionError("apiKey", "is missing: the client has no key");
  return checkApiKey(typeof apiKey === "function" ? await apiKey() : apiKey);
}

/** A host that is not reached over a network. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Checks the service's address, and normalizes it, with a slash at the end. */
function readBaseUrl({ allowInsecureHttp, baseUrl }: ClientOptions): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:\/\/[^/@]+\/[^?#]*$/.test(url.href)) {
    const expected = "an absolute https URL without a user name, password, query or fragment";
    throw optionError("baseUrl", `must be ${expected}`);
  }
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname) && !allowInsecureHttp) {
    throw optionError("baseUrl", 'must be https, to encrypt the key, or set "allowInsecureHttp"');
  }
  return url.href.replace(/\/?$/, "/");
}
