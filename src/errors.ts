import type { Issue } from "./generated/validators.ts";

export type { Issue };

/** What went wrong, as a string that `switch` can tell apart: see {@linkcode ScamAddressError.code}. */
export type ErrorCode =
  | "configuration"
  | "http"
  | "invalid_response"
  | "network"
  | "redirect"
  | "timeout";

const brand: unique symbol = Symbol.for("@scam-address/client/error") as never;

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
export class ScamAddressError extends Error {
  /** The `code` of the class's own instances; none for {@linkcode ScamAddressError} itself. */
  static readonly code?: ErrorCode;

  /** What went wrong; each class has one code of its own. */
  readonly code: ErrorCode;

  /**
   * Constructs an error; the package does so, and tests of yours may.
   *
   * @param code What went wrong.
   * @param message A sentence for people.
   * @param options The `cause`, if there is one.
   */
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    Object.defineProperty(this, brand, { value: true });
  }

  /**
   * Makes `instanceof` hold across copies of the package.
   *
   * @param value The left side of `instanceof`.
   * @returns Whether the value is an error of this class.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== ScamAddressError && !Object.hasOwn(this, "code")) {
      return super[Symbol.hasInstance](value); // a subclass made elsewhere
    }
    return Object(value)[brand] === true &&
      (this.code ?? (value as ScamAddressError).code) === (value as ScamAddressError).code;
  }
}

/** What an {@linkcode HttpError} is made of. */
export interface HttpErrorInit {
  /** The status code of the response. */
  status: number;
  /** The headers of the response. */
  headers: Headers;
  /** The body of the response: parsed JSON, or text where it is not JSON. */
  body: unknown;
  /** How long the service asked to wait, in seconds. */
  retryAfter?: number | undefined;
}

/**
 * The service answered with a status outside 2xx and 3xx.
 *
 * What the service's statuses mean is not shown in its document (section 7), so `status`, `headers`
 * and `body` are handed over as they came.
 */
export class HttpError extends ScamAddressError {
  static override readonly code = "http";
  override readonly name = "HttpError";
  /** The status code of the response. */
  readonly status: number;
  /** The headers of the response. */
  readonly headers: Headers;
  /** The body: parsed JSON, or text where it is not JSON, cut at 64 KiB; `""` when it is empty. */
  readonly body: unknown;
  /** What a valid `Retry-After` header asked for, in seconds from the answer on; else absent. */
  declare readonly retryAfter?: number;

  /**
   * Constructs the error.
   *
   * @param message A sentence for people.
   * @param init The parts of the response.
   */
  constructor(message: string, init: HttpErrorInit) {
    super("http", message);
    this.status = init.status;
    this.headers = init.headers;
    this.body = init.body;
    if (init.retryAfter !== undefined) this.retryAfter = init.retryAfter;
  }
}

/**
 * The service could not be reached, or the connection broke before the answer was complete.
 *
 * `cause` is what the runtime's fetch threw.
 */
export class NetworkError extends ScamAddressError {
  static override readonly code = "network";
  override readonly name = "NetworkError";

  /**
   * Constructs the error.
   *
   * @param message A sentence for people.
   * @param options The `cause`, if there is one.
   */
  constructor(message: string, options?: ErrorOptions) {
    super("network", message, options);
  }
}

/** The time for an attempt was up before the last byte of the answer had been read. */
export class TimeoutError extends ScamAddressError {
  static override readonly code = "timeout";
  override readonly name = "TimeoutError";
  /** The time that an attempt may take, in milliseconds. */
  readonly timeout: number;

  /**
   * Constructs the error.
   *
   * @param message A sentence for people.
   * @param timeout The time that the attempt had, in milliseconds.
   */
  constructor(message: string, timeout: number) {
    super("timeout", message);
    this.timeout = timeout;
  }
}

/**
 * The service answered with a redirect, which is never followed.
 *
 * Following it would send the API key to an address that nobody configured.
 */
export class RedirectError extends ScamAddressError {
  static override readonly code = "redirect";
  override readonly name = "RedirectError";
  /** The status code of the response; 0 in browsers, which hide it. */
  readonly status: number;
  /** The `Location` header of the response; absent when there is none and in browsers, which hide it. */
  declare readonly location?: string;

  /**
   * Constructs the error.
   *
   * @param message A sentence for people.
   * @param status The status code of the response.
   * @param location The `Location` header of the response.
   */
  constructor(message: string, status: number, location?: string) {
    super("redirect", message);
    this.status = status;
    if (location !== undefined) this.location = location;
  }
}

/**
 * The service answered with a success status, and with a body that is not JSON, is empty, is too
 * large, or is not what the OpenAPI document says.
 */
export class InvalidResponseError extends ScamAddressError {
  static override readonly code = "invalid_response";
  override readonly name = "InvalidResponseError";
  /** The status code of the response. */
  readonly status: number;
  /**
   * What is wrong: for each fault the place, as a JSON Pointer, and the rule that it breaks; never
   * a value. The rule is a keyword of JSON Schema, or `json` (not JSON), `empty`, or
   * `maxResponseBytes` (too large).
   */
  readonly issues: readonly Issue[];

  /**
   * Constructs the error.
   *
   * @param message A sentence for people.
   * @param status The status code of the response.
   * @param issues What is wrong with the body.
   */
  constructor(message: string, status: number, issues: readonly Issue[]) {
    super("invalid_response", message);
    this.status = status;
    this.issues = issues;
  }
}

/** An option or an argument is wrong; nothing has been sent. */
export class ConfigurationError extends ScamAddressError {
  static override readonly code = "configuration";
  override readonly name = "ConfigurationError";

  /**
   * Constructs the error.
   *
   * @param message A sentence for people that names the option and what to do.
   * @param options The `cause`, if there is one.
   */
  constructor(message: string, options?: ErrorOptions) {
    super("configuration", message, options);
  }
}
