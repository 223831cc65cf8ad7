import type { Middleware, ParseAs } from "openapi-fetch";
import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { CallOptions, ClientOptions } from "./api.ts";
import { checkType, isApiKey, readNumber, readOptions, readSignal, wrong } from "./checks.ts";
import { readMethod, withoutQuery } from "./endpoint.ts";
import { apiKeyHeader, operations } from "./generated/operations.ts";
import type { Operation } from "./operation.ts";
import type { Settings } from "./options.ts";
import { Secrets } from "./transport/redact.ts";
import type { Sending } from "./transport/send.ts";

/** The options of the methods: openapi-fetch's, most of which clients have too, and a call's. */
export interface Init extends CallOptions, Partial<ClientOptions> {
  body?: unknown;
  idempotent?: boolean | undefined;
  middleware?: readonly Middleware[];
  params?: { path?: Record<string, unknown>; query?: unknown };
  parseAs?: ParseAs;
}

/** What openapi-fetch's methods resolve to. */
export type Result = { data?: unknown; error?: unknown; response: Response };

/** How the methods of the client differ. */
export interface Kind {
  /** Whether the operation is looked up in the OpenAPI document. */
  readonly isDocumented: boolean;
  /** Whether a status that is not 2xx is thrown. */
  readonly throws: boolean;
  /** Checks the data of a 2xx response. */
  readonly schema?: StandardSchemaV1 | undefined;
  /** Whether the client has middleware. */
  readonly isObserved?: boolean;
}

/** The names of `fetch`'s standard options, which only a real `Request` understands. */
const FETCH_OPTIONS = /* @__PURE__ */ `cache credentials duplex integrity keepalive mode priority
  redirect referrer referrerPolicy window`.split(/\s+/);

/** The names of the options of `GET` and the other methods that are ours or openapi-fetch's. */
const OWN_OPTIONS = /* @__PURE__ */ `signal timeout retries idempotent body headers params parseAs
  middleware baseUrl fetch Request bodySerializer pathSerializer querySerializer method`.split(
  /\s+/,
);

/** What one call needs. */
export interface Call extends Omit<Sending, "attempt" | "clock" | "isIdempotent" | "isPlain"> {
  readonly settings: Settings;
  readonly method: string;
  /** What the OpenAPI document says; undefined where it is not asked. */
  readonly operation: Operation | undefined;
  /** Whether the request may be sent again, when the caller says so. */
  readonly idempotent: boolean | undefined;
  readonly fetch: ClientOptions["fetch"];
  readonly Request: typeof Request | undefined;
  /** Whether more than this client may see the request or the response. */
  readonly isSeen: boolean;
  readonly isJson: boolean;
}

/** Reads and checks the arguments of a call, before anything is awaited. */
export function prepareCall(
  givenMethod: string,
  path: string,
  init: Init,
  { isDocumented, isObserved }: Kind,
  settings: Settings,
): Call {
  const method = readMethod(givenMethod);
  const advice = '; a custom "fetch" can add what only one runtime has';
  readOptions(init, [...OWN_OPTIONS, ...FETCH_OPTIONS], `${method}()`, advice);
  if (isDocumented && !path.startsWith("/")) throw wrong("path", "must begin with a slash");
  const { apiKey, baseUrl } = settings;
  const { body, fetch = settings.fetch, Request = settings.Request, parseAs = "json" } = init;
  checkType("idempotent", init.idempotent, "boolean");
  if (body !== undefined && /^(GET|HEAD)$/.test(method)) {
    throw wrong("body", `must be left out of a ${method} request`);
  }
  const operation = isDocumented ? operations[`${method} ${path}`] : undefined;
  if (apiKey === undefined && (operation?.apiKey ?? "required") === "required") {
    const ignored = `a header "${apiKeyHeader}" is ignored`;
    throw wrong("apiKey", `is missing: this request needs the client's key, and ${ignored}`);
  }
  const secrets = new Secrets();
  const checkedKey = (body as { apiKey?: unknown } | null | undefined)?.apiKey;
  for (const secret of [apiKey, checkedKey]) if (isApiKey(secret)) secrets.add(secret);
  return {
    settings,
    method,
    operation,
    idempotent: init.idempotent,
    fetch,
    Request,
    isSeen: isObserved || !!(init.middleware ?? fetch ?? Request) ||
      !/^(json|text)$/.test(parseAs) || FETCH_OPTIONS.some((name) => name in init),
    isJson: parseAs === "json",
    name: `${method} ${withoutQuery(`${init.baseUrl || baseUrl}`.replace(/\/?$/, path))}`,
    isKnown: operation !== undefined,
    secrets,
    signal: readSignal(init.signal),
    timeout: readNumber("timeout", init.timeout, settings.timeout),
    retries: readNumber("retries", init.retries, settings.retries),
    maxResponseBytes: settings.maxResponseBytes,
    onRetry: settings.onRetry,
  };
}
