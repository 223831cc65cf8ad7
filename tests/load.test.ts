import { expect } from "@std/expect";

import { ScamAddressError } from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { isDeno } from "./client.ts";
import { createClock } from "./clock.ts";
import { seeded } from "./random.ts";
import { json, type Responder, serve } from "./server.ts";

const CALLS = 2_000;
const CONCURRENCY = 64;

/** The body of a successful response, which has the number of the call. */
function expectedBody(number: number): unknown {
  return number % 2 ? { number } : { apiKeyValid: true, data: { credits: number } };
}

/** Responds, but in a third of all cases with an error, late, or not at all. */
function unreliable(random: () => number): Responder {
  return ({ url, body }, response) => {
    const number = Number(url === "/checkKey" ? JSON.parse(body).apiKey : url.slice(3));
    const fate = Math.floor(random() * 12);
    if (fate === 0) return void response.socket!.destroy();
    if (fate === 1 || fate === 2) {
      return void response.writeHead(fate === 1 ? 503 : 429, { "retry-after": "0" }).end("no");
    }
    if (fate > 3) return json(response, expectedBody(number));
    const text = JSON.stringify(expectedBody(number));
    response.write(text.slice(0, 3));
    if (random() < 0.02) return; // the rest never comes
    setTimeout(() => response.end(text.slice(3)), random() * 30);
  };
}

Deno.test(`${CALLS} calls of a server that fails a third of them succeed or fail as documented`, async () => {
  await using server = await serve(unreliable(seeded(1)));
  let retried = 0;
  const client = createClientWith({
    baseUrl: server.url,
    apiKey: "key-of-the-client",
    timeout: 3_000,
    retries: 3,
    onRetry: () => retried++,
  }, createClock());
  let next = 0;
  let failed = 0;
  const worker = async () => {
    for (let number = next++; number < CALLS; number = next++) {
      try {
        const body = number % 2
          ? await client.call(number % 4 === 1 ? "GET" : "POST", `n/${number}`)
          : await client.checkKey(`${number}`);
        expect(body).toEqual(expectedBody(number));
      } catch (error) {
        if (!(error instanceof ScamAddressError)) throw error;
        expect(["http", "network", "timeout"]).toContain(error.code);
        if (error.code !== "timeout") failed++; // of which a busy machine makes more
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));

  // A quarter of the calls is not repeated after 1/12 resets and 1/12 responses with 503.
  expect(failed).toBeGreaterThan(CALLS / 4 / 12);
  expect(failed).toBeLessThan(CALLS / 4 / 3);
  const sent = CALLS + retried;
  if (isDeno) expect(server.requests.length).toBeGreaterThanOrEqual(sent); // see retry.test.ts
  else expect(server.requests.length).toBe(sent);

  // Connections that wait for another request close now; those that a call has lost would not.
  // (Deno's pool also holds some that it opened and never used.)
  const used = () => [...server.sockets].filter(({ bytesRead }) => bytesRead).length;
  for (let wait = 0; used() && wait < 200; wait++) {
    server.closeIdleConnections();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(used()).toBe(0);
});
