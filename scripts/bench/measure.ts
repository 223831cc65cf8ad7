/**
 * Measures the clients against each other, in the process of one runtime, and prints for each the
 * median time per call in microseconds and the median ratio to fetch.
 *
 * The clients take turns in short rounds, and ratios are taken within a round, so that whatever
 * else the machine does slows all of them alike.
 */

import process from "node:process";
import { clients } from "./clients.ts";
import { median } from "./median.ts";

const [baseUrl = "", concurrency = "1", rounds = "1"] = process.argv.slice(2);
const CALLS_PER_ROUND = 160;

/** Makes the calls of a round and gives the time of one, in microseconds. */
async function time(call: () => Promise<unknown>): Promise<number> {
  let left = CALLS_PER_ROUND;
  const worker = async () => {
    while (left-- > 0) await call();
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: Number(concurrency) }, worker));
  return (performance.now() - start) * 1_000 / CALLS_PER_ROUND;
}

const calls = [];
for (const { name, module, prepare } of clients) {
  const call = prepare(module && await import(module), baseUrl);
  const answer = await call();
  if (answer?.data?.credits !== 100) throw new Error(`"${name}" did not get the answer`);
  await time(call); // to warm up
  calls.push({ call, times: [] as number[] });
}
for (let round = 0; round < Number(rounds); round++) {
  for (let turn = 0; turn < calls.length; turn++) {
    const { call, times } = calls[(round + turn) % calls.length]!;
    times.push(await time(call));
  }
}
const base = calls[0]!.times;
console.log(JSON.stringify(calls.map(({ times }) => ({
  time: median(times),
  ratio: median(times.map((time, round) => time / base[round]!)),
}))));
process.exit(); // some clients keep their connections open
