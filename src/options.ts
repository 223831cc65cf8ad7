import { mergeHeaders } from "openapi-fetch";

import type { ClientOptions } from "./api.ts";
import {
  checkObject,
  checkOptions,
  checkType,
  convert,
  readApiKey,
  readNumber,
  wrong,
} from "./checks.ts";
import { checkPath } from "./endpoint.ts";

/** The names of the options of `checkKey` and `checkOwnKey`. */
export const CALL_OPTIONS = ["signal", "timeout", "retries"];

/** How each option of a client is read: checked, with its default. */
const READERS = {
  allowInsecureHttp: (value) => checkType("allowInsecureHttp", value, "boolean"),
  apiKey: (value) => value === undefined || typeof value === "function" ? value : readApiKey(value),
  baseUrl: readBaseUrl,
  bodySerializer: (value) => checkType("bodySerializer", value, "function"),
  fetch: (value) => checkType("fetch", value, "function"),
  // A plain object, which openapi-fetch reads faster than `Headers`.
  headers: (value) => Object.fromEntries(mergeHeaders(readHeaders(value, "headers"))),
  maxResponseBytes: (value) => readNumber("maxResponseBytes", value),
  onRetry: (value) => checkType("onRetry", value, "function"),
  pathSerializer: (value) => checkType("pathSerializer", value, "function"),
  querySerializer: (value) => value, // checked by guardQuery()
  Request: (value) => checkType("Request", value, "function"),
  requestInitExt: (value) => (checkObject("requestInitExt", value ?? {}), value),
  retries: (value) => readNumber("retries", value),
  timeout: (value) => readNumber("timeout", value),
} satisfies {
  [Name in keyof ClientOptions]-?: (value: unknown, all: ClientOptions) => unknown;
};

/** The options of a client, checked and with defaults. */
export type Settings = ClientOptions & {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeout: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
};

/** Checks the options of a client. */
export function readClientOptions(given: ClientOptions): Settings {
  checkOptions(given, Object.keys(READERS), "createClient()");
  const settings: Record<string, unknown> = {};
  for (const [name, read] of Object.entries(READERS)) {
    settings[name] = read(given[name as keyof ClientOptions], given);
  }
  return settings as unknown as Settings;
}

/** Checks headers, and converts a list of pairs, which openapi-fetch does not read. */
export function readHeaders(headers: unknown, option: string): ClientOptions["headers"] {
  if (headers === undefined || headers === null) return undefined;
  return convert(option, "headers whose names and values can be sent", () => {
    const isList = Symbol.iterator in Object(headers);
    const given = isList ? new Headers(headers as Headers) : headers as Headers;
    return typeof given === "object" && mergeHeaders(given) ? given : undefined;
  });
}

const LOOPBACK = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])[:/]/;

/** Checks the service's address, and adds the slash at its end. */
export function readBaseUrl(value: unknown, { allowInsecureHttp }: ClientOptions): string {
  if (!value) throw wrong("baseUrl", "is missing: set it to the address of the service");
  const requirement = "an absolute https URL without a user name, password, query or fragment";
  const { href, pathname } = convert("baseUrl", requirement, () => new URL(value as string));
  if (!/^https?:\/\/[^/@]+\/[^?#]*$/.test(href)) throw wrong("baseUrl", `must be ${requirement}`);
  if (href.startsWith("http:") && !allowInsecureHttp && !LOOPBACK.test(href)) {
    throw wrong(
      "baseUrl",
      'must be an https URL, because http does not encrypt the API key; set "allowInsecureHttp" to allow it',
    );
  }
  checkPath("baseUrl", pathname);
  return href.replace(/\/?$/, "/");
}
