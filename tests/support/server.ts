// Real servers on loopback, and what they respond with.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from "node:net";
import { clearTimeout, setTimeout } from "node:timers"; // No test replaces these.

import type { Method, ValidKey } from "../../mod.ts";
import { createSandbox, DEMO_KEY } from "../../src/sandbox/service.ts";

/** A request as it arrived. */
export interface Recorded {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent. */
  rawHeaders: string[];
  body: string;
}

/** A real server on loopback. */
interface TestServer extends AsyncDisposable {
  /** The address, with a slash at its end. */
  url: string;
  /** The connections that are open now. */
  sockets: Set<Socket>;
}

/** A server that keeps what it received. */
export interface HttpServer extends TestServer {
  /** What has arrived, in order. */
  requests: Recorded[];
}

/** Responds to a request, given its number counted from 1. */
export type Responder = (
  request: Recorded,
  response: ServerResponse,
  count: number,
) => void | Promise<void>;

/** How long a server runs, in milliseconds, so that no test waits for it without an end. */
const LIMIT = 60_000;

/** Starts a server on an ephemeral port. */
export async function listen(server: Server, scheme = "http", limit = LIMIT): Promise<TestServer> {
  const sockets = new Set<Socket>();
  const close = () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    return closed;
  };
  const timer = setTimeout(close, limit).unref();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    sockets,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      await close();
    },
  };
}

/** Starts an HTTP server on an ephemeral port; `await using` stops it. */
export async function serve(respond: Responder, limit = LIMIT): Promise<HttpServer> {
  const requests: Recorded[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    response.on("error", () => {}); // The client went away.
    try {
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
    } catch {
      return; // The client went away.
    }
    const { method = "", url = "", headers, rawHeaders } = request;
    const recorded: Recorded = { method, url, headers, rawHeaders, body };
    requests.push(recorded);
    await respond(recorded, response, requests.length);
  });
  return { ...await listen(server, "http", limit), requests };
}

/** Starts a TCP server that leaves all bytes to the test; `await using` stops it. */
export function serveSockets(
  connect: (socket: Socket) => void,
  scheme?: "http" | "https",
): Promise<TestServer> {
  return listen(createTcpServer(connect), scheme);
}

/** Starts a server that reads each request to its end, and then sends raw bytes. */
export function serveBytes(respond: (socket: Socket, count: number) => void): Promise<TestServer> {
  let count = 0;
  return serveSockets((socket) => {
    let received = "";
    socket.on("data", (data) => {
      received += data.toString("latin1");
      const [, head, body] = /^(.*?)\r\n\r\n(.*)$/s.exec(received) ?? [];
      if (head === undefined) return;
      if (body!.length < Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)) return;
      received = "";
      respond(socket, ++count);
    });
  });
}

/** Responds with JSON. */
export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

// deno-lint-ignore no-explicit-any
type Any = any;

interface AnyJson {
  content: { "application/json": Any };
}

interface AnyOperation {
  parameters: { path?: Any; query?: Any; header?: Any };
  requestBody?: AnyJson;
  responses: { 200: AnyJson; default: AnyJson };
}

/** All paths and methods, for what the OpenAPI document does not have. */
export interface AnyPath {
  [path: string]: Record<Lowercase<Method>, AnyOperation>;
}

/** The credits of a sandbox's demo key. */
export const demoCredits: number = createSandbox().keys.get(DEMO_KEY)!;

/** What `checkKey` reports on a valid key. */
export const validKey: ValidKey = { apiKeyValid: true, data: { credits: demoCredits } };

/** Starts a server that responds to everything as to a valid key. */
export const serveValid = () => serve((_, response) => json(response, validKey));

/** Sends a part of a response. Without any of it, Deno and Bun themselves may send a request again. */
export function cut(response: ServerResponse): void {
  response.writeHead(200, { "content-length": 99 }).write("[", () => response.socket?.destroy());
}
