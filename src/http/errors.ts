import { isTemporaryStatus, readRetryAfter } from "./retry.ts";

/** The kind of an error, for logs and `switch`. To narrow an error to its class, use `instanceof`. */
export type ErrorCode =
  | "configuration"
  | "http"
  | "invalid_response"
  | "network"
  | "timeout";

/** A place where a response does not match its schema. */
export interface Issue {
  /** The place, as a JSON Pointer; `*` stands for a property that the schema does not name. */
  readonly path: string;
  /**
   * The rule that the response breaks: a keyword of JSON Schema, or one of `json` (the body is not
   * JSON), `empty`, `maxResponseBytes` (too large), `status` (a 2xx status that the OpenAPI document
   * does not list) and `schema` (rejected by the schema given to `call`).
   */
  readonly rule: string;
  /**
   * What is wrong, for the rules that are no keywords. A message of the schema given to `call` may
   * quote the response.
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
  /**
   * The body: parsed JSON, or text if it is not JSON; `""` if it is empty. With a status that is not 2xx,
   * it is cut at 64 KiB.
   */
  readonly body: unknown;
}

/** What the errors of all copies of the package have. */
const brand = Symbol.for("@scam-address/client/error");

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
   * is safe to repeat. It is `true` for every {@linkcode TimeoutError} and {@linkcode NetworkError},
   * and for an {@linkcode HttpError} with the status 408, 429, or any 5xx except 501.
   */
  readonly isTemporary: boolean = false;

  /**
   * Creates an error, for example in your tests.
   *
   * @param message What went wrong.
   * @param fields The fields of the class, such as `{ timeout: 5_000 }`.
   * @param options The `cause`, if there is one.
   */
  constructor(message: string, fields: Fields, options?: { cause?: unknown }) {
    super(message, options);
    Object.defineProperty(this, brand, { value: true });
    Object.assign(this, { code: new.target.code }, fields);
  }

  /**
   * Makes `instanceof` work across copies of the package.
   *
   * @param value The left side of `instanceof`.
   * @returns Whether the value is an error of this class.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (super[Symbol.hasInstance](value)) return true;
    // A caller's subclass has no `code` of its own.
    const isOurs = this === ScamAddressError || Object.keys(this).includes("code");
    const { [brand]: isBranded, code } = Object(value);
    return isOurs && isBranded === true && (this.code === undefined || this.code === code);
  }

  /**
   * Returns the object that `JSON.stringify` serializes.
   *
   * @returns The name, the code, the message, `isTemporary` and the fields of the class.
   */
  toJSON(): Record<string, unknown> {
    return { message: this.message, ...this as object };
  }
}

/**
 * The service responded with a status that is not 2xx: 4xx, 5xx, or a redirect, which is never
 * followed, because it would send the API key to an address that nobody configured.
 *
 * The message has the start of the response's body. The meaning of the statuses is undocumented, so
 * check `response.body` for what the service says.
 */
export class HttpError extends ScamAddressError<Pick<HttpError, "response">> {
  /** Always `"http"`. */
  static override readonly code: "http" = "http";
  /** `"HttpError"`, unless a subclass has another name. */
  override readonly name: string = "HttpError";
  /** The response of the service. */
  declare readonly response: ResponseSnapshot;
  /** Whether the status is 408, 429, or any 5xx except 501. */
  override readonly isTemporary: boolean;
  /** The seconds to wait, from a `Retry-After` header. `undefined` if there is no valid one. */
  readonly retryAfter: number | undefined;

  /**
   * Creates an error, for example in your tests.
   *
   * @param message What went wrong.
   * @param fields The `response`.
   * @param options The `cause`, if there is one.
   */
  constructor(
    message: string,
    fields: Pick<HttpError, "response">,
    options?: { cause?: unknown },
  ) {
    super(message, fields, options);
    this.isTemporary = isTemporaryStatus(fields.response.status);
    this.retryAfter = readRetryAfter(fields.response.headers);
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
  /** Always `true`. */
  override readonly isTemporary: boolean = true;
  /** The runtime's reason, which may have a `code` such as `"ECONNREFUSED"`. */
  declare readonly cause?: Error & { readonly code?: string };
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
  /** Always `true`. */
  override readonly isTemporary: boolean = true;
  /** The limit that was exceeded, in milliseconds. */
  declare readonly timeout: number;
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
 * An option or an argument is wrong, so nothing was sent. After every other error, the service may have
 * carried out the request and charged for it.
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
  /** The name of the option or argument, such as `"apiKey"`. */
  declare readonly option?: string;
}
