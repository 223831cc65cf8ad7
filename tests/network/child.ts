// The program that network.test.ts bundles and runs on Deno and Node.js.
import process from "node:process";
import { inspect } from "node:util";

import { createClient, NetworkError } from "../../mod.ts";
import { apiKey, sendAll } from "../client.ts";

/** Describes how a call ended: `ok`, or the message of a NetworkError that shows no key. */
function describe(error: unknown): string {
  const shown = inspect(error, { depth: 8, showHidden: true });
  return error instanceof NetworkError && !shown.includes(apiKey) ? error.message : shown;
}

const outcomes = [];
for (const baseUrl of process.argv.slice(2)) {
  const client = createClient<never>({ baseUrl, apiKey, retries: 0 });
  const ends = sendAll(client).map((call) => call.then(() => "ok", describe));
  outcomes.push(...await Promise.all(ends));
}
console.log(JSON.stringify(outcomes));
