/**
 * Makes a million calls on a stub of fetch, all with the same signal, and prints the memory that is
 * in use after each tenth of them. Needs `--expose-gc`.
 */

import process from "node:process";
import { setImmediate, setTimeout } from "node:timers/promises";
import { createClient } from "../../mod.ts";

const { gc } = globalThis as unknown as { gc(): void };
const CALLS = 1_000_000;
const STEPS = 10;

const client = createClient({
  baseUrl: "https://service.example/",
  async fetch() {
    await setImmediate(); // as a network does, it lets the runtime clean up
    return Response.json({ apiKeyValid: true, data: { credits: 100 } });
  },
});
const { signal } = new AbortController();

console.log("| calls | heap in use, MB | resident, MB |");
console.log("| --: | --: | --: |");
for (let step = 0; step <= STEPS; step++) {
  for (let call = 0; step > 0 && call < CALLS / STEPS; call++) {
    await client.checkKey("demo-key", { signal });
  }
  gc();
  await setTimeout(100); // for what is cleaned up after a collection
  gc();
  const { heapUsed, rss } = process.memoryUsage();
  const [heap, resident] = [heapUsed, rss].map((bytes) => (bytes / 1e6).toFixed(1));
  console.log(`| ${(step * CALLS / STEPS).toLocaleString("en")} | ${heap} | ${resident} |`);
}
