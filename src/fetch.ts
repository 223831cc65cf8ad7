import type { Call } from "./call.ts";
import { readApiKey } from "./checks.ts";
import { checkUrl, isBodiless, withoutQuery } from "./endpoint.ts";
import { ConfigurationError } from "./errors.ts";
import { apiKeyHeader } from "./generated/operations.ts";
import { reasonOf, redactor } from "./transport/redact.ts";
import { rebuild } from "./transport/response.ts";
import { isIdempotent } from "./transport/retry.ts";
import { send } from "./transport/send.ts";
import type { Clock } from "./transport/time.ts";

/** What openapi-fetch makes a request from. */
type RequestOptions = RequestInit & { headers: Headers };

/** A request that nobody but this client sees; it costs less than a `Request`. */
export class RequestRecord {
  declare readonly method: string;
  declare readonly headers: Headers;
  declare readonly body?: string;

  constructor(readonly url: string, options: RequestOptions) {
    Object.assign(this, options);
  }
}

/** Makes what openapi-fetch takes for the class of requests that more than this client may see. */
export function requestClass(call: Call): typeof Request {
  function RealRequest(url: string, options: RequestOptions) {
    return makeRequest(url, options, call);
  }
  RealRequest.prototype = (call.Request ?? Request).prototype; // for openapi-fetch's `instanceof`
  return RealRequest as unknown as typeof Request;
}

/** Makes a real request, or the error for options that it refuses. */
function makeRequest(url: string, options: RequestOptions, call: Call): Request {
  const { body, headers } = options;
  if (typeof body === "string") addContentType(headers);
  else if (!call.hasOwnType()) headers.delete("content-type"); // fetch knows that of a blob
  try {
    return new (call.Request ?? Request)(url, options);
  } catch (thrown) {
    const { message } = reasonOf(thrown, call.redact);
    throw new ConfigurationError(`No request can have these options: ${message}`, {});
  }
}

/** Adds the content type of JSON, unless there is another one. */
function addContentType(headers: Headers): void {
  if (!headers.has("content-type")) headers.set("content-type", "application/json");
}

/** Stands in for a falsy value that a caller's function has thrown: openapi-fetch would lose it. */
class FalsyError extends Error {
  constructor(readonly thrown: unknown) {
    super("A falsy value was thrown");
  }
}

/** Throws an error that openapi-fetch rejects with, or the falsy value that it stands for. */
export function rethrow(error: unknown): never {
  throw error instanceof FalsyError ? error.thrown : error;
}

/**
 * What openapi-fetch calls in place of `fetch`: it adds the key, and the transport sends.
 *
 * @throws {FalsyError} In place of a falsy value.
 */
export async function sendRequest(
  given: Request | RequestRecord,
  call: Call,
  clock: Clock,
  extension?: RequestInit,
): Promise<Response> {
  const isPlain = given instanceof RequestRecord && typeof given.body !== "object";
  const request = given instanceof RequestRecord && !isPlain
    ? makeRequest(given.url, given as RequestOptions, call) // of a form, a blob or a stream
    : given;
  const { settings: { apiKey, baseUrl }, operation } = call;
  const { method } = request;
  checkUrl(request.url, baseUrl);
  try {
    const isSecured = operation?.apiKey !== "none";
    const ownKey = isSecured && typeof apiKey === "function" ? readApiKey(await apiKey()) : apiKey;
    call.redact = redactor(ownKey, call.checkedKey);
    call.describe = () => call.redact(`${method} ${withoutQuery(request.url)}`);

    const isRecord = request instanceof RequestRecord;
    const headers = isRecord ? request.headers : new Headers(request.headers); // before Bun's change
    const body = isRecord ? request.body : await readBody(request);
    if (isSecured && ownKey !== undefined) headers.set(apiKeyHeader, ownKey as string);
    else headers.delete(apiKeyHeader); // a stray one
    const isEmpty = typeof body !== "string" && !body?.byteLength;
    if (isEmpty ? isSecured : isPlain) addContentType(headers);

    const isKnown = operation !== undefined && method === call.method;
    const received = await send({
      ...call,
      attempt(init) {
        if (isRecord) {
          return globalThis.fetch(request.url, {
            ...extension,
            ...request as RequestInit,
            ...init,
          });
        }
        const sent = { method, headers, ...body && { body }, ...init };
        if (!call.fetch) return globalThis.fetch(request, { ...extension, ...sent });
        const copy = new (call.Request ?? Request)(request, sent);
        if (!headers.has(apiKeyHeader)) copy.headers.delete(apiKeyHeader); // which Bun may keep
        return (call.fetch as typeof fetch)(copy, extension && { ...extension, ...sent });
      },
      signals: isRecord ? call.signals : [...call.signals, request.signal],
      isIdempotent: call.idempotent ?? (isKnown ? operation.idempotent : isIdempotent(method)),
      clock,
    });
    const response = isPlain && received.response.ok ? received.response : rebuild(received);
    call.received = { ...received, response };
    return response;
  } catch (thrown) {
    throw thrown || new FalsyError(thrown);
  }
}

/** Reads the body of a request, so that it can be sent again. */
async function readBody(request: Request): Promise<ArrayBuffer | undefined> {
  // In Firefox, a request has no `body`.
  const isEmpty = isBodiless(request.method) || request.body === null;
  return isEmpty ? undefined : await request.arrayBuffer();
}
