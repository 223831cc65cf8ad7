/**
 * Measures clients in the process of one runtime, and prints the time per call of each, in
 * microseconds, as JSON: `measure.js BASE_URL CONCURRENCY CLIENT…`
 *
 * Each round times one batch of each client, in random order. The lead-in before a batch is not
 * timed, so that no client pays for the garbage of the one before. The quartile of the fastest
 * rounds counts, because other work of the machine can only make a round slower.
 */

import process from "node:process";
import { clients } from "./clients.ts";

const ROUNDS = 20;
const LEAD_IN = 60;
const BATCH = 120;

const [baseUrl = "", concurrency = "1", ...names] = process.argv.slice(2);

/** Calls for a time in milliseconds; resolves to the microseconds per call. */
async function run(call: () => Promise<unknown>, duration: number): Promise<number> {
  const start = performance.now();
  let calls = 0;
  const worker = async () => {
    for (; performance.now() - start < duration; calls++) await call();
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, worker));
  return (performance.now() - start) * 1_000 / calls;
}

const contenders = [];
for (const { name, module, prepare } of clients.filter(({ name }) => names.includes(name))) {
  const call = prepare(module && await import(module), baseUrl);
  const result = await call();
  if (result?.data?.credits !== 100) throw new Error(`"${name}" did not get the response`);
  await run(call, BATCH);
  contenders.push({ name, call, times: [] as number[], order: 0 });
}
for (let round = 0; round < ROUNDS; round++) {
  for (const each of contenders) each.order = Math.random();
  contenders.sort((a, b) => a.order - b.order);
  for (const { call, times } of contenders) {
    await run(call, LEAD_IN);
    times.push(await run(call, BATCH));
  }
}
const quartiles = contenders.map(({ name, times }) => [
  name,
  times.sort((a, b) => a - b)[ROUNDS / 4],
]);
console.log(JSON.stringify(Object.fromEntries(quartiles)));
process.exit(); // some clients keep their connections open
