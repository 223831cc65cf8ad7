import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A request as it arrived. */
export interface Recorded {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent. */
  rawHeaders: string[];
  body: string;
}

/** A real HTTP server on loopback that keeps what it received. */
export interface TestServer extends AsyncDisposable {
  /** The address, with a slash at its end. */
  url: string;
  /** What has arrived, in order. */
  requests: Recorded[];
  /** The connections that are open now. */
  sockets: Set<Socket>;
}

/** What a server answers, the number of the request counted from 1. */
export type Answer = (
  request: Recorded,
  response: ServerResponse,
  count: number,
) => void | Promise<void>;

/** Starts a server on an ephemeral port; `await using` stops it. */
export async function serve(answer: Answer): Promise<TestServer> {
  const requests: Recorded[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    response.on("error", () => {}); // the client went away
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // likewise
    }
    const recorded: Recorded = {
      method: request.method!,
      url: request.url!,
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body: new TextDecoder().decode(await new Blob(chunks as BlobPart[]).arrayBuffer()),
    };
    requests.push(recorded);
    await answer(recorded, response, requests.length);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    sockets,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Answers with JSON. */
export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

/** An answer of `checkKey` to a valid key. */
export const validKey = { apiKeyValid: true, data: { credits: 100 } };
