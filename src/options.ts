import { mergeHeaders } from "openapi-fetch";

import type { ClientOptions } from "./api.ts";
import {
  checkType,
  classOf,
  convert,
  readApiKey,
  readNumber,
  readOptions,
  wrong,
} from "./checks.ts";
import { checkPath } from "./endpoint.ts";

/** How each option of a client is read: checked, with its default. */
const READERS = {
  allowInsecureHttp: (value) => checkType("allowInsecureHttp", value, "boolean"),
  apiKey: (value) => value === undefined || typeof value === "function" ? value : readApiKey(value),
  baseUrl: readBaseUrl,
  bodySerializer: (value) => value,
  fetch: (value) => checkType("fetch", value, "function"),
  headers: readHeaders,
  maxResponseBytes: (value) => readNumber("maxResponseBytes", value),
  onRetry: (value) => checkType("onRetry", value, "function"),
  pathSerializer: (value) => value,
  querySerializer: (value) => value,
  Request: (value) => value,
  requestInitExt: (value) => value,
  retries: (value) => readNumber("retries", value),
  timeout: (value) => readNumber("timeout", value),
} satisfies {
  [Name in keyof ClientOptions]-?: (value: unknown, all: ClientOptions) => unknown;
};

/** The options of a client, checked and with defaults. */
export type Settings = ClientOptions & {
  readonly baseUrl: string;
  readonly timeout: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
};

/** Checks the options of a client. */
export function readClientOptions(given: ClientOptions): Settings {
  readOptions(given, Object.keys(READERS), "createClient()");
  const settings = Object.entries(READERS).map(([name, read]) => [
    name,
    read(given[name as keyof ClientOptions], given),
  ]);
  return Object.fromEntries(settings);
}

/** Checks headers, and returns them. */
export function readHeaders(headers: unknown): ClientOptions["headers"] {
  const isObject = headers instanceof Headers || classOf(headers ?? {}) === "Object";
  const requirement = "an object or a Headers, with names and values that can be sent";
  convert("headers", requirement, () => isObject ? mergeHeaders(headers as Headers) : undefined);
  return headers as Headers;
}

/** The names of the options of `checkKey` and `checkOwnKey`. */
export const CALL_OPTIONS = ["signal", "timeout", "retries"];

/** The names of the options that only `call` has. */
export const ENDPOINT_OPTIONS = ["body", "query", "headers", "idempotent", "schema"];

/** An address to which a key is sent encrypted, or not over a network. */
const SECURE = /^(https:|http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])[:/])/;

/** Checks the service's address, and adds the slash at its end. */
function readBaseUrl(value: unknown, { allowInsecureHttp }: ClientOptions): string {
  if (!value) throw wrong("baseUrl", "is missing: set it to the address of the service");
  const requirement = "an absolute https URL without a user name, password, query or fragment";
  const { href, pathname } = convert("baseUrl", requirement, () => new URL(value as string));
  if (!/^https?:\/\/[^/@]+\/[^?#]*$/.test(href)) throw wrong("baseUrl", `must be ${requirement}`);
  const advice =
    'must be an https URL, because http does not encrypt the API key; set "allowInsecureHttp" to allow it';
  if (!allowInsecureHttp && !SECURE.test(href)) throw wrong("baseUrl", advice);
  checkPath("baseUrl", pathname);
  return href.replace(/\/?$/, "/");
}
