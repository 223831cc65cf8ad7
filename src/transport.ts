import type { Call } from "./call.ts";
import { checkPath } from "./checks.ts";
import { ConfigurationError, NetworkError, TimeoutError } from "./errors.ts";
import { apiKeyHeader } from "./generated/operations.ts";
import { isBodiless } from "./request.ts";
import {
  decode,
  type Head,
  httpError,
  invalidResponse,
  readBody,
  readHead,
  rebuild,
  type Received,
  refuseRedirect,
} from "./response.ts";
import { parseRetryAfter, retryDelay } from "./retry.ts";
import { abortable, withTimeout } from "./time.ts";

/** What openapi-fetch is given for a call in place of `Request` and `fetch`. */
export interface Transport {
  readonly Request: typeof Request;
  readonly fetch: (request: Request, extension?: RequestInit) => Promise<Response>;
  /** Whether openapi-fetch has built the request; what it throws after that is middleware's. */
  isBuilt: boolean;
  /** The last response, unless middleware responded instead. */
  received?: Received;
}

/** A request that can be sent any number of times. */
interface Outgoing extends Call {
  readonly input: string | Request;
  readonly init: RequestInit & { readonly method: string };
  /** Properties that the caller added to the request. */
  readonly custom: Record<string, unknown>;
  readonly extension: RequestInit | undefined;
}

/** Why there is no response. */
class Failure {
  constructor(readonly what: string, readonly cause: unknown) {}
}

/** Makes the transport of a call: it adds the key, sends, repeats, and reads the response. */
export function createTransport(call: Call): Transport {
  const transport: Transport = {
    Request: createRequestClass(call, () => transport.isBuilt = true),
    isBuilt: false,
    async fetch(request, extension) {
      checkUrl(request.url, call);
      const sendable = await toSendable(request, call);
      // Middleware may have made the request with a signal of its own.
      const signals = call.isObserved ? [...call.signals, request.signal] : call.signals;
      try {
        transport.received = await send({ ...call, ...sendable, extension, signals });
      } catch (error) {
        throw error || new DOMException("The call was aborted", "AbortError"); // see dispatch()
      }
      return transport.received.response;
    },
  };
  return transport;
}

/**
 * Makes what openapi-fetch constructs in place of a `Request`: a plain record of the same members,
 * which costs less, where nobody sees it and its body is a text.
 */
function createRequestClass(call: Call, onBuilt: () => void): typeof Request {
  function OutgoingRequest(url: string, init: RequestInit & { method: string }): object {
    checkUrl(url, call);
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

/** Refuses an address outside the base URL's origin, or one that is not what it seems. */
function checkUrl(url: string, { baseUrl }: Call): void {
  const isBelow = url.startsWith(baseUrl);
  if (!isBelow && new URL(url).origin !== new URL(baseUrl).origin) {
    throw new ConfigurationError('A request must stay at the origin of "baseUrl"');
  }
  checkPath("path", (isBelow ? url.slice(baseUrl.length) : url).replace(/[?#].*/s, ""));
}

/** Reads of a request what can be sent any number of times, and adds the key. */
async function toSendable(
  request: Request,
  call: Call,
): Promise<Pick<Outgoing, "input" | "init" | "custom">> {
  const isRecord: boolean = !(request instanceof call.Request);
  const headers = isRecord ? request.headers : new Headers(request.headers);
  if (call.isJson && !headers.has("content-type")) headers.set("content-type", "application/json");
  headers.delete(apiKeyHeader);
  if (call.apiKey !== undefined) headers.set(apiKeyHeader, call.apiKey);
  if (isRecord) {
    const { url: input, ...init } = request as unknown as RequestInit & {
      url: string;
      method: string;
    };
    return { input, init: { ...init, headers }, custom: init as Record<string, unknown> };
  }
  const { method } = request;
  const body = isBodiless(method) ? undefined : await request.arrayBuffer();
  return {
    input: request,
    init: { method, headers, ...request.bodyUsed ? { body: body! } : {} }, // unused: it had none
    custom: { ...request } as unknown as Record<string, unknown>,
  };
}

/** Sends a request as often as the rules for retries allow, and returns the last response. */
async function send(outgoing: Outgoing): Promise<Received> {
  const { clock, signals, init: { method } } = outgoing;
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
    const delay = retryDelay({
      attempt,
      retries: outgoing.retries,
      idempotent: outgoing.isIdempotent(method),
      status: received?.response.status,
      retryAfter: parseRetryAfter(received?.response.headers.get("retry-after"), Date.now()),
    }, clock.random());
    if (delay === undefined) {
      if (received) return received;
      throw error;
    }
    await announceRetry(outgoing, attempt, delay, received ?? error as NetworkError);
    await clock.sleep(delay, signals);
  }
}

/** Calls `onRetry` and waits for its promise, unless the call is aborted. */
async function announceRetry(
  outgoing: Outgoing,
  attempt: number,
  delay: number,
  failure: Received | NetworkError | TimeoutError,
): Promise<void> {
  const { onRetry, signals } = outgoing;
  if (!onRetry) return;
  const error = failure instanceof Error
    ? failure
    : httpError(outgoing, failure.response, decode(failure.body));
  await abortable(signals, async () => await onRetry({ attempt, delay, error }));
}

/** Does a part of a call within its time; here, so that the error's stack leads to the caller. */
async function inTime<T>(call: Call, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { secrets, signals, timeout } = call;
  const what = `"${secrets.redact(call.target)}"`;
  try {
    return await withTimeout(work, { what, timeout, signals });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const cause = secrets.reason(error.cause);
    throw new NetworkError(`${what} ${error.what}: ${cause.message}`, { cause });
  }
}

/** Exchanges a request for a response whose body has been read. */
async function exchange(outgoing: Outgoing, signal: AbortSignal): Promise<Received> {
  const { response, head } = await orFail("got no response", async () => {
    const response = await startFetch(outgoing, signal);
    return { response, head: readHead(response) };
  });
  refuseRedirect(head, outgoing);
  const body = await readWhole(response, head, outgoing, signal, !outgoing.fetch);
  const isUnchanged = head.ok && !head.isForeign && !outgoing.isObserved;
  return { response: isUnchanged ? response : rebuild(head, body), body };
}

/** Reads the body of a response, and refuses one that is too large. */
async function readWhole(
  response: Response,
  head: Head,
  call: Call,
  signal: AbortSignal,
  isNative: boolean,
): Promise<Uint8Array<ArrayBuffer>> {
  const { body, isWhole } = await orFail(
    "got a response that broke off",
    () => readBody(response, head, call.maxResponseBytes, signal, isNative),
  );
  if (isWhole || !head.ok) return body;
  throw invalidResponse(call, head.status, [{ path: "", rule: "maxResponseBytes" }]);
}

/** Reads the body of a response that middleware made. */
export function readForeignBody(response: Response, call: Call): Promise<Uint8Array<ArrayBuffer>> {
  return inTime(call, (signal) => readWhole(response, response, call, signal, false));
}

async function orFail<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new Failure(what, cause);
  }
}

/** Calls fetch: the global one as it is now, or the caller's own with a `Request`. */
function startFetch(outgoing: Outgoing, signal: AbortSignal): Promise<Response> {
  const { fetch, input, custom, extension } = outgoing;
  const init: RequestInit = { ...outgoing.init, redirect: "manual", signal };
  if (!fetch) return globalThis.fetch(input, extension ? { ...init, ...extension } : init);
  const request = new outgoing.Request(input, init);
  for (const [name, value] of Object.entries(custom)) {
    if (!(name in request)) Object.assign(request, { [name]: value });
  }
  return (fetch as typeof globalThis.fetch)(request, extension);
}
