/** What went wrong, as a string for logs and `switch`; `instanceof` leads to a class's own fields. */
export type ErrorCode =
  | "configuration"
  | "http"
  | "invalid_response"
  | "network"
  | "redirect"
  | "timeout";

/** A place where a response does not fit its schema. */
export interface Issue {
  /** Where, as a JSON Pointer; `*` stands for a property that the schema does not name. */
  readonly path: string;
  /**
   * The rule that is broken: a keyword of JSON Schema, or `json` (not JSON), `empty`,
   * `maxResponseBytes` (too large) or `schema` (rejected by the schema given to `call`).
   */
  readonly rule: string;
  /**
   * What the schema given to `call` says, which may quote the response, with `[redacted]` in place
   * of the key; absent for all other rules.
   */
  readonly message?: string;
}

const brand = Symbol.for("@scam-address/client/error");

/**
 * The class that all errors of this package extend.
 *
 * `instanceof` also holds for errors of another copy of the package, so an application that loads
 * it both as an ES module and as CommonJS needs to test only one class. The API key is in no field,
 * message, cause or stack of any of them.
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
 */
export abstract class ScamAddressError extends Error {
  /** The `code` of the class's instances; `undefined` for {@linkcode ScamAddressError} itself. */
  static readonly code?: ErrorCode;

  /** What went wrong; each class has its own code. */
  declare readonly code: ErrorCode;

  /**
   * Constructs an error. The package does so, and your tests may.
   *
   * @param message What went wrong, for people.
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

  /**
   * Gives `JSON.stringify` what a log needs.
   *
   * @returns The name, the code, the message and the fields of the class.
   */
  toJSON(): Record<string, unknown> {
    const { name, code, message } = this;
    return { name, code, message, ...this as object };
  }
}

/**
 * The service responded with a 4xx or 5xx status.
 *
 * What the service's statuses mean is not documented, so `status`, `headers` and `body` are handed
 * over as they came, with `[redacted]` in place of the key.
 */
export class HttpError extends ScamAddressError {
  /** The code of this class. */
  static override readonly code = "http";
  /** The name of this class. */
  override readonly name = "HttpError";
  /** The status code of the response. */
  declare readonly status: number;
  /** The headers of the response, without those that are named after the key. */
  declare readonly headers: Headers;
  /** The body: parsed JSON, or text where it is not JSON, cut at 64 KiB; `""` when it is empty. */
  declare readonly body: unknown;
  /** What a valid `Retry-After` header asks for, in seconds from the response on; else absent. */
  declare readonly retryAfter?: number;

  /**
   * Constructs an error.
   *
   * @param message What went wrong, for people.
   * @param fields What came with the response.
   * @param options The `cause`, if there is one.
   */
  constructor(
    message: string,
    fields: Pick<HttpError, "status" | "headers" | "body" | "retryAfter">,
    options?: ErrorOptions,
  ) {
    super(message, fields, options);
  }

  /**
   * Gives `JSON.stringify` what a log needs.
   *
   * @returns The name, the code, the message and the fields; the headers as an object.
   */
  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), headers: Object.fromEntries(this.headers) };
  }
}

/**
 * The service could not be reached, or the connection broke before the response was complete.
 *
 * The message ends with the runtime's reason, such as `connect ECONNREFUSED 127.0.0.1:443`. The
 * `cause` is an error with that reason as its message and, where the runtime gave one, its `code`.
 */
export class NetworkError extends ScamAddressError {
  /** The code of this class. */
  static override readonly code = "network";
  /** The name of this class. */
  override readonly name = "NetworkError";

  /**
   * Constructs an error.
   *
   * @param message What went wrong, for people.
   * @param options The `cause`, if there is one.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, {}, options);
  }
}

/** The time for an attempt was up before the last byte of the response had been read. */
export class TimeoutError extends ScamAddressError {
  /** The code of this class. */
  static override readonly code = "timeout";
  /** The name of this class. */
  override readonly name = "TimeoutError";
  /** The time that an attempt may take, in milliseconds. */
  declare readonly timeout: number;

  /**
   * Constructs an error.
   *
   * @param message What went wrong, for people.
   * @param fields The time that was up, in milliseconds.
   * @param options The `cause`, if there is one.
   */
  constructor(message: string, fields: Pick<TimeoutError, "timeout">, options?: ErrorOptions) {
    super(message, fields, options);
  }
}

/**
 * The service responded with a redirect, which is never followed.
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

  /**
   * Constructs an error.
   *
   * @param message What went wrong, for people.
   * @param fields What came with the response.
   * @param options The `cause`, if there is one.
   */
  constructor(
    message: string,
    fields: Pick<RedirectError, "status" | "location">,
    options?: ErrorOptions,
  ) {
    super(message, fields, options);
  }
}

/**
 * The service responded with a 2xx status and a body that is not JSON, is empty, is too large, or
 * is not what the OpenAPI document or the schema given to `call` says.
 */
export class InvalidResponseError extends ScamAddressError {
  /** The code of this class. */
  static override readonly code = "invalid_response";
  /** The name of this class. */
  override readonly name = "InvalidResponseError";
  /** The status code of the response. */
  declare readonly status: number;
  /** What is wrong, and where. */
  declare readonly issues: readonly Issue[];

  /**
   * Constructs an error.
   *
   * @param message What went wrong, for people.
   * @param fields What is wrong with the response.
   * @param options The `cause`, if there is one.
   */
  constructor(
    message: string,
    fields: Pick<InvalidResponseError, "status" | "issues">,
    options?: ErrorOptions,
  ) {
    super(message, fields, options);
  }
}

/** An option or an argument is wrong. Nothing has been sent. */
export class ConfigurationError extends ScamAddressError {
  /** The code of this class. */
  static override readonly code = "configuration";
  /** The name of this class. */
  override readonly name = "ConfigurationError";

  /**
   * Constructs an error.
   *
   * @param message Which option is wrong, and what to do.
   * @param options The `cause`, if there is one.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, {}, options);
  }
}
