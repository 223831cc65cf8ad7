import {
  HttpError,
  InvalidResponseError,
  type Issue,
  NetworkError,
  RedirectError,
  TimeoutError,
} from "../errors.ts";
import { MAX_SEARCHED, reasonOf, Secrets } from "./redact.ts";
import { parseRetryAfter } from "./retry.ts";

/** What to do about a response that may not be the service's. */
export const ADVICE = 'check "baseUrl"';

/** Makes the errors of one call. Each names the request, and none shows a secret. */
export class Failures {
  /** What the errors must not show. */
  readonly secrets: Secrets = new Secrets();
  /** The number of attempts so far. */
  attempts = 0;

  /**
   * @param request Returns the method and the address, without the query.
   * @param isKnown Whether the service must have the address, so that a 404 means that it is wrong.
   */
  constructor(readonly request: () => string, readonly isKnown: boolean) {}

  /** The error for a response that has no 2xx status. */
  http({ headers, status }: Response, body: string): HttpError {
    const redact = (text: string) => this.secrets.redact(text);
    const header = redact(headers.get("retry-after") ?? "");
    const retryAfter = parseRetryAfter(header, Date.now());
    const wait = retryAfter === undefined ? "" : `, Retry-After: ${header}`;
    const advice = this.isKnown && status === 404 ? `: ${ADVICE}` : "";
    const message = this.#message(`got a response with the status ${status}${wait}${advice}`);
    return new HttpError(message, {
      status,
      headers: new Headers([...headers].map(([name, value]) => [name, redact(value)])),
      body: this.#body(body),
      ...retryAfter !== undefined && { retryAfter },
    });
  }

  /** The error for a 2xx response with a wrong body. */
  invalid(
    { status }: Response,
    body: string,
    issues: readonly Issue[],
    problem: string,
  ): InvalidResponseError {
    const message = this.#message(`got an invalid response: ${problem}`);
    const fields = { status, issues, body: this.#body(body) };
    return new InvalidResponseError(message, fields);
  }

  /** The error for a redirect, or for what a custom fetch got by following one. */
  redirect({ headers, redirected, status, url }: Response): RedirectError {
    const location = this.secrets.redact((redirected ? url : headers.get("location")) ?? "");
    const to = location && ` to "${location.replace(/[?#].*/s, "").slice(0, 200)}"`;
    const problem = redirected
      ? `was redirected${to} by "fetch", which must not follow redirects`
      : `got a redirect${to}, which is not followed`;
    const fields = { status, ...location && { location } };
    return new RedirectError(this.#message(`${problem}: ${ADVICE}`), fields);
  }

  /** The error for an attempt that took too long, in milliseconds, and the response if it had one. */
  timeout(timeout: number, response: Response | undefined): TimeoutError {
    const progress = response
      ? `the body of the response with the status ${response.status} was not complete`
      : "there was no response";
    return new TimeoutError(this.#message(`took more than ${timeout} ms: ${progress}`), {
      timeout,
    });
  }

  /** The error for what the network, or a custom fetch, has thrown, and the response if it had one. */
  network(thrown: unknown, response: Response | undefined): NetworkError {
    const cause = reasonOf(thrown, this.secrets);
    const problem = response ? "got no complete response" : "got no response";
    return new NetworkError(this.#message(`${problem}: ${cause.message}`), {}, { cause });
  }

  #message(problem: string): string {
    const failed = this.attempts > 1 ? `failed after ${this.attempts} attempts: ` : "";
    return this.secrets.redact(`"${this.request()}" ${failed}${problem}`);
  }

  /** Reads the body of an error: JSON, whose escapes may hide a secret, or else text. */
  #body(whole: string): unknown {
    const text = whole.slice(0, MAX_SEARCHED);
    const redact = (text: string) => this.secrets.redact(text);
    try {
      JSON.parse(text); // Where this fails, V8 14 (Node.js 26) dies in a parse with a function.
      return JSON.parse(text, (_name, value) => {
        if (typeof value === "string") return redact(value);
        if (typeof value === "number") {
          return redact(`${value}`) === `${value}` ? value : "[redacted]";
        }
        if (Array.isArray(value) || Object(value) !== value) return value;
        const fields = Object.entries(value).map(([name, field]) => [redact(name), field]);
        return Object.fromEntries(fields);
      });
    } catch {
      return redact(text); // It is not JSON, or nested too deep.
    }
  }
}
