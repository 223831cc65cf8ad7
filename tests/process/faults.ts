// What happens to each call of the soak: the server and the program that calls it agree on it.
import { gzipSync } from "node:zlib";

import { seeded } from "../random.ts";
import type { Responder } from "../server.ts";

const FAULTS = [
  "length",
  "chunked",
  "gzip",
  "slow",
  "missing",
  "broken",
  "refused",
  "limited",
  "unavailable",
  "reset",
  "garbage",
  "cut",
  "redirect",
  "html",
  "wrong",
  "empty",
  "large",
  "hang",
  "stall",
] as const;
const WAYS = ["checkKey", "call", "schema", "send", "GET", "text", "POST"] as const;
const ABORTS = ["early", "late", "late", "shared", "shared", "none", "none", "none"] as const;

/** What a call sends, and what it meets. */
export interface Plan {
  fault: typeof FAULTS[number];
  way: typeof WAYS[number];
  abort: typeof ABORTS[number];
  hasMiddleware: boolean;
  /** A delay in milliseconds, of the server or of the abort. */
  delay: number;
}

/** The body of responses that are too large for the program. */
export const LARGE = 2 ** 16;

/** Returns the plan of a call, which is the same in every run. */
export function planCall(number: number): Plan {
  const random = seeded(number * 0x9e3779b1);
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!;
  return {
    fault: pick(FAULTS),
    way: pick(WAYS),
    abort: pick(ABORTS),
    hasMiddleware: random() < 0.3,
    delay: random() * 15,
  };
}

/** How a call must end, unless it is aborted: with the right data, or the right error. */
export function expectedEnd({ fault, way }: Plan): string {
  const isChecked = way === "checkKey" || way === "schema";
  switch (fault) {
    case "missing":
      return "http 404";
    case "broken":
      return "http 500";
    case "refused":
      return "http 429";
    case "unavailable": // only once
      return way === "send" || way === "POST" ? "http 503" : "ok";
    case "reset":
    case "garbage":
    case "cut":
      return "network";
    case "redirect":
      return "redirect";
    case "html":
      return way === "text" ? "html" : "invalid_response";
    case "wrong":
      return isChecked ? "invalid_response" : "ok";
    case "empty":
      return isChecked ? "invalid_response" : "empty";
    case "large":
      return "invalid_response";
    case "hang":
    case "stall":
      return "timeout";
    default:
      return "ok";
  }
}

/** Every end that a call of the soak can have. */
export const ENDS = [
  ...new Set(
    FAULTS.flatMap((fault) =>
      WAYS.map((way) => expectedEnd({ fault, way, abort: "none", hasMiddleware: false, delay: 0 }))
    ),
  ),
  "aborted",
].sort();

/** Returns what responds to the soak: to each request as its plan says, with its number. */
export function createFaults(): Responder {
  const refused = new Set<number>();
  /** Whether a request is the first of its call. */
  const isFirst = (number: number) => {
    if (refused.delete(number)) return false;
    refused.add(number);
    return true;
  };
  return ({ url, body }, response) => {
    const number = Number(body ? /"number-(\d+)"/.exec(body)![1] : url.slice(3));
    const { fault, delay } = planCall(number);
    const json = { apiKeyValid: true, data: { credits: number }, number };
    const text = JSON.stringify(json);
    const send = (status: number, headers = {}, value: string | Uint8Array = text) =>
      response.writeHead(status, { "content-length": value.length, ...headers }).end(value);
    const sendPart = () => response.writeHead(200, { "content-length": 99_999 }).write(text);
    const again = { "retry-after": "0" };
    switch (fault) {
      case "chunked":
        response.write(text.slice(0, 9));
        return void response.end(text.slice(9));
      case "gzip":
        return void send(200, { "content-encoding": "gzip" }, gzipSync(text));
      case "slow":
        response.write(text.slice(0, 9));
        return void setTimeout(() => response.end(text.slice(9)), delay);
      case "missing":
        return void send(404);
      case "broken":
        return void send(500);
      case "refused":
        return void send(429, again);
      case "limited":
        return void (isFirst(number) ? send(429, again) : send(200));
      case "unavailable":
        return void (isFirst(number) ? send(503, again) : send(200));
      case "reset":
        return void response.socket!.destroy();
      case "garbage":
        return void response.socket!.end("220 mail.example ESMTP\r\n");
      case "cut":
        sendPart();
        return void setTimeout(() => response.socket?.destroy(), 1);
      case "redirect":
        return void send(307, { location: `/n/${number + 1}` });
      case "html":
        return void send(200, { "content-type": "text/html" }, `<h1>${number}</h1>`);
      case "wrong":
        return void send(200, {}, JSON.stringify({ ...json, data: {} }));
      case "empty":
        return void send(200, {}, "");
      case "large":
        return void send(200, {}, JSON.stringify({ ...json, padding: "x".repeat(LARGE) }));
      case "hang":
        return;
      case "stall":
        return void sendPart();
      default:
        return void send(200);
    }
  };
}
