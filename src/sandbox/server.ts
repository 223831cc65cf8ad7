/**
 * Serves the sandbox over HTTP, on Node.js, Deno and Bun, for clients that can't call its `fetch`
 * directly: other processes and other languages.
 *
 * If the request is one that `Request` does not allow, such as a GET request with a body, the response
 * has the status 501 and the error's message, as if a route had thrown it.
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
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { arrayBuffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { optionError } from "../http/failures.ts";
import { type OptionTable, readOptions } from "../options.ts";
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
  const bytes = await arrayBuffer(incoming);
  const { method = "", url } = incoming;
  const headers = incoming.headers as Record<string, string>;
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

/** What only Deno has. Declared here, because Node's types lack it. */
declare const Deno: undefined | {
  permissions: { request(descriptor: object): Promise<{ state: string }> };
};

/** Asks Deno for a permission without which `listen` throws where nobody can catch it. */
async function requestPermission(host: string): Promise<void> {
  if (typeof Deno === "undefined") return;
  const { state } = await Deno.permissions.request({ name: "net", host });
  if (state !== "granted") throw new Error(`Deno needs "--allow-net" for ${host}`);
}

/** Writes a host as URLs have it. */
const toUrlHost = (host: string) => host.includes(":") ? `[${host}]` : host;

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
  const { host = "127.0.0.1", port = 0 } = readOptions(options, "serveSandbox", table);
  if (!URL.canParse(`http://${toUrlHost(host)}`)) {
    throw optionError("host", "must be a host name or an IP address, without a zone");
  }
  const server = createServer();
  try {
    const { address } = await lookup(host);
    await requestPermission(`${toUrlHost(address)}:${port}`);
    await once(server.listen(port, address), "listening");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const option = code === "EADDRINUSE" ? "port" : "host";
    throw optionError(option, `cannot be listened on: ${message}`);
  }
  server.on("error", () => {}); // A connection could not be accepted.
  const urlHost = toUrlHost({ "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host);
  const origin = `http://${urlHost}:${(server.address() as AddressInfo).port}`;
  server.on("request", (incoming, outgoing) => {
    receiveRequest(incoming, origin)
      .then((request) => sandbox.fetch(request))
      .catch((error) => Response.json({ error: String(error) }, { status: 501 }))
      .then((response) => writeResponse(response, outgoing))
      .catch(() => outgoing.destroy()); // The client has disconnected, or the body failed.
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `${origin}/`, close, [Symbol.asyncDispose]: close };
}
