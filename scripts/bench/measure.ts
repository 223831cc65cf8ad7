/**
 * Measures the clients in the process of one runtime, and prints the time per call of each, in
 * microseconds, as JSON.
 *
 * The clients take turns in short rounds, and the best round's median counts, because other work of
 * the machine can only make a round slower.
 */

import process from "node:process";
import { Bench } from "tinybench";
import { clients } from "./clients.ts";

const ROUNDS = 8;
const [baseUrl = "", concurrency = "1"] = process.argv.slice(2);

const bench = new Bench({ time: 250, warmupTime: 100, throws: true });
for (const { name, module, prepare } of clients) {
  const call = prepare(module && await import(module), baseUrl);
  const result = await call();
  if (result?.data?.credits !== 100) throw new Error(`"${name}" did not get the response`);
  bench.add(name, () => Promise.all(Array.from({ length: Number(concurrency) }, call)));
}

const best: Record<string, number> = {};
for (let round = 0; round < ROUNDS; round++) {
  bench.reset();
  for (const { name, result } of await bench.run()) {
    if (result.state !== "completed") throw new Error(`"${name}" ended as "${result.state}"`);
    const median = result.latency.p50 * 1_000 / Number(concurrency);
    best[name] = Math.min(best[name] ?? Infinity, median);
  }
}
console.log(JSON.stringify(best));
process.exit(); // some clients keep their connections open
