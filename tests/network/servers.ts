import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

import { listen, type TestServer, validKey } from "../server.ts";

/** Starts a TLS server that leaves all bytes after the handshake to the test. */
export function serveTls(
  options: TlsOptions,
  connect: (socket: Socket) => void,
): Promise<TestServer> {
  const server = createTlsServer(options, (socket) => {
    socket.on("error", () => {}); // the client went away
    connect(socket);
  });
  server.on("tlsClientError", () => {}); // the client refused the certificate
  return listen(server, "https");
}

/** Responds to each request on a connection with `validKey`, in HTTP/1.1. */
export function respondInHttp1(socket: Socket): void {
  const body = JSON.stringify(validKey);
  socket.on("data", (data) => {
    if (!/\r\n\r\n({.*})?$/s.test(String(data))) return;
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
}

// The types of frames, their flags, and errors (RFC 9113, sections 6 and 7).
const [DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY] = [0, 1, 3, 4, 7];
const [END_STREAM, ACK, END_HEADERS] = [1, 1, 4];
export const [NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM, CANCEL] = [0, 2, 7, 8];

/** A connection of a client that speaks HTTP/2, and the stream of one of its requests. */
export class Exchange {
  constructor(readonly socket: Socket, readonly stream: number) {}

  /** Sends the status 200, and part of a body or all of it. */
  send(body = JSON.stringify(validKey), end = true): void {
    const status = 0x88; // as HPACK has it in its static table
    this.socket.write(frame(HEADERS, END_HEADERS, this.stream, [status]));
    this.socket.write(frame(DATA, end ? END_STREAM : 0, this.stream, [...Buffer.from(body)]));
  }

  /** Ends the stream with an error. */
  reset(error: number): void {
    this.socket.write(frame(RST_STREAM, 0, this.stream, [0, 0, 0, error]));
  }

  /** Says that no request of the connection was or will be handled, and closes it. */
  goAway(): void {
    this.socket.end(frame(GOAWAY, 0, 0, [0, 0, 0, 0, 0, 0, 0, NO_ERROR]));
  }
}

function frame(type: number, flags: number, stream: number, payload: number[] = []): Uint8Array {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.set([type, flags], 3);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, Buffer.from(payload)]);
}

/** Splits what a client sends into frames, after the preface of a connection. */
function readFrames(socket: Socket, take: (type: number, flags: number, stream: number) => void) {
  const PREFACE = 24;
  let received: Buffer = Buffer.alloc(0);
  let skipped = false;
  socket.on("data", (data: Buffer) => {
    received = Buffer.concat([received, data]);
    if (!skipped && received.length < PREFACE) return;
    if (!skipped) received = received.subarray(PREFACE);
    skipped = true;
    while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
      take(received[3]!, received[4]!, received.readUInt32BE(5));
      received = received.subarray(9 + received.readUIntBE(0, 3));
    }
  });
}

/** Starts an HTTP/2 server; `settings` says whether it sends its own, as it must. */
export function serveHttp2(
  options: TlsOptions,
  respond: (exchange: Exchange, count: number) => void,
  settings = true,
): Promise<TestServer> {
  let count = 0;
  return serveTls({ ...options, ALPNProtocols: ["h2"] }, (socket) => {
    if (settings) socket.write(frame(SETTINGS, 0, 0));
    readFrames(socket, (type, flags, stream) => {
      if (type === SETTINGS && !(flags & ACK) && settings) socket.write(frame(SETTINGS, ACK, 0));
      if (type > HEADERS || !(flags & END_STREAM)) return;
      respond(new Exchange(socket, stream), ++count);
    });
  });
}
