/**
 * Serves the sandbox over HTTP, on Node.js, Deno and Bun, for programs that cannot use its `fetch`:
 * other processes and other languages. Responses have no CORS headers.
 *
 * In addition to the sandbox's own statuses, the server responds with 400 to a request that cannot
 * be read, and with 500 when a route throws.
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
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  checkFunction,
  checkNumber,
  type OptionChecks,
  optionError,
  readOptions,
} from "../checks.ts";
import { errorResponse } from "./responses.ts";
import { createSandbox, type Sandbox } from "./service.ts";

export type { Sandbox };

/** A response that was sent, for {@linkcode ServeSandboxOptions.onResponse}. */
export interface SandboxResponse {
  /** The method of the request. */
  readonly method: string;
  /** The path of the request, without the query. */
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
   * The port to listen on, from 0 to 65,535; 0 is any free port.
   *
   * @default {0}
   */
  port?: number | undefined;
  /**
   * Called once for each response, for logs, unless the client has disconnected. An error that it
   * throws is not caught.
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

const SERVE_CHECKS: OptionChecks<ServeSandboxOptions> = {
  host: null,
  port: checkNumber,
  onResponse: checkFunction,
};

/** Makes the request for the sandbox; returns a response instead to what no `Request` can have. */
async function readRequest(incoming: IncomingMessage, url: URL, signal: AbortSignal) {
  const { method = "", headers } = incoming;
  try {
    const chunks: BlobPart[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = chunks.length > 0 ? new Blob(chunks) : null;
    return new Request(url, { method, headers: headers as Record<string, string>, body, signal });
  } catch { // such as the method TRACE, or a GET request with a body
    return errorResponse(400, "The request cannot be read");
  }
}

/** Calls a route; returns its response, or the status 500 with the error that it threw. */
async function respond(call: () => Response | Promise<Response>) {
  try {
    const response = await call();
    if (response.bodyUsed) throw new TypeError("The body of the route's Response is already used");
    return { response };
  } catch (error) {
    return { response: errorResponse(500, "A route of the sandbox threw an error"), error };
  }
}

/** Sends a response to its last byte. */
async function writeResponse(response: Response, outgoing: ServerResponse) {
  outgoing.statusCode = response.status;
  outgoing.statusMessage = response.statusText;
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
  outgoing.flushHeaders();
  // The types of the web's and of Node's ReadableStream differ.
  const body = response.body as Parameters<typeof Readable.fromWeb>[0] | null;
  await pipeline(body ? Readable.fromWeb(body) : Readable.from([]), outgoing);
}

/** Writes a host as URLs do, with brackets around IPv6; throws when a URL cannot have it. */
function toUrlHost(host: unknown): string {
  const authority = String(host).includes(":") ? `[${host}]` : String(host);
  if (typeof host === "string" && URL.canParse(`http://${authority}`)) return authority;
  throw optionError("host", "must be a host name or an IP address, without a zone");
}

/** The part of Deno that is used, where there is one. */
declare const Deno: { permissions: { request(net: object): Promise<{ state: string }> } };

/** Starts to listen. */
async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    const { address } = await lookup(host);
    // Without the permission, Deno's `listen` throws an error that nobody can catch (Deno 2.9.6).
    if (typeof Deno !== "undefined") {
      const net = { name: "net", host: `${toUrlHost(address)}:${port}` };
      const { state } = await Deno.permissions.request(net);
      const flag = "run again with the --allow-net flag";
      if (state !== "granted") throw new Error(`Requires net access to "${net.host}", ${flag}`);
    }
    server.listen(port, address);
    await once(server, "listening");
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code !== "EADDRINUSE") {
      throw optionError("host", `"${host}" cannot be listened on: ${message}`);
    }
    const advice = "choose another one, or 0 for any free port";
    throw optionError("port", `${port} is in use on "${host}"; ${advice}`);
  }
  server.on("error", () => {}); // a connection that could not be accepted
}

/**
 * Serves a sandbox over HTTP.
 *
 * A route is called when the request's body is complete; the response's body is streamed. The
 * `signal` of the request is aborted when the client disconnects. Deno needs `--allow-net` for the
 * host.
 *
 * @example Serve an endpoint that fails
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
 * @param sandbox The sandbox, or anything with such a `fetch`; by default one with the key
 * `"demo-key"`.
 * @param options Where to listen, and how to log.
 * @returns The server, once it listens.
 * @throws {ConfigurationError} When an argument is wrong, the port is in use, or the server cannot
 * listen for another reason, which the message names.
 */
export async function serveSandbox(
  sandbox: { fetch(request: Request): Promise<Response> } = createSandbox(),
  options: ServeSandboxOptions = {},
): Promise<SandboxServer> {
  const given = readOptions(options, SERVE_CHECKS, "serveSandbox()");
  const { host = "127.0.0.1", onResponse, port = 0 } = given;
  if (typeof sandbox?.fetch !== "function") {
    throw optionError("sandbox", "must be a result of createSandbox()");
  }
  const authority = toUrlHost(host);

  const server = createServer();
  await listen(server, host, port);
  const reachable = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" }[authority] ?? authority;
  const url = `http://${reachable}:${(server.address() as AddressInfo).port}/`;
  server.on("request", async (incoming, outgoing) => {
    const controller = new AbortController();
    outgoing.on("close", () => outgoing.writableFinished || controller.abort());
    // The target may also be "*" or an absolute URL; a slash makes a path of it.
    const target = new URL(url.slice(0, -1) + incoming.url!.replace(/^(?!\/)/, "/"));
    const received = await readRequest(incoming, target, controller.signal);
    const { response, ...thrown } = await respond(() =>
      received instanceof Response ? received : sandbox.fetch(received)
    );
    const report = { method: incoming.method!, path: target.pathname, status: response.status };
    if (!incoming.socket.destroyed) onResponse?.({ ...report, ...thrown });
    // It fails when the client disconnects, when the body fails, and for `Response.error()`.
    await writeResponse(response, outgoing).catch(() => outgoing.destroy());
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url, close, [Symbol.asyncDispose]: close };
}
