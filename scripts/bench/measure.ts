/**
 * Measures clients in the process of one runtime, and prints the CPU time that a call of each takes,
 * in microseconds, as JSON: `measure.js OPTIONS`, which are JSON too.
 *
 * The clients take turns, in many short rounds. The lead-in of a turn is not measured, so that no
 * client pays for the garbage of the one before. The 15th percentile of the rounds counts, because
 * other work of the machine can only make a round slower.
 */

import process from "node:process";
import { clients, own, type Watcher } from "./clients.ts";

export interface Options {
  readonly baseUrl: string;
  readonly watcher: Watcher;
  /** How many calls are under way at a time. */
  readonly concurrency: number;
  readonly rounds: number;
  /** Names of clients; every other name is that of a checkout of this project. */
  readonly names: readonly string[];
}

/** Milliseconds of a turn. */
const LEAD_IN = 20;
const TURN = 50;

const { baseUrl, watcher, concurrency, rounds, names }: Options = JSON.parse(process.argv[2]!);

/** Calls for a time in milliseconds; resolves to the microseconds of CPU time per call. */
async function run(call: () => Promise<unknown>, duration: number): Promise<number> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  let calls = 0;
  const worker = async () => {
    for (; performance.now() - start < duration; calls++) await call();
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / calls;
}

const contenders = [];
for (const name of names) {
  const { module, prepare } = clients[name] ?? own(`./${name}.js`);
  const call = prepare(module && await import(module), baseUrl, watcher);
  if (!call) continue;
  const result = await call();
  if (result?.data?.credits !== 100) throw new Error(`"${name}" did not get the response`);
  for (let count = 0; count < 10; count++) await run(call, TURN);
  contenders.push({ name, call, costs: [] as number[] });
}
for (let round = 0; round < rounds; round++) {
  for (const { call, costs } of contenders) {
    await run(call, LEAD_IN);
    costs.push(await run(call, TURN));
  }
}
const percentile = (costs: number[]) =>
  costs.sort((a, b) => a - b)[Math.floor(costs.length * 0.15)];
const entries = contenders.map(({ name, costs }) => [name, percentile(costs)]);
console.log(JSON.stringify(Object.fromEntries(entries)));
process.exit(); // some clients keep their connections open
