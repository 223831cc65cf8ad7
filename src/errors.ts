import { isTemporaryFailure, readRetryAfter } from "./retry.ts";

/** The kind of an error, for logs and `switch`. To narrow an error to its class, use `instanceof`. */
export type ErrorCode =
  | "configuration"
  | "http"
  | "invalid_response"
  | "network"
  | "redirect"
  | "timeout";

/** A place where a response does not match its schema. */
export interface Issue {
  /** The place, as a JSON Pointer; `*` stands for a property that the schema does not name. */
  readonly path: string;
  /**
   * The rule that the response breaks: a keyword of JSON Schema, or one of `json` (the body is not
   * JSON), `empty`, `maxResponseBytes` (too large), `status` (a 2xx status that the OpenAPI document
   * does not list), `depth` (nested too deeply to be checked) and `schema` (rejected by the schema
   * given to `call`).
   */
  readonly rule: string;
  /**
   * The message of the schema given to `call`, in which keys are redacted. It may quote the
   * response. Absent for all other rules.
   */
  readonly message?: string;
}

/**
 * The part of a response that an error keeps, in which keys are redacted. These are not fields of the
 * error itself, because web frameworks respond with the `status` and `headers` of an error that nobody
 * catches.
 */
export interface ResponseSnapshot {
  /** The status code. */
  readonly status: number;
  /** The headers. */
  readonly headers: Headers;
  /** The body: parsed JSON, or text if it is not JSON, cut at 64 KiB; `""` if it is empty. */
  readonly body: unknown;
}

const brand = Symbol.for("@scam-address/client/error");

/** Returns headers as an object, in which `set-cookie` is a list. */
function headersToObject(headers: Headers): Record<string, string | string[]> {
  const cookies = headers.getSetCookie();
  return { ...Object.fromEntries(headers), ...cookies.length > 0 && { "set-cookie": cookies } };
}

/**
 * The base class of all errors of this package.
 *
 * `instanceof` works even for errors of another copy of the package, for example when an
 * application loads it both as an ES module and as CommonJS. An API key of 8 characters or more
 * that the service or the runtime repeats is replaced by `[redacted]`.
 *
 * @example Tell errors apart
 * ```ts
 * import { createClient, ScamAddressError } from "@scam-address/client";
 *
 * const client = createClient({ baseUrl: "https://service.example/api/" });
 * try {
 *   await client.checkKey("not a key\n");
 * } catch (error) {
 *   if (!(error instanceof ScamAddressError)) throw error;
 *   console.log(error.code, error.message);
 * }
 * ```
 *
 * @typeParam Fields The fields of the class, such as {@linkcode HttpError.response}.
 */
export abstract class ScamAddressError<Fields extends object = object> extends Error {
  /** The `code` of the class's instances; `undefined` for {@linkcode ScamAddressError} itself. */
  static readonly code?: ErrorCode;

  /** The kind of the error. Each class has a different one. */
  declare readonly code: ErrorCode;

  /**
   * Whether trying again later may succeed. The client itself retries such failures if the request
   * is safe to repeat. It is `true` for every {@linkcode TimeoutError}, for every
   * {@linkcode NetworkError} except one caused by a missing permission, and for an
   * {@linkcode HttpError} with the status 408, 429, or any 5xx except 501.
   */
  declare readonly isTemporary: boolean;

  /**
   * Whether the client has called `fetch` for the call, so that the service may have carried out the
   * request and charged for it.
   *
   * It is `false` if an option or argument was refused, if a time limit ended before the first attempt,
   * or if middleware responded in place of the service. After a failed connection, it is `true`, because
   * the error of a `fetch` does not say for sure what was sent.
   */
  declare readonly wasSent: boolean;

  /**
   * Creates an error, for example in your tests.
   *
   * @param message What went wrong.
   * @param fields The fields of the class, such as `{ timeout: 5_000 }`, and `wasSent`. By default,
   * that is `false` for a {@linkcode ConfigurationError}, and `true` for the other classes.
   * @param options The `cause`, if there is one.
   */
  constructor(
    message: string,
    fields: Fields & { wasSent?: boolean },
    options?: { cause?: unknown },
  ) {
    super(message, options);
    Object.defineProperty(this, brand, { value: 1 });
    const { code } = new.target;
    Object.assign(this, { code, wasSent: code !== "configuration" }, fields);
    Object.assign(this, { isTemporary: isTemporaryFailure(this) });
  }

  /**
   * Makes `instanceof` work across copies of the package.
   *
   * @param value The left side of `instanceof`.
   * @returns Whether the value is an error of this class.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // This comes first, because code compiled for older targets asks `this instanceof` before the
    // constructor has set the brand, and because a caller's subclass has no `code` of its own.
    if (super[Symbol.hasInstance](value)) return true;
    // Not `Object.hasOwn`, for which dnt adds a polyfill.
    const isPackageClass = this === ScamAddressError ||
      Object.prototype.hasOwnProperty.call(this, "code");
    if (!isPackageClass || !(brand in Object(value))) return false;
    return this.code === undefined || this.code === (value as ScamAddressError).code;
  }

  /**
   * Returns the object that `JSON.stringify` serializes.
   *
   * @returns The name, the code, the message, `isTemporary`, `wasSent` and the fields of the class. The
   * headers of a response are an object, in which `set-cookie` is an array.
   */
  toJSON(): Record<string, unknown> {
    const { name, code, message, response } = this as Partial<HttpError>;
    const fields = { name, code, message, ...this as object };
    if (!(response?.headers instanceof Headers)) return fields;
    return { ...fields, response: { ...response, headers: headersToObject(response.headers) } };
  }
}

/**
 * The service responded with a 4xx or 5xx status, or with 304.
 *
 * The message has the start of the response's body. The meaning of the statuses is undocumented, so
 * check `response.body` for what the service says.
 */
export class HttpError extends ScamAddressError<Pick<HttpError, "response" | "retryAfter">> {
  /** Always `"http"`. */
  static override readonly code: "http" = "http";
  /** `"HttpError"`, unless a subclass has another name. */
  override readonly name: string = "HttpError";
  /** The response of the service. */
  declare readonly response: ResponseSnapshot;
  /** The seconds to wait, from a `Retry-After` header. Absent if there is no valid one. */
  declare readonly retryAfter?: number;

  /**
   * Creates an error, for example in your tests.
   *
   * @param message What went wrong.
   * @param fields The `response`, and optionally `wasSent`, which is `true` by default, and
   * `retryAfter`, which is otherwise read from the headers of the response.
   * @param options The `cause`, if there is one.
   */
  constructor(
    message: string,
    fields: Pick<HttpError, "response" | "retryAfter"> & { wasSent?: boolean },
    options?: { cause?: unknown },
  ) {
    const retryAfter = fields.retryAfter ?? readRetryAfter(fields.response.headers);
    super(message, { ...fields, ...retryAfter !== undefined && { retryAfter } }, options);
  }
}

/**
 * The service could not be reached, or the connection broke before the response was complete.
 *
 * The message ends with the runtime's reason, such as `connect ECONNREFUSED 127.0.0.1:443`.
 */
export class NetworkError extends ScamAddressError {
  /** Always `"network"`. */
  static override readonly code: "network" = "network";
  /** `"NetworkError"`, unless a subclass has another name. */
  override readonly name: string = "NetworkError";
  /** The reason: its message, its stack and, if it has one, its `code`, such as `"ECONNREFUSED"`. */
  declare readonly cause?: Error & { readonly code?: string };

  /**
   * Returns the object that `JSON.stringify` serializes.
   *
   * @returns What the other errors have, and the `cause` with its message and code.
   */
  override toJSON(): Record<string, unknown> {
    const { cause } = this; // For `this.cause`, dnt would add a polyfill.
    if (!cause) return super.toJSON();
    return { ...super.toJSON(), cause: { message: cause.message, code: cause.code } };
  }
}

/**
 * An attempt took longer than `timeout`, or the call took longer than `totalTimeout`. Both include
 * reading the body.
 */
export class TimeoutError extends ScamAddressError<Pick<TimeoutError, "timeout">> {
  /** Always `"timeout"`. */
  static override readonly code: "timeout" = "timeout";
  /** `"TimeoutError"`, unless a subclass has another name. */
  override readonly name: string = "TimeoutError";
  /** The limit that was exceeded, in milliseconds. */
  declare readonly timeout: number;
}

/**
 * The service responded with a redirect, which is never followed, or a custom `fetch` followed one.
 *
 * Following a redirect would send the API key to an address that nobody configured.
 */
export class RedirectError extends ScamAddressError<Pick<RedirectError, "location">> {
  /** Always `"redirect"`. */
  static override readonly code: "redirect" = "redirect";
  /** `"RedirectError"`, unless a subclass has another name. */
  override readonly name: string = "RedirectError";
  /**
   * The `Location` header, or the address that a custom `fetch` was redirected to. Absent if there is
   * none.
   */
  declare readonly location?: string;
}

/**
 * The service responded with a 2xx status and a body that is not JSON, is empty, is too large, or
 * does not match the OpenAPI document or the schema given to `call`. Also thrown for a 2xx status that
 * the document does not list.
 */
export class InvalidResponseError
  extends ScamAddressError<Pick<InvalidResponseError, "response" | "issues">> {
  /** Always `"invalid_response"`. */
  static override readonly code: "invalid_response" = "invalid_response";
  /** `"InvalidResponseError"`, unless a subclass has another name. */
  override readonly name: string = "InvalidResponseError";
  /** The response of the service. */
  declare readonly response: ResponseSnapshot;
  /** What is wrong, with the place and the rule of each issue. */
  declare readonly issues: readonly Issue[];
}

/**
 * An option or an argument is wrong. Nothing was sent, unless `wasSent` is `true`: some mistakes show
 * only later, such as a custom `fetch` that returns something other than a `Response` with an unread
 * body.
 *
 * @example Tell a user's malformed key from a mistake of your own
 * ```ts
 * import { ConfigurationError, createClient } from "@scam-address/client";
 *
 * const client = createClient({ baseUrl: "https://service.example/api/" });
 * const error: unknown = await client.checkKey("not a key\n").catch((error) => error);
 * const status = error instanceof ConfigurationError && error.option === "apiKey" ? 400 : 500;
 * console.log(status); // 400
 * ```
 */
export class ConfigurationError extends ScamAddressError<Pick<ConfigurationError, "option">> {
  /** Always `"configuration"`. */
  static override readonly code: "configuration" = "configuration";
  /** `"ConfigurationError"`, unless a subclass has another name. */
  override readonly name: string = "ConfigurationError";
  /**
   * The name of the option or argument, such as `"apiKey"`. Every error that the package itself throws
   * has it.
   */
  declare readonly option?: string;
}
