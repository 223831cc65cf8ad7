// What happens to each call of the soak: the server and the program that calls it agree on it.
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";

import { seeded } from "../support/random.ts";
import { type Responder, validKey } from "../support/server.ts";

const WAYS = ["checkKey", "call", "schema", "send", "GET", "text", "POST"] as const;
const CLIENTS = ["plain", "plain", "with middleware", "with a custom fetch"] as const;
const ABORTS = ["early", "late", "late", "shared", "shared", "none", "none", "none"] as const;

/** The body of responses that are too large for the program. */
export const LARGE = 2 ** 16;

type Way = typeof WAYS[number];

/** A request of the soak, and how it can be handled. */
interface Exchange {
  readonly number: number;
  /** A delay in milliseconds. */
  readonly delay: number;
  readonly response: ServerResponse;
  /** The right body, as JSON, in which fields can be replaced. */
  readonly text: (fields?: object) => string;
  /** Sends a response; by default with the right body. */
  readonly send: (status: number, headers?: object, value?: string | Uint8Array) => void;
  /** Sends the right body, and announces more. */
  readonly sendPart: (status: number) => void;
  /** Whether this is the first request of its call. */
  readonly isFirst: () => boolean;
}

/** How a call ends, unless it is aborted; and how the server handles its requests. */
type Fault = [end: string | ((way: Way) => string), handle: (exchange: Exchange) => unknown];

const AGAIN = { "retry-after": "0" };

/** A response in two parts. */
const split = async ({ response, text }: Exchange, delay: number) => {
  response.write(text().slice(0, 9));
  if (delay) await new Promise((resolve) => setTimeout(resolve, delay));
  response.end(text().slice(9));
};
const checked = (otherwise: string) => (way: Way) =>
  way === "checkKey" || way === "schema" ? "invalid_response" : otherwise;

const FAULTS: Record<string, Fault> = {
  length: ["ok", ({ send }) => send(200)],
  chunked: ["ok", (exchange) => split(exchange, 0)],
  gzip: ["ok", ({ send, text }) => send(200, { "content-encoding": "gzip" }, gzipSync(text()))],
  slow: ["ok", (exchange) => split(exchange, exchange.delay)],
  missing: ["http 404", ({ send }) => send(404)],
  broken: ["http 500", ({ send }) => send(500)],
  half: ["http 404", ({ response, sendPart }) => {
    sendPart(404);
    setTimeout(() => response.socket?.end(), 1);
  }],
  refused: ["http 429", ({ send }) => send(429, AGAIN)],
  limited: ["ok", ({ isFirst, send }) => isFirst() ? send(429, AGAIN) : send(200)],
  unavailable: [
    (way) => way === "send" || way === "POST" ? "http 503" : "ok",
    ({ isFirst, send }) => isFirst() ? send(503, AGAIN) : send(200),
  ],
  reset: ["network", ({ response }) => response.socket!.destroy()],
  garbage: ["network", ({ response }) => response.socket!.end("220 mail.example ESMTP\r\n")],
  cut: ["network", ({ response, sendPart }) => {
    sendPart(200);
    setTimeout(() => response.socket?.destroy(), 1);
  }],
  redirect: ["redirect", ({ number, send }) => send(307, { location: `/n/${number + 1}` })],
  html: [
    (way) => way === "text" ? "html" : "invalid_response",
    ({ number, send }) => send(200, { "content-type": "text/html" }, `<h1>${number}</h1>`),
  ],
  wrong: [checked("ok"), ({ send, text }) => send(200, {}, text({ data: {} }))],
  empty: [checked("empty"), ({ send }) => send(200, {}, "")],
  large: [
    "invalid_response",
    ({ send, text }) => send(200, {}, text({ padding: "x".repeat(LARGE) })),
  ],
  hang: ["timeout", () => {}],
  stall: ["timeout", ({ sendPart }) => sendPart(200)],
};

/** What a call sends, and what it meets. */
export interface Plan {
  fault: string;
  way: Way;
  abort: typeof ABORTS[number];
  client: typeof CLIENTS[number];
  /** A delay in milliseconds, of the server or of the abort. */
  delay: number;
}

/** Returns the plan of a call, which is the same in every run. */
export function planCall(number: number): Plan {
  const random = seeded(number * 0x9e3779b1);
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!;
  return {
    fault: pick(Object.keys(FAULTS)),
    way: pick(WAYS),
    abort: pick(ABORTS),
    client: pick(CLIENTS),
    delay: random() * 15,
  };
}

/** How a call must end, unless it is aborted: with the right data, or the right error. */
export function expectedEnd({ fault, way }: Pick<Plan, "fault" | "way">): string {
  const [end] = FAULTS[fault]!;
  return typeof end === "string" ? end : end(way);
}

const ends = Object.keys(FAULTS).flatMap((fault) => WAYS.map((way) => expectedEnd({ fault, way })));

/** Every end that a call of the soak can have. */
export const ENDS: string[] = [...new Set(ends), "aborted"].sort();

/** Returns what responds to the soak: to each request as its plan says, with its number. */
export function createFaults(): Responder {
  const seen = new Set<number>();
  return async ({ url, body }, response) => {
    const number = Number(body ? /"number-(\d+)"/.exec(body)![1] : url.slice(3));
    const { fault, delay } = planCall(number);
    const text = (fields = {}) => JSON.stringify({ ...validKey, number, ...fields });
    await FAULTS[fault]![1]({
      number,
      delay,
      response,
      text,
      send: (status, headers = {}, value = text()) =>
        response.writeHead(status, { "content-length": value.length, ...headers }).end(value),
      sendPart: (status) => response.writeHead(status, { "content-length": 99_999 }).write(text()),
      isFirst() {
        if (seen.delete(number)) return false;
        return !!seen.add(number);
      },
    });
  };
}
