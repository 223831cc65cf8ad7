import {
  ConfigurationError,
  HttpError,
  InvalidResponseError,
  type Issue,
  NetworkError,
  RedirectError,
  type ResponseSnapshot,
  TimeoutError,
} from "../errors.ts";
import { toCause } from "./cause.ts";
import { parseRetryAfter } from "./retry.ts";
import { Secrets } from "./secrets.ts";
import { captureStack } from "./stack.ts";
import { MAX_ERROR_BODY, parseBody, startOf } from "./text.ts";
import { withoutQuery } from "./url.ts";

/** Advice about a response that may not be the service's. */
export const CHECK_BASE_URL = 'check "baseUrl"';

/** The maker of the errors of one call. Each names the request, and none shows a secret. */
export class CallErrors {
  /** The texts that the errors must not show. */
  readonly secrets: Secrets = new Secrets();
  /** The number of the last attempt that has begun; 0 before the first. */
  attempts = 0;

  /**
   * @param describeRequest Returns the method and the address, without the query.
   * @param is404Unexpected Whether a 404 is a sign of a wrong address.
   */
  constructor(readonly describeRequest: () => string, readonly is404Unexpected: boolean) {}

  /** Makes the error for a response that has no 2xx status. */
  http(response: Response, body: unknown = ""): HttpError {
    const { headers, status } = response;
    const header = this.secrets.redact(headers.get("retry-after") ?? "");
    const retryAfter = parseRetryAfter(header, Date.now());
    const wait = retryAfter === undefined ? "" : `, Retry-After: ${header}`;
    const advice = this.is404Unexpected && status === 404 ? `: ${CHECK_BASE_URL}` : "";
    return this.#make(HttpError, `got a response with the status ${status}${wait}${advice}`, {
      response: this.#snapshot(response, body),
      ...retryAfter !== undefined && { retryAfter },
    });
  }

  /** Makes the error for a 2xx response with a wrong body. */
  invalid(
    response: Response,
    text: string,
    issues: readonly Issue[],
    problem: string,
  ): InvalidResponseError {
    const fields = { issues, response: this.#snapshot(response, parseBody(text), text) };
    return this.#make(InvalidResponseError, `got an invalid response: ${problem}`, fields);
  }

  /** Makes the error for a redirect, or for what a custom `fetch` got by following one. */
  redirect({ headers, redirected, status, url }: Response): RedirectError {
    const location = this.secrets.redact((redirected ? url : headers.get("location")) ?? "");
    const to = location && ` to "${withoutQuery(location).slice(0, 200)}"`;
    const problem = redirected
      ? `was redirected${to} by "fetch", which must not follow redirects`
      : `got a redirect${status ? ` (${status})` : ""}${to}, which is not followed`;
    return this.#make(RedirectError, `${problem}: ${CHECK_BASE_URL}`, {
      ...location && { location },
    });
  }

  /** Makes the error for a limit that was exceeded, in milliseconds, and says what had not ended. */
  timeout(timeout: number, progress: string): TimeoutError {
    return this.#make(TimeoutError, `took more than ${timeout} ms: ${progress}`, { timeout });
  }

  /** Makes the error for what the network or a custom `fetch` has thrown, with or without a response. */
  network(thrown: unknown, response: Response | undefined): NetworkError {
    const cause = toCause(thrown, this.secrets);
    const problem = response ? "got no complete response" : "got no response";
    return this.#make(NetworkError, `${problem}: ${cause.message}`, {}, { cause });
  }

  /** Makes the error for a custom `fetch` that has returned no response that can be read. */
  badFetch(): ConfigurationError {
    const problem = 'needs a "fetch" that returns an unread Response';
    return this.#make(ConfigurationError, problem, { option: "fetch" });
  }

  #make<Fields, Made extends Error>(
    errorClass: new (message: string, fields: Fields, options?: ErrorOptions) => Made,
    problem: string,
    fields: Fields,
    options?: ErrorOptions,
  ): Made {
    const failed = this.attempts > 1 ? `failed after ${this.attempts} attempts: ` : "";
    const message = this.secrets.redact(`"${this.describeRequest()}" ${failed}${problem}`);
    const error = new errorClass(message, fields, options);
    captureStack(error, this.#make);
    return error;
  }

  /** Makes the part of a response that an error keeps. */
  #snapshot({ headers, status }: Response, body: unknown, text = ""): ResponseSnapshot {
    const { secrets } = this;
    // Node.js 20 and 22 receive names with spaces, and empty ones, which `new Headers` refuses.
    const named = [...headers].filter(([name]) =>
      /^\S+$/.test(name) && secrets.redact(name) === name
    );
    return {
      status,
      headers: new Headers(named.map(([name, value]) => [name, secrets.redact(value)])),
      body: this.#redactBody(body, text),
    };
  }

  /** Redacts a body: the start of a text, or JSON; of JSON that is nested too deep, the given text. */
  #redactBody(body: unknown, text: string): unknown {
    if (typeof body === "string") return this.secrets.redact(startOf(body, MAX_ERROR_BODY));
    try {
      return this.secrets.redactValue(body);
    } catch {
      return this.secrets.redact(startOf(text, MAX_ERROR_BODY));
    }
  }
}
