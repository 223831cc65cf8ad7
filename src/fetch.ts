import type { Call } from "./call.ts";
import { failed, wrong } from "./checks.ts";
import { checkUrl, isBodiless } from "./endpoint.ts";
import { apiKeyHeader } from "./generated/operations.ts";
import { readStream } from "./transport/body.ts";
import { rebuild, type Received } from "./transport/response.ts";
import { send, type Sending } from "./transport/send.ts";
import { type Clock, within } from "./transport/time.ts";

type Attempt = Sending["attempt"];

/** The largest stream that is read before it is sent, in bytes. */
const MAX_STREAM = 100 * 2 ** 20;

/**
 * A request that nobody but this client sees; it costs less than a `Request`. openapi-fetch makes
 * it and gives it the caller's own properties.
 */
export class RequestRecord {
  declare readonly method: string;
  declare readonly headers: Headers;
  declare readonly body?: BodyInit;

  constructor(readonly url: string, init: RequestInit) {
    Object.assign(this, init, { url }); // which may also be among the caller's own properties
  }
}

/** Makes a response that can be read again, and remembers its body. */
export function keep(received: Received, call: Call): Response {
  const response = rebuild(received);
  call.received.set(response, { ...received, response });
  return response;
}

/** What openapi-fetch calls in place of `fetch`: it adds the key, and the transport sends. */
export async function sendRequest(
  given: Request | RequestRecord,
  call: Call,
  clock: Clock,
  extension?: RequestInit,
): Promise<Response> {
  const request = given instanceof RequestRecord && /object|function/.test(typeof given.body)
    ? toRequest(given, call)
    : given;
  const isRecord = request instanceof RequestRecord;
  try {
    const received = await send({
      ...call,
      attempt: isRecord
        ? attemptRecord(request, call, extension)
        : await attemptRequest(request, call, extension),
      signals: isRecord ? call.signals : [...call.signals, request.signal],
      isIdempotent: call.isIdempotent(request.method),
      clock,
    });
    if (!isRecord || !received.response.ok) return keep(received, call);
    call.received.set(received.response, received);
    return received.response;
  } catch (error) {
    throw error || new DOMException("The call was aborted", "AbortError"); // see dispatch()
  }
}

/** Makes a real request of a record whose body is more than a text: a form, or a stream. */
function toRequest(record: RequestRecord, { redact }: Call): Request {
  try {
    return new Request(record.url, record as RequestInit);
  } catch (error) {
    throw failed("body", "cannot be sent", error, redact);
  }
}

/** Adds the key, and the content type of JSON unless there is another one. */
function complete(headers: Headers, { key, sendsJson }: Call): Headers {
  if (sendsJson && !headers.has("content-type")) headers.set("content-type", "application/json");
  if (key === undefined) headers.delete(apiKeyHeader);
  else headers.set(apiKeyHeader, key);
  return headers;
}

/** Sends a record with the global `fetch`, looked up now. */
function attemptRecord(record: RequestRecord, call: Call, extension?: RequestInit): Attempt {
  complete(record.headers, call);
  return (init) =>
    globalThis.fetch(record.url, { ...extension, ...record as RequestInit, ...init });
}

/** Sends a request, which middleware may have changed, with the global or a custom `fetch`. */
async function attemptRequest(
  request: Request,
  call: Call,
  extension?: RequestInit,
): Promise<Attempt> {
  checkUrl(request.url, call.settings.baseUrl);
  const body = await readRequestBody(request, call);
  const headers = complete(new Headers(request.headers), call);
  const sent = { method: request.method, headers, ...body && { body } };
  return (init) => {
    if (!call.fetch) return globalThis.fetch(request, { ...extension, ...sent, ...init });
    const copy = new (call.Request ?? Request)(request, { ...sent, ...init });
    for (const [name, value] of Object.entries(request)) { // the caller's own properties
      if (!(name in copy)) Object.assign(copy, { [name]: value });
    }
    return (call.fetch as typeof fetch)(copy, extension);
  };
}

/** Reads the body of a request, so that it can be sent again; it may be a stream that never ends. */
async function readRequestBody(request: Request, call: Call): Promise<BufferSource | undefined> {
  if (isBodiless(request.method)) return undefined;
  const body = await within(call, async (time) => {
    if (typeof request.body?.getReader === "function") {
      return await readStream(request.body, MAX_STREAM, time);
    }
    const bytes = await request.arrayBuffer(); // in Firefox, whose requests have no `body`
    return request.bodyUsed ? bytes : undefined;
  }, (thrown) => failed("body", "cannot be read", thrown, call.redact));
  if (!body || body.byteLength <= MAX_STREAM) return body;
  throw wrong("body", "must not be a stream of more than 100 MiB");
}
