import { expect } from "@std/expect";
import process from "node:process";

import { createClient, ScamAddressError } from "../mod.ts";
import { type Answer, json, serve } from "./server.ts";

const CALLS = 20_000;
const CONCURRENCY = 64;

/** Numbers from 0 to below 1 that are the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Answers rightly, but in a third of all cases not, not at once, or not at all. */
function unreliable(random: () => number): Answer {
  return ({ url, body }, response) => {
    const number = url === "/checkKey" ? Number(JSON.parse(body).apiKey) : Number(url.slice(3));
    const answer = url === "/checkKey"
      ? { apiKeyValid: true, data: { credits: number } }
      : { number };
    const fate = Math.floor(random() * 12);
    if (fate === 0) return void response.socket!.destroy();
    if (fate === 1 || fate === 2) {
      return void response.writeHead(fate === 1 ? 503 : 429, { "retry-after": "0" }).end("no");
    }
    if (fate > 3) return json(response, answer);
    const text = JSON.stringify(answer);
    response.write(text.slice(0, 3));
    if (random() < 0.02) return; // the rest never comes
    setTimeout(() => response.end(text.slice(3)), random() * 30);
  };
}

Deno.test("20,000 calls at a server that fails a third of them all come right or fail rightly", async () => {
  const { random } = Math;
  const jitter = seeded(2);
  Math.random = () => jitter() / 50; // keeps the back-off short
  try {
    await using server = await serve(unreliable(seeded(1)));
    let retried = 0;
    const client = createClient({
      baseUrl: server.url,
      apiKey: "key-of-the-client",
      timeout: 1_500,
      retries: 3,
      onRetry: () => retried++,
    });
    const count = { http: 0, invalid_response: 0, network: 0, right: 0, timeout: 0, wrong: 0 };
    let next = 0;
    const worker = async () => {
      for (let number = next++; number < CALLS; number = next++) {
        try {
          const got = number % 2
            ? await client.call(number % 4 === 1 ? "GET" : "POST", `n/${number}`)
            : await client.checkKey(`${number}`);
          const expected = number % 2
            ? { number }
            : { apiKeyValid: true, data: { credits: number } };
          count[JSON.stringify(got) === JSON.stringify(expected) ? "right" : "wrong"]++;
        } catch (error) {
          if (!(error instanceof ScamAddressError)) throw error;
          count[error.code as "http"]++;
          // What may be repeated fails four times in a row now and then, the rest at once.
          if (number % 4 !== 3) expect(["http", "network", "timeout"]).toContain(error.code);
        }
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));

    const { right, wrong, invalid_response, ...failed } = count;
    const failures = Object.values(failed).reduce((sum, each) => sum + each, 0);
    expect([wrong, invalid_response]).toEqual([0, 0]);
    expect(right + failures).toBe(CALLS);
    // A quarter of the calls is not repeated after 1/12 resets and 1/12 answers with 503.
    expect(failures).toBeGreaterThan(CALLS / 4 / 12);
    expect(failures).toBeLessThan(CALLS / 4 / 4);
    const sent = CALLS + retried;
    if ("deno" in process.versions) expect(server.requests.length).toBeGreaterThanOrEqual(sent);
    else expect(server.requests.length).toBe(sent);

    // Connections that wait for another request close now; those that a call has lost would not.
    // (Deno's pool also holds some that it opened and never used.)
    const used = () => [...server.sockets].filter(({ bytesRead }) => bytesRead).length;
    for (let wait = 0; used() && wait < 100; wait++) {
      server.closeIdleConnections();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(used()).toBe(0);
  } finally {
    Math.random = random;
  }
});
