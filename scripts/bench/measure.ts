/**
 * Measures clients in the process of one runtime, and prints what a call of each takes, as JSON:
 * `measure.js BASE_URL CONCURRENCY CLIENT…`
 *
 * Each round measures one batch of each client, in random order. The lead-in before a batch is not
 * measured, so that no client pays for the garbage of the one before. The quartile of the lowest
 * rounds counts, because other work of the machine can only make a round slower.
 */

import process from "node:process";
import { clients } from "./clients.ts";

const ROUNDS = 20;
const LEAD_IN = 60;
const BATCH = 120;

const [baseUrl = "", concurrency = "1", ...names] = process.argv.slice(2);

/** Microseconds per call. */
interface Cost {
  time: number;
  cpu: number;
}

/** Calls for a time in milliseconds. */
async function run(call: () => Promise<unknown>, duration: number): Promise<Cost> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  let calls = 0;
  const worker = async () => {
    for (; performance.now() - start < duration; calls++) await call();
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, worker));
  const time = (performance.now() - start) * 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return { time: time / calls, cpu: (user + system) / calls };
}

const contenders = [];
for (const { name, module, prepare } of clients.filter(({ name }) => names.includes(name))) {
  const call = prepare(module && await import(module), baseUrl);
  const result = await call();
  if (result?.data?.credits !== 100) throw new Error(`"${name}" did not get the response`);
  await run(call, BATCH);
  contenders.push({ name, call, rounds: [] as Cost[], order: 0 });
}
for (let round = 0; round < ROUNDS; round++) {
  for (const each of contenders) each.order = Math.random();
  contenders.sort((a, b) => a.order - b.order);
  for (const { call, rounds } of contenders) {
    await run(call, LEAD_IN);
    rounds.push(await run(call, BATCH));
  }
}
const costs = contenders.map(({ name, rounds }) => {
  const quartile = (unit: keyof Cost) =>
    rounds.map((cost) => cost[unit]).sort((a, b) => a - b)[ROUNDS / 4];
  return [name, { time: quartile("time"), cpu: quartile("cpu") }];
});
console.log(JSON.stringify(Object.fromEntries(costs)));
process.exit(); // some clients keep their connections open
