/**
 * Shows the clients to servers that misbehave, in the process of one runtime, and prints as JSON
 * what was seen: a row for each property, with a cell for each client.
 *
 * Nothing here is known beforehand: a probe says what a client did, and a client that cannot be
 * probed says why.
 */

import type { ServerResponse } from "node:http";
import process from "node:process";
import { setInterval, setTimeout } from "node:timers/promises";
import { inspect } from "node:util";
import { json, serve } from "../../tests/server.ts";
import { apiKey, type Opened, type Options, peers } from "./clients.ts";

/** Makes the client that is probed. */
type Open = (baseUrl: string, options?: Options) => Opened;

/** Says in a few words what a client was seen doing. */
type Probe = (open: Open) => Promise<string>;

type Outcome = { value: unknown } | { error: unknown } | { pending: true };

const MIB = 2 ** 20;
const PATIENCE = 35_000;
const pending = { pending: true } as const;

/** Tells how a call ends, if it does so in time. */
function outcome(call: () => Promise<unknown>, limit = 15_000): Promise<Outcome> {
  const settled = (async () => await call())();
  return Promise.race([
    settled.then((value) => ({ value }), (error) => ({ error })),
    setTimeout(limit, pending),
  ]);
}

/** Gives the milliseconds after which the client leaves a server that never ends its answer. */
async function patience(
  open: Open,
  answer: (response: ServerResponse) => unknown,
  limit: number,
  options?: Options,
): Promise<number | undefined> {
  let left: (time: number) => void;
  const time = new Promise<number>((resolve) => left = resolve);
  await using server = await serve((_, response) => {
    const start = performance.now();
    response.on("close", () => left(performance.now() - start));
    answer(response);
  });
  outcome(() => open(server.url, options).send("GET", "report"));
  return await Promise.race([time, setTimeout(limit, undefined)]);
}

/** Sends a JSON string of some length. */
function sendString(response: ServerResponse, length: number): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(`"${"x".repeat(length)}"`);
}

/** Whether a call fails. */
async function fails(client: Opened, ...call: Parameters<Opened["send"]>): Promise<boolean> {
  return "error" in await outcome(() => client.send(...call));
}

/** Counts how often a call is repeated that is always answered with 503. */
async function repeats(open: Open, method: "GET" | "POST", path: string): Promise<number> {
  await using server = await serve((_, response) => json(response, {}, 503));
  const body = method === "POST" ? { apiKey } : undefined;
  await outcome(() => open(server.url).send(method, path, body));
  return server.requests.length - 1;
}

/** Answers 429 and then 200; gives the seconds between, `undefined` if no second request came. */
async function wait(open: Open, retryAfter: number, limit: number) {
  const times: number[] = [];
  await using server = await serve((_, response) => {
    times.push(performance.now());
    if (times.length === 1) response.setHeader("retry-after", retryAfter);
    json(response, {}, times.length === 1 ? 429 : 200);
  });
  const end = await outcome(() => open(server.url).send("GET", "report"), limit);
  const [first, second] = times;
  return { pending: "pending" in end, time: second && (second - first!) / 1_000 };
}

async function control(open: Open): Promise<void> {
  await using server = await serve((_, response) => json(response, { fine: true }));
  const client = open(server.url, { timeout: 10_000, maxResponseBytes: MIB });
  for (const method of ["GET", "POST"] as const) {
    const end = await outcome(() => client.send(method, "report"));
    if (inspect(end) !== "{ value: { fine: true } }") throw new Error(`Control: ${inspect(end)}`);
  }
  for (const { headers } of server.requests) {
    if (headers["x-api-key"] !== apiKey) throw new Error("Control: the key did not arrive");
  }
}

/** Waits for a client to give up; of one with more patience, tells what it says itself. */
async function timeoutByDefault(open: Open): Promise<string> {
  const time = await patience(open, () => {}, PATIENCE);
  if (time !== undefined) return `${Math.round(time / 1_000)} s`;
  const { timeout } = open("http://127.0.0.1/");
  return timeout ? `${timeout / 1_000} s (stated)` : `none in ${PATIENCE / 1_000} s`;
}

const probes: Record<string, Probe> = {
  async "checks answers at run time"(open) {
    const wrong = { apiKeyValid: "yes", data: { credits: "many" } };
    await using server = await serve((_, response) => json(response, wrong));
    if (await fails(open(server.url), "POST", "checkKey", { apiKey })) return "yes";
    const responseValidator = () => Promise.reject(new Error("Refused"));
    const client = open(server.url, { responseValidator });
    return await fails(client, "POST", "checkKey", { apiKey }) ? "with your validator" : "no";
  },

  "time-out by default": timeoutByDefault,

  async "time-out covers a body that drips"(open) {
    const options = { timeout: 1_000 };
    if (!await patience(open, () => {}, 5_000, options)) return "no time-out";
    const drip = async (response: ServerResponse) => {
      response.writeHead(200, { "content-type": "application/json" });
      for await (const _ of setInterval(50)) {
        if (response.destroyed) break;
        response.write(" ");
      }
    };
    return await patience(open, drip, 5_000, options) ? "yes" : "no";
  },

  async "retries of a 503 by default"(open) {
    const get = await repeats(open, "GET", "report");
    const post = await repeats(open, "POST", "report");
    const documented = await repeats(open, "POST", "checkKey"); // the document says that it may be
    if (get + post + documented === 0) return "none";
    if (get === post) return `${get}, of POST too`;
    return documented === post ? `${get}, not of POST` : `${get}, of marked POSTs too`;
  },

  async "obeys `Retry-After`"(open) {
    const { time } = await wait(open, 2, 10_000);
    if (time === undefined) return "no";
    if (time < 1.9) return "no, sent again sooner";
    const hour = await wait(open, 3_600, 10_000);
    if (hour.time !== undefined) return "yes, but not an hour";
    return hour.pending ? "yes, even an hour" : "yes; an hour ends the call";
  },

  async "limit for the size of a body"(open) {
    await using server = await serve((_, response) => sendString(response, 16 * MIB));
    if (await fails(open(server.url), "GET", "report")) return "by default";
    const client = open(server.url, { maxResponseBytes: MIB });
    return await fails(client, "GET", "report") ? "by option" : "no";
  },

  async "keeps the key from a redirect's host"(open) {
    await using other = await serve((_, response) => json(response, {}));
    const location = other.url.replace("127.0.0.1", "localhost");
    await using server = await serve((_, response) => {
      response.writeHead(302, { location }).end();
    });
    await outcome(() => open(server.url).send("GET", "report"));
    if (!other.requests.length) return "yes, not followed";
    return other.requests.some(({ headers }) => headers["x-api-key"]) ? "no" : "yes";
  },

  async "keeps the key out of what is logged"(open) {
    const server = await serve((_, response) => json(response, {}, 401));
    const client = open(server.url);
    const ends = [await outcome(() => client.send("GET", "report"))];
    await server[Symbol.asyncDispose]();
    ends.push(await outcome(() => client.send("GET", "report"))); // the connection is refused
    const shows = (value: unknown) =>
      inspect(value, { depth: 8, showHidden: true }).includes(apiKey);
    let cell = "yes";
    for (const end of ends) {
      if (!("error" in end)) throw new Error("there was no failure");
      if (!shows(end.error)) continue;
      const { error } = end.error as { error?: unknown }; // where a failure is a result
      if (error === undefined || shows(error)) return "no";
      cell = "of errors, not of results";
    }
    return cell;
  },

  async "refuses plain `http:`, but for loopback"(open) {
    const sends = async (baseUrl: string) => {
      let sent = false;
      const fetch: typeof globalThis.fetch = (input, init) => {
        sent = new Request(input, init).headers.get("x-api-key") === apiKey;
        return Promise.resolve(Response.json({}));
      };
      await outcome(() => open(baseUrl, { fetch }).send("GET", "report"));
      return sent;
    };
    if (!await sends("http://127.0.0.1/")) throw new Error("the given fetch was not used");
    return await sends("http://service.example/") ? "no" : "yes";
  },

  async "HTML with status 200"(open) {
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<html>Down</html>");
    });
    const end = await outcome(() => open(server.url).send("GET", "report"));
    if ("value" in end) return `a ${typeof end.value}`;
    if ("pending" in end) throw new Error("it did not end");
    const { error, name } = end.error as { error?: Error; name: string };
    return `\`${error?.name ?? name}\``;
  },

  async "has hooks that change a request"(open) {
    await using server = await serve((_, response) => json(response, {}));
    const onRequest = (headers: Headers) => headers.set("x-hook", "seen");
    const fetch: typeof globalThis.fetch = (input, init) => {
      const request = new Request(input, init);
      onRequest(request.headers);
      return globalThis.fetch(request);
    };
    const works = async (options: Options) => {
      await outcome(() => open(server.url, options).send("GET", "report"));
      return server.requests.at(-1)?.headers["x-hook"] === "seen";
    };
    if (await works({ onRequest })) return "yes";
    return await works({ fetch }) ? "only a `fetch` of yours" : "no";
  },

  async "streams an answer as it comes"(open) {
    let [arrived, complete, early] = [false, false, false];
    await using server = await serve(async (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("[1,");
      for (let turn = 0; turn < 60 && !arrived; turn++) await setTimeout(50);
      complete = true;
      response.end("2]");
    });
    for await (const _ of await open(server.url).stream("report")) {
      arrived = true;
      early ||= !complete;
    }
    return early ? "yes" : "no";
  },

  async "sends a form with files"(open) {
    await using server = await serve((_, response) => json(response, {}));
    const form = new FormData();
    form.set("file", new Blob(["content"]), "name");
    await outcome(() => open(server.url).send("POST", "report", form));
    const [request] = server.requests;
    const type = request?.headers["content-type"] ?? "";
    return /^multipart\/form-data;/.test(type) && request!.body.includes("content") ? "yes" : "no";
  },

  async "tells the progress of a download"(open) {
    await using server = await serve((_, response) => sendString(response, MIB));
    let told = false;
    const onDownloadProgress = () => told = true;
    await outcome(() => open(server.url, { onDownloadProgress }).send("GET", "report"));
    return told ? "yes" : "no";
  },
};

const opens = await Promise.all(peers.map(async ({ module, open }): Promise<Open> => {
  const imported = await import(module);
  return (baseUrl, options) => open(imported, baseUrl, options);
}));
await Promise.all(opens.map(control));

const fill = (probe: Probe) =>
  Promise.all(opens.map((open) => probe(open).catch(({ message }) => `skipped: ${message}`)));
const slow = fill(timeoutByDefault); // half a minute of waiting, which leaves time for the others
const rows: Record<string, string[]> = {};
for (const [title, probe] of Object.entries(probes)) {
  rows[title] = await (probe === timeoutByDefault ? slow : fill(probe));
}
console.log(JSON.stringify(rows));
process.exit(); // some clients still wait
