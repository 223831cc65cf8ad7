import type { Call } from "./call.ts";
import { checkPath } from "./checks.ts";
import { ConfigurationError, NetworkError, type ScamAddressError, TimeoutError } from "./errors.ts";
import { apiKeyHeader } from "./generated/operations.ts";
import { isBodiless } from "./request.ts";
import {
  decode,
  Failure,
  type Head,
  httpError,
  inTime,
  readBody,
  readHead,
  rebuild,
  type Received,
  refuseRedirect,
} from "./response.ts";
import { parseRetryAfter, retryDelay } from "./retry.ts";
import { abortable, type Clock } from "./time.ts";

/** The `Request` and `fetch` that openapi-fetch gets for a call. */
export interface Transport {
  readonly Request: typeof Request;
  readonly fetch: (request: Request, extension?: RequestInit) => Promise<Response>;
  /** Whether openapi-fetch has built the request; a later error comes from middleware. */
  isBuilt: boolean;
  /** The last response, unless middleware responded instead. */
  received?: Received;
}

/** A request that can be sent more than once. */
type Outgoing = Call & {
  readonly input: string | Request;
  readonly init: RequestInit & { readonly method: string };
  /** Custom properties that the caller added to the request. */
  readonly custom: Record<string, unknown>;
  readonly extension: RequestInit | undefined;
  readonly clock: Clock;
};

/** Makes the transport of a call: it adds the key, sends, retries, and reads the response. */
export function createTransport(call: Call, clock: Clock): Transport {
  const transport: Transport = {
    Request: createRequestClass(call, () => transport.isBuilt = true),
    isBuilt: false,
    async fetch(request, extension) {
      if (call.isObserved) checkUrl(request.url, call); // middleware may have changed it
      // Middleware may have made the request with a signal of its own.
      const signals = call.isObserved ? [...call.signals, request.signal] : call.signals;
      try {
        const sendable = await toSendable(request, call);
        transport.received = await send({ ...call, ...sendable, extension, signals, clock });
      } catch (error) {
        throw error || new DOMException("The call was aborted", "AbortError"); // see dispatch()
      }
      return transport.received.response;
    },
  };
  return transport;
}

/**
 * Makes the class that openapi-fetch constructs in place of `Request`. It returns a plain record,
 * which costs less, when the body is a string and neither middleware nor a custom class sees the
 * request.
 */
function createRequestClass(call: Call, onBuilt: () => void): typeof Request {
  function OutgoingRequest(url: string, init: RequestInit & { method: string }): object {
    checkUrl(url, call);
    (init.headers as Headers).delete(apiKeyHeader); // middleware must not see a stray one
    if (init.body !== undefined && isBodiless(init.method)) {
      throw new ConfigurationError(`"body" must be left out of a ${init.method} request`);
    }
    const isText = init.body === undefined || typeof init.body === "string";
    const request = isText && !call.isObserved ? { ...init, url } : new call.Request(url, init);
    onBuilt();
    return request;
  }
  OutgoingRequest.prototype = call.Request.prototype; // for `instanceof`
  return OutgoingRequest as unknown as typeof Request;
}

/**
 * Refuses a URL outside the base URL's origin, or with a path that could be read as another one.
 */
function checkUrl(url: string, { baseUrl }: Call): void {
  const isBelow = url.startsWith(baseUrl);
  if (!isBelow && new URL(url).origin !== new URL(baseUrl).origin) {
    throw new ConfigurationError('A request must not leave the origin of "baseUrl"');
  }
  checkPath("path", (isBelow ? url.slice(baseUrl.length) : url).replace(/[?#].*/s, ""));
}

/** Converts a request into parts that can be sent more than once, and adds the key. */
async function toSendable(
  request: Request,
  call: Call,
): Promise<Pick<Outgoing, "input" | "init" | "custom">> {
  const isRecord: boolean = typeof request.arrayBuffer !== "function";
  const headers = isRecord ? request.headers : new Headers(request.headers);
  if (call.isJson && !headers.has("content-type")) headers.set("content-type", "application/json");
  headers.delete(apiKeyHeader);
  if (call.key !== undefined) headers.set(apiKeyHeader, call.key);
  if (isRecord) {
    const { url: input, ...init } = request as unknown as RequestInit & {
      url: string;
      method: string;
    };
    return { input, init: { ...init, headers }, custom: init as Record<string, unknown> };
  }
  const { method } = request;
  const body = isBodiless(method) ? undefined : await readRequestBody(request, call);
  return {
    input: request,
    init: { method, headers, ...body && { body } },
    custom: { ...request } as unknown as Record<string, unknown>,
  };
}

/** Reads the body of a request, which may be a stream that fails or never ends. */
async function readRequestBody(request: Request, call: Call): Promise<BodyInit | undefined> {
  const body = await inTime(call, async () => {
    try {
      return await request.arrayBuffer();
    } catch (error) {
      const cause = call.secrets.reason(error);
      throw new ConfigurationError(`"body" cannot be read: ${cause.message}`, { cause });
    }
  });
  return request.bodyUsed ? body : undefined; // unused: there was none
}

/** Sends a request until it succeeds or may not be retried; resolves to the last response. */
async function send(outgoing: Outgoing): Promise<Received> {
  const { clock, onRetry, retries, signals, init: { method } } = outgoing;
  for (let attempt = 1;; attempt++) {
    let received: Received | undefined;
    let error: unknown;
    try {
      received = await inTime(outgoing, (signal) => exchange(outgoing, signal));
      if (received.response.ok) return received;
    } catch (thrown) {
      const mayPass = thrown instanceof NetworkError || thrown instanceof TimeoutError;
      if (signals.some(({ aborted }) => aborted) || !mayPass) throw thrown;
      error = thrown;
    }
    const { status, headers } = received?.response ?? {};
    const retryAfter = parseRetryAfter(headers?.get("retry-after"), Date.now());
    const idempotent = outgoing.isIdempotent(method);
    const delay = retryDelay({ attempt, retries, idempotent, status, retryAfter }, clock.random());
    if (delay === undefined && received) return received;
    if (delay === undefined) throw error;
    if (onRetry) {
      if (received) error = httpError(outgoing, received.response, decode(received.body));
      const event = { attempt, delay, error: error as ScamAddressError };
      await abortable(signals, async () => await onRetry(event));
    }
    await clock.sleep(delay, signals);
  }
}

/** Sends a request once, and reads the whole response. */
async function exchange(outgoing: Outgoing, signal: AbortSignal): Promise<Received> {
  let response: Response;
  let head: Head;
  try {
    response = await startFetch(outgoing, signal);
    head = readHead(response);
  } catch (error) {
    throw new Failure("got no response", error);
  }
  refuseRedirect(head, outgoing);
  const body = await readBody(response, head, outgoing, signal);
  const isUnseen = head.ok && head === response && !outgoing.isObserved;
  return { response: isUnseen ? response : rebuild(head, body), body };
}

/** Reads the body of a response that middleware made. */
export function readMiddlewareBody(response: Response, call: Call): Promise<BufferSource> {
  return inTime(call, (signal) => readBody(response, response, call, signal));
}

/** Calls fetch: the global one, looked up now, or a custom one with a `Request`. */
function startFetch(outgoing: Outgoing, signal: AbortSignal): Promise<Response> {
  const { fetch, input, custom, extension } = outgoing;
  const init: RequestInit = { ...outgoing.init, redirect: "manual", signal };
  if (!fetch) return globalThis.fetch(input, extension ? { ...extension, ...init } : init);
  const request = new outgoing.Request(input, init);
  for (const [name, value] of Object.entries(custom)) {
    if (!(name in request)) Object.assign(request, { [name]: value });
  }
  return (fetch as typeof globalThis.fetch)(request, extension);
}
