import {
  HttpError,
  InvalidResponseError,
  NetworkError,
  RedirectError,
  TimeoutError,
} from "./errors.ts";
import type { Issue, Validator } from "./generated/validators.ts";
import type { CallOptions, ClientOptions } from "./options.ts";
import { parseRetryAfter, retryDelay } from "./retry.ts";
import { redactCause, redactJson, redactText } from "./secrets.ts";

/** How long work may take, and who may end it. */
interface Bounds {
  /** What the work is called in messages. */
  readonly name: string;
  readonly timeout: number;
  readonly signal: CallOptions["signal"];
}

/** How a request is sent. */
export interface Policy extends Bounds {
  readonly idempotent: boolean;
  readonly retries: number;
  readonly maxResponseBytes: number;
  readonly fetch: ClientOptions["fetch"];
  readonly onRetry: ClientOptions["onRetry"];
  /** What no error may show. */
  readonly secrets: readonly string[];
}

/** A request that can be sent any number of times. */
interface Outgoing extends Policy {
  readonly input: string | Request;
  readonly init: RequestInit;
}

/** An answer whose body has been read. */
export interface Received {
  readonly response: Response;
  readonly body: BufferSource;
}

const MAX_ERROR_BODY = 64 * 1024;

const decoder = /* @__PURE__ */ new TextDecoder();

/** Decodes a body as UTF-8, without a byte-order mark. */
export function decode(body: BufferSource): string {
  return decoder.decode(body);
}

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
      () => fail(new TimeoutError(`"${name}" took more than ${timeout} ms`, timeout)),
      timeout,
    );
    signal?.addEventListener("abort", onAbort);
    work(controller.signal).then((value) => {
      finish();
      resolve(value);
    }, fail);
  });
}

/**
 * Reads the body of a response, no further than the limit.
 *
 * Of an answer with an error status it keeps what has come, also when the rest is too large or does
 * not come, because the status says more.
 */
export async function read(
  response: Response,
  { name, maxResponseBytes, secrets }: Policy,
  signal: AbortSignal,
): Promise<BufferSource> {
  const { ok, status } = response;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    const reader = response.body?.getReader();
    const cancel = () => void reader?.cancel().catch(() => {});
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel); // a fetch that is not the platform's may ignore it
    for (let chunk; (chunk = (await reader?.read())?.value);) {
      size += chunk.byteLength;
      if (size > maxResponseBytes) {
        cancel();
        if (ok) {
          const issue = { path: "", rule: "maxResponseBytes" };
          throw new InvalidResponseError(
            `The answer to "${name}" is larger than ${maxResponseBytes} bytes`,
            status,
            [issue],
          );
        }
        size -= chunk.byteLength;
        break;
      }
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof InvalidResponseError) throw cause;
    if (ok) {
      throw new NetworkError(`The answer to "${name}" broke off`, {
        cause: redactCause(cause, secrets),
      });
    }
  }
  if (chunks.length === 1) return chunks[0] as BufferSource;
  const body = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return body;
}

/** Makes a response whose body can be read again. */
export function rebuild({ response, body }: Received): Response {
  const copy = new Response(body.byteLength ? body : null, response);
  return Object.defineProperty(copy, "url", { value: response.url });
}

/** Parses the body of a success as JSON and checks it against its schema, if there is one. */
export function readJson(
  { response, body }: Received,
  { name, secrets }: Policy,
  validate: Validator | undefined,
): unknown {
  if (!body.byteLength && !validate) return undefined;
  let value: unknown;
  let issues: Issue[] | undefined = [{ path: "", rule: body.byteLength ? "json" : "empty" }];
  try {
    value = JSON.parse(decode(body));
    issues = validate?.(value);
  } catch { /* The issue stands above. */ }
  if (!issues) return value;
  const redacted = issues.map(({ path, rule }) => ({ path: redactText(path, secrets), rule }));
  throw new InvalidResponseError(
    `The answer to "${name}" is not valid: ${
      redacted.map(({ path, rule }) => `${path || "body"} (${rule})`).join(", ")
    }`,
    response.status,
    redacted,
  );
}

/** Sends a request once. */
async function exchange(request: Outgoing, signal: AbortSignal): Promise<Received> {
  const { name, input, fetch, secrets } = request;
  const init: RequestInit = { ...request.init, redirect: "manual", signal };
  let response: Response;
  try {
    response = await (fetch ? fetch(new Request(input, init)) : globalThis.fetch(input, init));
    if (response.type === "error") throw new TypeError("Network error");
  } catch (cause) {
    throw new NetworkError(`"${name}" got no answer`, { cause: redactCause(cause, secrets) });
  }
  const { status, type } = response;
  if (type === "opaqueredirect" || (status >= 300 && status < 400)) {
    void response.body?.cancel().catch(() => {});
    const location = response.headers.get("location");
    throw new RedirectError(
      `"${name}" was redirected, which is not followed`,
      status,
      location === null ? undefined : redactText(location, secrets),
    );
  }
  return { response, body: await read(response, request, signal) };
}

/** Milliseconds that the service asks to wait. */
function retryAfter({ headers }: Response): number | undefined {
  return parseRetryAfter(headers.get("retry-after"), Date.now());
}

/** Makes the error for a status outside 2xx and 3xx. */
export function httpError(
  { name, secrets }: Policy,
  response: Response,
  text: string,
): HttpError {
  const { status } = response;
  const headers = new Headers();
  response.headers.forEach((value, name) => headers.append(name, redactText(value, secrets)));
  const safe = redactText(text, secrets);
  const { read } = new TextEncoder().encodeInto(safe, new Uint8Array(MAX_ERROR_BODY));
  let body: unknown = safe.slice(0, read);
  if (body === safe) {
    try {
      body = redactJson(JSON.parse(text), secrets);
    } catch { /* Text, then. */ }
  }
  const delay = retryAfter(response);
  return new HttpError(`"${name}" was answered with status ${status}`, {
    status,
    headers,
    body,
    retryAfter: delay === undefined ? delay : delay / 1_000,
  });
}

/** Waits, unless it is aborted. */
function wait(delay: number, signal: CallOptions["signal"]): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, delay);
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Sends a request as often as the rules for retries allow, and hands back the last answer. */
export async function send(request: Outgoing): Promise<Received> {
  const { idempotent, onRetry, retries, signal } = request;
  for (let attempt = 1;; attempt++) {
    signal?.throwIfAborted();
    let received: Received | undefined;
    let error!: NetworkError | TimeoutError;
    try {
      received = await bounded((signal) => exchange(request, signal), request);
      if (received.response.ok) return received;
    } catch (thrown) {
      if (!(thrown instanceof NetworkError || thrown instanceof TimeoutError)) throw thrown;
      error = thrown;
    }
    const response = received?.response;
    const delay = retryDelay({
      attempt,
      retries,
      idempotent,
      status: response?.status,
      retryAfter: response && retryAfter(response),
    }, Math.random());
    if (delay === undefined) {
      if (received) return received;
      throw error;
    }
    onRetry?.({
      attempt,
      delay,
      error: received ? httpError(request, response!, decode(received.body)) : error,
    });
    await wait(delay, signal);
  }
}
