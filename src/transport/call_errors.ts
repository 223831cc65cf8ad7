import {
  ConfigurationError,
  HttpError,
  InvalidResponseError,
  type Issue,
  NetworkError,
  RedirectError,
  TimeoutError,
} from "../errors.ts";
import { parseBody } from "./body.ts";
import { MAX_SEARCHED, Secrets, toCause } from "./redact.ts";
import { parseRetryAfter } from "./retry.ts";

/** What to do about a response that may not be the service's. */
export const CHECK_BASE_URL = 'check "baseUrl"';

/** Makes the errors of one call. Each names the request, and none shows a secret. */
export class CallErrors {
  /** What the errors must not show. */
  readonly secrets: Secrets = new Secrets();
  /** The number of attempts that were made for the result of the call. */
  attempts = 0;
  /** The error that was made last; unset before `onRetry` receives it. */
  last: Error | undefined;

  /**
   * @param request Returns the method and the address, without the query.
   * @param mustExist Whether the service documents the path: a 404 then means a wrong address.
   */
  constructor(readonly request: () => string, readonly mustExist: boolean) {}

  /** The error for a response that has no 2xx status. */
  http(response: Response, body: unknown = ""): HttpError {
    const { headers, status } = response;
    const header = this.secrets.redact(headers.get("retry-after") ?? "");
    const retryAfter = parseRetryAfter(header, Date.now());
    const wait = retryAfter === undefined ? "" : `, Retry-After: ${header}`;
    const advice = this.mustExist && status === 404 ? `: ${CHECK_BASE_URL}` : "";
    return this.#make(HttpError, `got a response with the status ${status}${wait}${advice}`, {
      status,
      ...this.#contents(response, body),
      ...retryAfter !== undefined && { retryAfter },
    });
  }

  /** The error for a 2xx response with a wrong body. */
  invalid(
    response: Response,
    text: string,
    issues: readonly Issue[],
    problem: string,
  ): InvalidResponseError {
    const body = text.length > MAX_SEARCHED ? text : parseBody(text);
    const fields = { ...this.#contents(response, body, text), issues };
    return this.#make(InvalidResponseError, `got an invalid response: ${problem}`, fields);
  }

  /** The error for a redirect, or for what a custom fetch got by following one. */
  redirect({ headers, redirected, status, url }: Response): RedirectError {
    const location = this.secrets.redact((redirected ? url : headers.get("location")) ?? "");
    const to = location && ` to "${location.replace(/[?#].*/s, "").slice(0, 200)}"`;
    const problem = redirected
      ? `was redirected${to} by "fetch", which must not follow redirects`
      : `got a redirect${to}, which is not followed`;
    const fields = { status, ...location && { location } };
    return this.#make(RedirectError, `${problem}: ${CHECK_BASE_URL}`, fields);
  }

  /** The error for an attempt that took too long, in milliseconds, and the response if it had one. */
  timeout(timeout: number, response: Response | undefined): TimeoutError {
    const progress = response
      ? `the body of the response with the status ${response.status} was not complete`
      : "there was no response";
    return this.#make(TimeoutError, `took more than ${timeout} ms: ${progress}`, { timeout });
  }

  /** The error for what the network, or a custom fetch, has thrown, and the response if it had one. */
  network(thrown: unknown, response: Response | undefined): NetworkError {
    const cause = toCause(thrown, this.secrets);
    const problem = response ? "got no complete response" : "got no response";
    return this.#make(NetworkError, `${problem}: ${cause.message}`, {}, { cause });
  }

  /** The error for what a custom fetch has returned in place of a response that can be read. */
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
    const message = this.secrets.redact(`"${this.request()}" ${failed}${problem}`);
    const error = new errorClass(message, fields, options);
    Error.captureStackTrace?.(error, this.#make); // without the frames of this file
    this.last = error;
    return error;
  }

  /** What an error keeps of a response, whose body is parsed if it is JSON. */
  #contents({ headers }: Response, body: unknown, text?: string) {
    const { secrets } = this;
    return {
      headers: new Headers([...headers].map(([name, value]) => [name, secrets.redact(value)])),
      body: this.#body(body, text),
    };
  }

  /** Redacts a body; cuts its text when that is too long, or not JSON, or nested too deep. */
  #body(body: unknown, text?: string): unknown {
    try {
      text ??= typeof body === "string" ? body : JSON.stringify(body);
      if (body !== text && text.length <= MAX_SEARCHED) return this.secrets.redactValue(body);
    } catch { /* It is nested too deep. */ }
    return this.secrets.redact(text?.slice(0, MAX_SEARCHED) ?? "");
  }
}
