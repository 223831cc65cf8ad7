/**
 * Measures this client beside openapi-fetch and ky, in one process, and prints the CPU time that a call
 * of each takes, in microseconds, as JSON.
 *
 * The clients take turns, in many short rounds. The lead-in of a turn is not measured, so that no
 * client pays for the garbage of the one before. The 15th percentile of the rounds counts, because
 * other work of the machine can only make a round slower.
 */

import ky from "ky";
import process from "node:process";
import createOpenapiClient from "openapi-fetch";
import { createClient, type paths } from "../../mod.ts";

/** Milliseconds of a turn. */
const LEAD_IN = 20;
const TURN = 50;
const ROUNDS = 50;

const [baseUrl = "", kind, concurrency] = process.argv.slice(2);
const apiKey = "demo-key";
const body = { apiKey };
const custom = kind === "custom fetch" &&
  { fetch: (...args: Parameters<typeof fetch>) => fetch(...args) };

const ours = createClient({ baseUrl, apiKey, ...custom });
const openapiFetch = createOpenapiClient<paths>({ baseUrl, ...custom });
const kyClient = ky.create({ prefix: baseUrl, ...custom });

if (kind === "middleware") {
  for (const client of [ours, openapiFetch]) client.use({ onRequest() {}, onResponse() {} });
}

/** Calls of `checkKey`, as the documentation of each client shows them. */
const calls: Record<string, () => Promise<unknown>> = {
  "openapi-fetch": async () => (await openapiFetch.POST("/checkKey", { body })).data,
  "@scam-address/client": kind === "POST once" // checkKey may be repeated.
    ? async () => (await ours.call("POST", "checkKey", { body })).data
    : () => ours.checkOwnKey(),
  ky: () => kyClient.post("checkKey", { json: body }).json(),
};

/** Calls for a time in milliseconds; resolves to the microseconds of CPU time per call. */
async function run(call: () => Promise<unknown>, duration: number): Promise<number> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  let count = 0;
  const worker = async () => {
    for (; performance.now() - start < duration; count++) await call();
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, worker));
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / count;
}

const costs: Record<string, number[]> = {};
for (let round = -ROUNDS / 5; round < ROUNDS; round++) { // the first fifth warms up
  for (const [name, call] of Object.entries(calls)) {
    const result = JSON.stringify(await call());
    if (!result.startsWith('{"apiKeyValid":true')) throw new Error(`"${name}" returned ${result}`);
    await run(call, LEAD_IN);
    const cost = await run(call, TURN);
    if (round >= 0) (costs[name] ??= []).push(cost);
  }
}
const percentile = (list: number[]) => list.sort((a, b) => a - b)[Math.floor(list.length * 0.15)];
const entries = Object.entries(costs).map(([name, list]) => [name, percentile(list)]);
console.log(JSON.stringify(Object.fromEntries(entries)));
process.exit(); // some clients keep their connections open
