/**
 * Serves the sandbox over HTTP, on Node.js, Deno and Bun, for programs that cannot use its `fetch`:
 * other processes, other languages, a web page in development.
 *
 * Every response allows every origin and exposes all headers (CORS). The response to a preflight has
 * `Access-Control-Allow-Private-Network: true` when the preflight asks for it, which browsers do for
 * a page of a public network that calls a server in a private one.
 *
 * In addition to the sandbox's own statuses, the server responds with 400 to a request that cannot
 * be read, with 413 to a request body of more than 10 MiB, and with 500 when a route throws.
 *
 * @example Check a key over HTTP
 * ```ts
 * import { createClient } from "@scam-address/client";
 * import { serveSandbox } from "@scam-address/client/sandbox/server";
 *
 * await using server = await serveSandbox();
 * const client = createClient({ baseUrl: server.url });
 * console.log(await client.checkKey("demo-key")); // { apiKeyValid: true, data: { credits: 100 } }
 * ```
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { checkType, readNumber, wrong } from "../checks.ts";
import { ConfigurationError } from "../errors.ts";
import { apiKeyHeader } from "../generated/operations.ts";
import { createSandbox, type Sandbox } from "./service.ts";

export type { Sandbox };

/** Describes a response, for {@linkcode ServeSandboxOptions.onResponse}. */
export interface SandboxResponse {
  /** The method of the request. */
  readonly method: string;
  /**
   * The path of the request, without the query. `[redacted]` replaces each segment that contains a
   * valid key or the key of the request, also percent-encoded or form-encoded, or the whole path
   * when a key spans segments.
   */
  readonly path: string;
  /** The status of the response. */
  readonly status: number;
  /** The error that a route threw, which made the status 500. It is not sent to the client. */
  readonly error?: unknown;
}

/** Options of {@linkcode serveSandbox}: where it listens, and how it logs. */
export interface ServeSandboxOptions {
  /**
   * The name or address of the network interface to listen on; `"0.0.0.0"` is all of them.
   *
   * @default {"127.0.0.1"}
   */
  host?: string | undefined;
  /**
   * The port to listen on, from 0 to 65 535; 0 is any free port.
   *
   * @default {0}
   */
  port?: number | undefined;
  /**
   * Called once for each response, for logs. An error that it throws is not caught.
   */
  onResponse?: ((response: SandboxResponse) => void) | undefined;
}

/** A sandbox that is being served. */
export interface SandboxServer {
  /** The address to use as `baseUrl`, such as `"http://127.0.0.1:49152/"`. */
  readonly url: string;
  /** Stops the server and closes all connections. Later calls do nothing more. */
  close(): Promise<void>;
  /** Closes the server at the end of an `await using` declaration's scope. */
  [Symbol.asyncDispose](): Promise<void>;
}

const MAX_BODY_BYTES = 10 * 2 ** 20;

/** The reason with which a request's signal is aborted. */
const TOO_LARGE = new Error("The request body has more than 10 MiB");

function failure(status: number, error: string): Response {
  return Response.json({ error }, { status });
}

/** Yields the chunks of a body; aborts when it is too large. */
async function* readBody(incoming: IncomingMessage, controller: AbortController) {
  let size = 0;
  // The connection must stay open when the body is not read to its end, or nobody gets the 413.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      controller.abort(TOO_LARGE);
      throw TOO_LARGE;
    }
    yield new Uint8Array(chunk);
  }
}

function toRequest(incoming: IncomingMessage, url: URL, controller: AbortController): Request {
  const { method = "", rawHeaders } = incoming;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index]!, rawHeaders[index + 1]!);
  }
  const init: RequestInit & { duplex?: "half" } = { method, headers, signal: controller.signal };
  if (method !== "GET" && method !== "HEAD") {
    const chunks = readBody(incoming, controller);
    init.duplex = "half";
    init.body = new ReadableStream({
      async pull(stream) {
        const { done, value } = await chunks.next();
        if (done) stream.close();
        else stream.enqueue(value);
      },
    });
  }
  return new Request(url, init);
}

/** Makes the response to a CORS preflight, which allows the request. */
function preflight({ headers }: IncomingMessage): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "Access-Control-Allow-Methods": headers["access-control-request-method"]!,
      "Access-Control-Allow-Headers": String(headers["access-control-request-headers"] ?? "") ||
        `${apiKeyHeader}, Content-Type`,
      ...headers["access-control-request-private-network"] === "true" &&
        { "Access-Control-Allow-Private-Network": "true" },
      "Access-Control-Max-Age": "600",
    },
  });
}

/** Makes the response to a request, with the error that a route threw. */
async function respond(
  sandbox: Sandbox,
  incoming: IncomingMessage,
  url: URL,
  controller: AbortController,
): Promise<{ response: Response; error?: unknown }> {
  const { method, headers } = incoming;
  const tooLarge = { response: failure(413, TOO_LARGE.message) };
  if (Number(headers["content-length"]) > MAX_BODY_BYTES) return tooLarge;
  let request;
  try {
    if (method === "OPTIONS" && headers["access-control-request-method"]) {
      return { response: preflight(incoming) };
    }
    request = toRequest(incoming, url, controller);
  } catch { // such as the method TRACE
    return { response: failure(400, "The request cannot be read") };
  }
  try {
    const response = await sandbox.fetch(request);
    if (response.bodyUsed) throw new TypeError("The body of the route's Response is already used");
    return controller.signal.reason === TOO_LARGE ? tooLarge : { response };
  } catch (error) {
    if (controller.signal.reason === TOO_LARGE) return tooLarge;
    return { response: failure(500, "A route of the sandbox threw an error"), error };
  }
}

/** Sends a response to its last byte. */
async function send(response: Response, outgoing: ServerResponse) {
  outgoing.statusCode = response.status;
  outgoing.statusMessage = response.statusText;
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
  outgoing.setHeader("Access-Control-Allow-Origin", "*");
  outgoing.setHeader("Access-Control-Expose-Headers", "*");
  outgoing.flushHeaders();
  // The types of the web's and of Node's ReadableStream differ.
  const body = response.body as Parameters<typeof Readable.fromWeb>[0] | null;
  await pipeline(body ? Readable.fromWeb(body) : Readable.from([]), outgoing);
}

/** A text as it is, and with every valid escape decoded as Latin-1 and as UTF-8. */
function decodings(text: string): string[] {
  const decode = (_: string, hex: string) => String.fromCharCode(parseInt(hex, 16));
  const bytes = text.replace(/%([0-9a-f]{2})/gi, decode);
  return [text, bytes, Buffer.from(bytes, "latin1").toString()];
}

/** Replaces the segments of a path that contain a key, or the path when a key spans segments. */
function redactPath(path: string, keys: string[]): string {
  const redact = (text: string) => {
    const forms = [...decodings(text), ...decodings(text.replaceAll("+", " "))];
    return keys.some((key) => forms.some((form) => form.includes(key))) ? "[redacted]" : text;
  };
  const redacted = path.slice(1).split("/").map(redact).join("/");
  return `/${redact(redacted)}`;
}

/** Handles a request, up to the last byte of the response. */
async function handle(
  sandbox: Sandbox,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  url: URL,
  onResponse: ServeSandboxOptions["onResponse"],
) {
  const controller = new AbortController();
  outgoing.on("close", () => outgoing.writableFinished || controller.abort());
  const { response, ...thrown } = await respond(sandbox, incoming, url, controller);
  if (!incoming.socket.destroyed) {
    const sent = String(incoming.headers[apiKeyHeader.toLowerCase()] ?? "");
    const keys = [...sandbox.keys.keys(), ...sent.split(",").map((key) => key.trim())];
    const path = redactPath(url.pathname, keys.filter(Boolean));
    onResponse?.({ method: incoming.method!, path, status: response.status, ...thrown });
  }
  // It fails when the client disconnects, when the body fails, and for `Response.error()`.
  await send(response, outgoing).catch(() => outgoing.destroy());
  // What a route has not read of a body would block the next request of the connection.
  incoming.removeAllListeners("readable").resume();
}

/** Checks the arguments of `serveSandbox`. */
function checkArguments(sandbox: unknown, { host, onResponse }: ServeSandboxOptions) {
  const { fetch, keys } = (sandbox ?? {}) as Sandbox;
  if (typeof fetch !== "function" || !(keys instanceof Map)) {
    throw wrong("sandbox", "must be a result of createSandbox()");
  }
  if (host !== undefined && (typeof host !== "string" || !host)) {
    throw wrong("host", "must be a host name or an IP address");
  }
  checkType("onResponse", onResponse, "function");
}

/** Starts to listen; resolves to an address that reaches the server from the same machine. */
async function listen(server: Server, host: string, port: number): Promise<string> {
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const isInUse = code === "EADDRINUSE" && port !== 0;
    throw new ConfigurationError(
      isInUse
        ? `"port" ${port} is in use on "${host}"; choose another one, or 0 for any free port`
        : `The sandbox cannot listen on "host" "${host}" and "port" ${port}: ${message}`,
      { option: isInUse ? "port" : "host" },
    );
  }
  server.on("error", () => {}); // a connection that could not be accepted
  const address = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  const authority = address.includes(":") ? `[${address}]` : address;
  return `http://${authority}:${(server.address() as AddressInfo).port}/`;
}

/**
 * Serves a sandbox over HTTP.
 *
 * Request and response bodies are streamed. The `signal` of the request that a route gets is
 * aborted when the client disconnects. Deno needs `--allow-net` for the host.
 *
 * @example Let a web page in development call an endpoint that fails
 * ```ts
 * import { createSandbox } from "@scam-address/client/sandbox";
 * import { serveSandbox } from "@scam-address/client/sandbox/server";
 *
 * const sandbox = createSandbox({
 *   routes: { "GET report": () => Response.json({ error: "Busy" }, { status: 503 }) },
 * });
 * const server = await serveSandbox(sandbox, {
 *   onResponse: ({ method, path, status }) => console.log(method, path, status),
 * });
 * await fetch(`${server.url}report`, { headers: { "X-API-Key": "demo-key" } })
 *   .then((response) => response.json()); // prints "GET /report 503"
 * await server.close();
 * ```
 *
 * @param sandbox The sandbox; by default one with the key `"demo-key"`.
 * @param options Where to listen, and how to log.
 * @returns The server, once it listens.
 * @throws {ConfigurationError} When an argument is wrong, the port is in use, or the server cannot
 * listen for another reason, which the message names.
 */
export async function serveSandbox(
  sandbox: Sandbox = createSandbox(),
  options: ServeSandboxOptions = {},
): Promise<SandboxServer> {
  checkArguments(sandbox, options);
  const { host = "127.0.0.1", onResponse } = options;
  const port = readNumber("port", options.port);
  const server = createServer((incoming, outgoing) => {
    // The target may also be "*" or an absolute URL; a slash makes a path of it.
    const path = incoming.url!.replace(/^(?!\/)/, "/");
    handle(sandbox, incoming, outgoing, new URL(url.slice(0, -1) + path), onResponse);
  });
  const url = await listen(server, host, port);
  let closed: Promise<void> | undefined;
  const close = () =>
    closed ??= new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url, close, [Symbol.asyncDispose]: close };
}
