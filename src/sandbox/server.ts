/**
 * Serves the sandbox over HTTP, on Node.js, Deno and Bun, for clients that can't call its `fetch`
 * directly: other processes and other languages.
 *
 * If a route throws, or the request is one that `Request` does not allow, such as a GET request with a
 * body, the response has the status 500 and the error's message.
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
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { arrayBuffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { optionError, type OptionTable, readOptions } from "../options.ts";
import { errorResponse } from "./responses.ts";
import { createSandbox, type Sandbox } from "./service.ts";

export type { Sandbox };

/** Options of {@linkcode serveSandbox}: where it listens. */
export interface ServeSandboxOptions {
  /**
   * The host name or IP address to listen on; `"0.0.0.0"` listens on all interfaces.
   *
   * @default {"127.0.0.1"}
   */
  host?: string | undefined;
  /**
   * The port to listen on, from 0 to 65,535; 0 chooses a free port.
   *
   * @default {0}
   */
  port?: number | undefined;
}

/** A sandbox that is being served. */
export interface SandboxServer {
  /** The address to use as `baseUrl`, such as `"http://127.0.0.1:49152/"`. */
  readonly url: string;
  /** Stops the server and closes all connections. Calling it again has no effect. */
  close(): Promise<void>;
  /** Closes the server at the end of an `await using` declaration's scope. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Receives the body of a request, and makes a `Request` of it. */
async function receiveRequest(incoming: IncomingMessage, origin: string): Promise<Request> {
  const { method = "", url } = incoming;
  const headers = incoming.headers as Record<string, string>;
  const bytes = await arrayBuffer(incoming);
  const body = bytes.byteLength > 0 ? bytes : null; // A GET request must have none.
  return new Request(`${origin}${url}`, { method, headers, body });
}

/** Sends a response, whose body is streamed. */
async function writeResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  if (response.type === "error") throw new Error("The route returned Response.error()");
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
  outgoing.flushHeaders();
  // Not all versions of Node's types know that a web stream can be iterated over.
  await pipeline((response.body ?? []) as Iterable<Uint8Array>, outgoing);
}

/** Returns the host of the server's URL. */
function toUrlHost(host: string): string {
  const name = host.includes(":") ? `[${host}]` : host;
  if (!URL.canParse(`http://${name}`)) {
    throw optionError("host", "must be a host name or an IP address, without a zone");
  }
  return { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" }[name] ?? name;
}

/**
 * Serves a sandbox over HTTP.
 *
 * A route is called once the whole request body has arrived; the response's body is streamed.
 * `Response.error()` closes the connection. On Deno, `--allow-net` is needed for the host.
 *
 * @example Serve an endpoint that fails
 * ```ts
 * import { createSandbox } from "@scam-address/client/sandbox";
 * import { serveSandbox } from "@scam-address/client/sandbox/server";
 *
 * const sandbox = createSandbox({
 *   routes: { "GET report": () => Response.json({ error: "Busy" }, { status: 503 }) },
 * });
 * const server = await serveSandbox(sandbox);
 * const response = await fetch(`${server.url}report`, { headers: { "X-API-Key": "demo-key" } });
 * console.log(response.status, await response.text()); // 503 {"error":"Busy"}
 * await server.close();
 * ```
 *
 * @param sandbox The sandbox, or any object with a `fetch` like a sandbox's; by default, a sandbox with
 * the key `"demo-key"`.
 * @param options Where to listen.
 * @returns The server, once it listens.
 * @throws {ConfigurationError} If an option is wrong, the port is in use, or the server cannot listen
 * for another reason, which the message names.
 */
export async function serveSandbox(
  sandbox: { fetch(request: Request): Promise<Response> } = createSandbox(),
  options: ServeSandboxOptions = {},
): Promise<SandboxServer> {
  const table: OptionTable<ServeSandboxOptions> = { host: null, port: [0, 65_535] };
  const { host = "127.0.0.1", port = 0 } = readOptions(options, "serveSandbox()", table);
  const urlHost = toUrlHost(host);
  const server = createServer().listen(port, host);
  await once(server, "listening").catch(({ code, message }) => {
    if (port === 0 || code !== "EADDRINUSE") {
      throw optionError("host", `cannot be listened on: ${message}`);
    }
    const advice = "use another one, or 0 for any free one";
    throw optionError("port", `${port} is in use on "${host}"; ${advice}`);
  });
  server.on("error", () => {}); // A connection could not be accepted.
  const origin = `http://${urlHost}:${(server.address() as AddressInfo).port}`;
  const respond = async (incoming: IncomingMessage) => {
    const response = await sandbox.fetch(await receiveRequest(incoming, origin));
    if (response.bodyUsed) throw new TypeError("The body of the route's Response is already used");
    return response;
  };
  server.on("request", async (incoming, outgoing) => {
    const response = await respond(incoming)
      .catch((error) => errorResponse(500, `The sandbox failed: ${error}`))
      // Not everything that can be thrown can be written as text: a symbol cannot.
      .catch(() => errorResponse(500, "The sandbox failed: what was thrown is no error"));
    // It fails when the client disconnects, or the body fails.
    await writeResponse(response, outgoing).catch(() => outgoing.destroy());
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `${origin}/`, close, [Symbol.asyncDispose]: close };
}
