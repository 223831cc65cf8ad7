import { mergeHeaders } from "openapi-fetch";

import type { CallOptions, ClientOptions } from "./api.ts";
import {
  checkType,
  classOf,
  readApiKey,
  readNumber,
  readOptions,
  readSignal,
  resultOf,
  wrong,
} from "./checks.ts";
import { checkPath } from "./endpoint.ts";

/** The names of the options of `createClient`. */
const CLIENT_OPTIONS =
  /* @__PURE__ */ `allowInsecureHttp apiKey baseUrl bodySerializer fetch headers
  maxResponseBytes onRetry pathSerializer querySerializer Request requestInitExt retries
  timeout`.split(/\s+/);

/** The names of the options of `checkKey` and `checkOwnKey`. */
export const CALL_OPTIONS = ["signal", "timeout", "retries"];

/** The names of the options that `call` has in addition. */
export const ENDPOINT_OPTIONS = ["body", "query", "headers", "idempotent", "schema"];

/** The options of a client, checked and with defaults. */
export interface Settings extends ClientOptions {
  /** It ends with a slash. */
  readonly baseUrl: string;
  readonly timeout: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
}

/** Reads the options of a client, and checks all except those that say how requests are built. */
export function readClientOptions(given: ClientOptions): Settings {
  const options = readOptions(given, CLIENT_OPTIONS, "createClient()");
  const { allowInsecureHttp, apiKey, fetch, headers, onRetry } = options;
  checkType("allowInsecureHttp", allowInsecureHttp, "boolean");
  if (apiKey !== undefined && typeof apiKey !== "function") readApiKey(apiKey);
  checkType("fetch", fetch, "function");
  checkType("onRetry", onRetry, "function");
  checkHeaders(headers);
  return {
    ...options,
    baseUrl: readBaseUrl(options),
    maxResponseBytes: readNumber("maxResponseBytes", options.maxResponseBytes),
    retries: readNumber("retries", options.retries),
    timeout: readNumber("timeout", options.timeout),
  };
}

/** Reads the options that every method has; the client's stand in for those left out. */
export function readCallOptions({ signal, timeout, retries }: CallOptions, settings: Settings) {
  return {
    signal: readSignal(signal),
    timeout: readNumber("timeout", timeout, settings.timeout),
    retries: readNumber("retries", retries, settings.retries),
  };
}

/** Checks that headers can be sent. */
export function checkHeaders(headers: ClientOptions["headers"]): void {
  const isObject = headers instanceof Headers || classOf(headers ?? {}) === "Object";
  const requirement = "an object or a Headers, with names and values that can be sent";
  resultOf("headers", requirement, () => isObject ? mergeHeaders(headers) : undefined);
}

/** An address to which a key is sent encrypted, or not over a network. */
const SECURE = /^(https:|http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])[:/])/;

/** Checks the service's address, and adds the slash at its end. */
function readBaseUrl({ allowInsecureHttp, baseUrl }: ClientOptions): string {
  if (!baseUrl) throw wrong("baseUrl", "is missing: set it to the address of the service");
  const requirement = "an absolute https URL without a user name, password, query or fragment";
  const { href, pathname } = resultOf("baseUrl", requirement, () => new URL(baseUrl));
  if (!/^https?:\/\/[^/@]+\/[^?#]*$/.test(href)) throw wrong("baseUrl", `must be ${requirement}`);
  const advice =
    'must be an https URL, because http does not encrypt the API key; set "allowInsecureHttp" to allow it';
  if (!allowInsecureHttp && !SECURE.test(href)) throw wrong("baseUrl", advice);
  checkPath("baseUrl", pathname);
  return href.replace(/\/?$/, "/");
}
