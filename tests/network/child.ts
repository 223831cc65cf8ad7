// The program that network.test.ts bundles and runs on Deno and Node.js.
import process from "node:process";
import { inspect } from "node:util";

import { type ClientOptions, createClient, ScamAddressError } from "../../mod.ts";
import { undocumented } from "../client.ts";

/** How to reach a server. */
export interface Target {
  url: string;
  /** What the connection is made with; without it, the global `fetch` is used as it is. */
  tls?: { ca: string; cert?: string; key?: string } | undefined;
  retries?: number;
  timeout?: number;
  /** The size of a body to send in place of the usual calls. */
  upload?: number;
}

/** How a call ended: `ok`, or the code and the message of its error. */
export type Outcome = string;

const apiKey = "key-of-the-client";
const { deno } = process.versions as { deno?: string };

/** Makes the options of a client whose connections have certificates of their own. */
async function connect({ ca, cert, key }: NonNullable<Target["tls"]>) {
  const identity = cert && key ? { cert, key } : {};
  if (deno) {
    const client = Deno.createHttpClient({ caCerts: [ca], ...identity });
    const options: Partial<ClientOptions> = { fetch: (request) => fetch(request, { client }) };
    return { options, close: () => client.close() };
  }
  const { Agent } = await import("undici");
  const dispatcher = new Agent({ allowH2: true, connect: { ca, ...identity } });
  const options: Partial<ClientOptions> = { requestInitExt: { dispatcher } };
  return { options, close: () => dispatcher.destroy() };
}

/** Calls a server in each of the three ways, one after the other. */
async function callAll(
  { url, tls, retries = 0, timeout = 5_000, upload }: Target,
): Promise<Outcome[]> {
  const { options, close } = tls ? await connect(tls) : { options: {}, close() {} };
  const client = createClient({ baseUrl: url, apiKey, timeout, retries, ...options });
  const calls = upload ? [() => client.call("POST", undocumented, { body: "x".repeat(upload) })] : [
    () => client.checkKey("some-key"),
    () => client.call("GET", undocumented),
    () => client.GET(`/${undocumented}` as never),
  ];
  const outcomes = [];
  for (const call of calls) outcomes.push(await call().then(() => "ok", describe));
  await close();
  return outcomes;
}

function describe(error: unknown): Outcome {
  const shown = inspect(error, { depth: 8, showHidden: true });
  if (/key-of-the-client|some-key/.test(shown)) return `shows the key: ${shown}`;
  return error instanceof ScamAddressError ? `${error.code}: ${error.message}` : `bare: ${shown}`;
}

const unhandled: string[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(inspect(reason)));
const targets: Record<string, Target> = JSON.parse(process.argv[2]!);
const outcomes = await Promise.all(
  Object.entries(targets).map(async ([name, target]) => [name, await callAll(target)]),
);
await new Promise((resolve) => setTimeout(resolve, 100));
console.log(JSON.stringify({ outcomes: Object.fromEntries(outcomes), unhandled }));
process.exit(); // undici waits 10 s for a handshake, also when its call is over
