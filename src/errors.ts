/** A place where a response does not fit its schema. It holds nothing of the response. */
export interface Issue {
  /** A JSON Pointer; `*` stands for a property that the OpenAPI document does not name. */
  readonly path: string;
  /** What is broken: a keyword of JSON Schema, or `json`, `empty` or `maxResponseBytes`. */
  readonly rule: string;
  /** What the schema given to `call()` says; absent for others. */
  readonly message?: string;
}

/** What went wrong, as a string for logs and `switch`; `instanceof` leads to a class's own fields. */
export type ErrorCode =
  | "configuration"
  | "http"
  | "invalid_response"
  | "network"
  | "redirect"
  | "timeout";

const brand = Symbol.for("@scam-address/client/error");

/**
 * The class that all errors of this package extend.
 *
 * `instanceof` also holds for errors of another copy of the package, so that an application that
 * loads it both as an ES module and as CommonJS needs to test only one class. The API key is in no
 * field, message, cause or stack of any of them.
 *
 * @example Tell the errors apart
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
 */
export abstract class ScamAddressError extends Error {
  /** The `code` of the class's instances; `undefined` for {@linkcode ScamAddressError} itself. */
  static readonly code?: ErrorCode;

  /** What went wrong; each class has a code of its own. */
  declare readonly code: ErrorCode;

  /**
   * Constructs an error; the package does so, and tests of yours may.
   *
   * @param message A sentence for people.
   * @param fields The fields of the class.
   * @param options The `cause`, if there is one.
   */
  constructor(message: string, fields?: object, options?: ErrorOptions) {
    super(message, options);
    Object.defineProperty(this, brand, { value: 1 });
    Object.assign(this, { code: new.target.code }, fields);
  }

  /**
   * Makes `instanceof` hold across copies of the package.
   *
   * @param value The left side of `instanceof`.
   * @returns Whether the value is an error of this class.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    const { code } = value as ScamAddressError ?? {};
    return this === ScamAddressError || Object.prototype.hasOwnProperty.call(this, "code")
      ? brand in Object(value) && (this.code ?? code) === code
      : super[Symbol.hasInstance](value); // a subclass made elsewhere
  }
}

/**
 * The service answered with a status outside 2xx and 3xx.
 *
 * What the service's statuses mean is not shown in its document (section 7), so `status`, `headers`
 * and `body` are handed over as they came, with `[redacted]` in place of the key.
 */
export class HttpError extends ScamAddressError {
  /** The code of this class. */
  static override readonly code = "http";
  /** The name of this class. */
  override readonly name = "HttpError";
  /** The status code of the response. */
  declare readonly status: number;
  /** The headers of the response. */
  declare readonly headers: Headers;
  /** The body: parsed JSON, or text where it is not JSON, cut at 64 KiB; `""` when it is empty. */
  declare readonly body: unknown;
  /** What a valid `Retry-After` header asked for, in seconds from the answer on; else absent. */
  declare readonly retryAfter?: number;
}

/**
 * The service could not be reached, or the connection broke before the answer was complete.
 *
 * `cause` is what the runtime's fetch threw, or, where that could show the key, an error that says
 * the same without it.
 */
export class NetworkError extends ScamAddressError {
  /** The code of this class. */
  static override readonly code = "network";
  /** The name of this class. */
  override readonly name = "NetworkError";
}

/** The time for an attempt was up before the last byte of the answer had been read. */
export class TimeoutError extends ScamAddressError {
  /** The code of this class. */
  static override readonly code = "timeout";
  /** The name of this class. */
  override readonly name = "TimeoutError";
  /** The time that an attempt may take, in milliseconds. */
  declare readonly timeout: number;
}

/**
 * The service answered with a redirect, which is never followed.
 *
 * Following it would send the API key to an address that nobody configured.
 */
export class RedirectError extends ScamAddressError {
  /** The code of this class. */
  static override readonly code = "redirect";
  /** The name of this class. */
  override readonly name = "RedirectError";
  /** The status code of the response; 0 in browsers, which hide it. */
  declare readonly status: number;
  /** The `Location` header; absent when there is none, and in browsers, which hide it. */
  declare readonly location?: string;
}

/**
 * The service answered with a success status, and with a body that is not JSON, is empty, is too
 * large, or is not what the OpenAPI document says.
 */
export class InvalidResponseError extends ScamAddressError {
  /** The code of this class. */
  static override readonly code = "invalid_response";
  /** The name of this class. */
  override readonly name = "InvalidResponseError";
  /** The status code of the response. */
  declare readonly status: number;
  /**
   * What is wrong: the place, as a JSON Pointer, and the rule that it breaks; never a value. What
   * the OpenAPI document says is checked up to the first fault. The rule is a keyword of JSON Schema,
   * or `json` (not JSON), `empty`, or `maxResponseBytes` (too large).
   */
  declare readonly issues: readonly Issue[];
}

/**
 * An option or an argument is wrong, and nothing has been sent; or middleware returned what it must
 * not.
 */
export class ConfigurationError extends ScamAddressError {
  /** The code of this class. */
  static override readonly code = "configuration";
  /** The name of this class. */
  override readonly name = "ConfigurationError";
}
