import {
  HttpError,
  InvalidResponseError,
  type Issue,
  NetworkError,
  RedirectError,
  TimeoutError,
} from "./errors.ts";
import type { Validator } from "./operation.ts";
import type { CallOptions, ClientOptions } from "./options.ts";
import { parseRetryAfter, retryDelay } from "./retry.ts";
import { redact, redactCause } from "./secrets.ts";

/** How long work may take, and who may end it. */
interface Bounds {
  /** What the work is called in messages. */
  readonly name: string;
  readonly timeout: number;
  readonly signal: CallOptions["signal"];
}

/** What holds for a call, however often it is sent. */
export interface Policy extends Bounds {
  readonly maxResponseBytes: number;
  /** What no error may show. */
  readonly secrets: readonly string[];
}

/** A request that can be sent any number of times. */
interface Sendable extends Policy {
  readonly input: string | Request;
  readonly init: RequestInit;
  readonly idempotent: boolean;
  readonly retries: number;
  readonly fetch: ClientOptions["fetch"];
  readonly onRetry: ClientOptions["onRetry"];
}

/** An answer whose body has been read. */
export interface Received {
  readonly response: Response;
  readonly body: BufferSource;
}

const MAX_ERROR_BODY = 64 * 1024;

const decoder = /* @__PURE__ */ new TextDecoder();

/** Runs work until its time is up or it is aborted, even if the work itself never ends. */
export function bounded<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { name, timeout, signal }: Bounds,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const fail = (reason: unknown) => {
      finish();
      reject(reason);
      controller.abort(reason);
    };
    const onAbort = () => fail(signal!.reason);
    const timer = setTimeout(
      () => fail(new TimeoutError(`"${name}" took more than ${timeout} ms`, { timeout })),
      timeout,
    );
    if (signal?.aborted) return onAbort();
    signal?.addEventListener("abort", onAbort);
    work(controller.signal).then((value) => {
      finish();
      resolve(value);
    }, fail);
  });
}

/** Decodes a body as UTF-8, without a byte-order mark. */
export function decode(body: BufferSource): string {
  return decoder.decode(body);
}

function invalid({ name }: Policy, { status }: Response, issues: Issue[]): Error {
  const list = issues.map(({ path, rule }) => `${path || "body"} (${rule})`).join(", ");
  return new InvalidResponseError(`The answer to "${name}" is not valid: ${list}`, {
    status,
    issues,
  });
}

/** Whether the headers of a success bound its body, which the runtime's own fetch holds them to. */
function isShort({ ok, type, headers }: Response, limit: number): boolean {
  return ok && type === "basic" && // which hides no header
    !headers.has("content-encoding") && !headers.has("transfer-encoding") &&
    Number(headers.get("content-length") || Infinity) <= limit;
}

/**
 * Reads the body of a response, no further than the limit.
 *
 * Of an answer with an error status it keeps what has come, also when the rest is too large or does
 * not come, because the status says more. `native` says that the runtime's own fetch has the signal,
 * which alone can stop the fastest way to read.
 */
export async function read(
  response: Response,
  policy: Policy,
  signal: AbortSignal,
  native = false,
): Promise<BufferSource> {
  let body = new Uint8Array(); // one buffer that grows, as millions of tiny chunks would fill memory
  let size = 0;
  try {
    if (native && isShort(response, policy.maxResponseBytes)) return await response.arrayBuffer();
    const reader = response.body?.getReader();
    const cancel = () => void reader?.cancel().catch(() => {});
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel); // a fetch of the caller's own may ignore it
    for (let chunk; (chunk = (await reader?.read())?.value);) {
      const end = size + chunk.byteLength;
      if (!(end <= policy.maxResponseBytes)) { // also when the chunk is not of bytes
        cancel();
        if (!response.ok) break;
        throw invalid(policy, response, [{ path: "", rule: "maxResponseBytes" }]);
      }
      if (end > body.length) {
        const larger = new Uint8Array(end + size);
        larger.set(body);
        body = larger;
      }
      body.set(new Uint8Array(chunk), size);
      size = end;
    }
  } catch (error) {
    if (error instanceof InvalidResponseError) throw error;
    if (response.ok) {
      const cause = redactCause(error, policy.secrets);
      throw new NetworkError(`The answer to "${policy.name}" broke off`, {}, { cause });
    }
  }
  return body.subarray(0, size);
}

/** Makes a response whose body can be read again. */
export function rebuild({ response, body }: Received): Response {
  const { headers, status, statusText, url } = response;
  const copy = new Response(body.byteLength ? body : null, { headers, status });
  return Object.defineProperties(copy, { statusText: { value: statusText }, url: { value: url } });
}

/** Parses the body of a success as JSON and checks it against its schema, if there is one. */
export function readJson(
  { response, body }: Received,
  policy: Policy,
  validate: Validator | undefined,
): unknown {
  if (!body.byteLength && !validate) return undefined;
  let value: unknown;
  let issues: Issue[] | undefined = [{ path: "", rule: body.byteLength ? "json" : "empty" }];
  try {
    value = JSON.parse(decode(body));
    issues = validate?.(value);
  } catch { /* The issue stands above. */ }
  if (issues) throw invalid(policy, response, issues);
  return value;
}

/** Sends a request once. */
async function exchange(request: Sendable, signal: AbortSignal): Promise<Received> {
  const { name, input, fetch, secrets } = request;
  const init: RequestInit = { ...request.init, redirect: "manual", signal };
  let response: Response;
  try {
    response = await (fetch ? fetch(new Request(input, init)) : globalThis.fetch(input, init));
    if (response.type === "error" || !response.headers) throw new TypeError("Network error");
  } catch (error) {
    const cause = redactCause(error, secrets);
    throw new NetworkError(`"${name}" got no answer`, {}, { cause });
  }
  const { status, type, headers } = response;
  if (type === "opaqueredirect" || (status >= 300 && status < 400)) {
    const location = headers.get("location");
    throw new RedirectError(`"${name}" was redirected, which is not followed`, {
      status,
      ...location !== null && { location: redact(location, secrets) },
    });
  }
  return { response, body: await read(response, request, signal, !fetch) };
}

/** Parses the body of an error status, or leaves it as text. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Makes the error for a status outside 2xx and 3xx. */
export function httpError(
  { name, secrets }: Policy,
  { response, body: bytes }: Received,
): HttpError {
  const { status } = response;
  const headers = new Headers();
  response.headers.forEach((value, name) => headers.append(name, redact(value, secrets)));
  const text = redact(decode(bytes), secrets);
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_ERROR_BODY));
  let body: unknown = text.slice(0, read);
  if (body === text) {
    try {
      const json = JSON.stringify(JSON.parse(text)); // which can write a character in many ways
      body = JSON.parse(redact(json, secrets));
    } catch { /* Text, then: no JSON, too deep, or no JSON without a secret. */ }
  }
  const retryAfter = parseRetryAfter(headers.get("retry-after"), Date.now());
  return new HttpError(`"${name}" was answered with status ${status}`, {
    status,
    headers,
    body,
    ...retryAfter !== undefined && { retryAfter },
  });
}

/** Sends a request as often as the rules for retries allow, and hands back the last answer. */
export async function send(request: Sendable): Promise<Received> {
  const { name, onRetry, signal } = request;
  for (let attempt = 1;; attempt++) {
    let received: Received | undefined;
    let error!: NetworkError | TimeoutError;
    try {
      received = await bounded((signal) => exchange(request, signal), request);
      if (received.response.ok) return received;
    } catch (thrown) {
      if (
        signal?.aborted || !(thrown instanceof NetworkError || thrown instanceof TimeoutError)
      ) throw thrown;
      error = thrown;
    }
    const { status, headers } = received?.response ?? {} as Partial<Response>;
    const retryAfter = parseRetryAfter(headers?.get("retry-after"), Date.now());
    const delay = retryDelay({ ...request, attempt, status, retryAfter }, Math.random());
    if (delay === undefined) {
      if (received) return received;
      throw error;
    }
    onRetry?.({ attempt, delay, error: received ? httpError(request, received) : error });
    await bounded(() => new Promise(() => {}), { name, timeout: delay, signal })
      .catch(() => signal?.throwIfAborted()); // and its time-out is what is waited for
  }
}
