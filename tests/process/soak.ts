// The program that soak.test.ts bundles and runs on Deno and Node.js.
import process from "node:process";
import { inspect } from "node:util";
import { z } from "zod";

import { createClient, HttpError, ScamAddressError } from "../../mod.ts";
import type { AnyPath } from "../support/server.ts";
import { expectedEnd, LARGE, type Plan, planCall } from "./faults.ts";
import { heap } from "./heap.ts";

const CONCURRENCY = 32;
const [baseUrl, total] = process.argv.slice(2) as [string, string];

const options = { baseUrl, apiKey: "key-of-the-client", maxResponseBytes: LARGE };
const clients = {
  "plain": createClient<AnyPath>(options),
  "with middleware": createClient<AnyPath>(options),
  "with a custom fetch": createClient<AnyPath>({ ...options, fetch: (request) => fetch(request) }),
};
clients["with middleware"].use({
  onRequest: ({ request }) => request.headers.set("x-middleware", "yes"),
  onResponse: ({ response }) => new Response(response.body, response),
});
const shared = new AbortController().signal;
const schema = z.looseObject({ data: z.object({ credits: z.int() }) });

/** Resolves to the data of a response, or throws what a status means. */
async function dataOf(result: Promise<{ data?: unknown; error?: unknown; response: Response }>) {
  const { data, error, response } = await result;
  if (response.ok) return data;
  const body = typeof error === "string" ? JSON.parse(error) : error;
  const { headers, status } = response;
  throw new HttpError("", { response: { status, headers, body } });
}

function send(number: number, plan: Plan, signal: AbortSignal | null): Promise<unknown> {
  const client = clients[plan.client];
  const isRetried = plan.fault === "limited" || plan.fault === "unavailable";
  const isEndless = plan.fault === "hang" || plan.fault === "stall";
  const init = { signal, retries: isRetried ? 1 : 0, timeout: isEndless ? 50 : 2 ** 31 - 1 };
  const path = `n/${number}`;
  const body = { id: `number-${number}`, padding: "x".repeat(plan.delay * 1_000) };
  const ways = {
    checkKey: () => client.checkKey(`number-${number}`, init),
    call: () => dataOf(client.call("GET", path, init)),
    schema: () => dataOf(client.call("GET", path, { ...init, schema })),
    send: () => dataOf(client.call("POST", path, { ...init, body })),
    GET: () => dataOf(client.GET(`/${path}`, init)),
    text: () => dataOf(client.GET(`/${path}`, { ...init, parseAs: "text" })),
    POST: () => dataOf(client.POST(`/${path}`, { ...init, body })),
  };
  return ways[plan.way]();
}

/** Describes the data of a call, which must be of this call and no other. */
function describeData(data: unknown, number: number): string {
  if (data === undefined || data === "") return "empty";
  if (data === `<h1>${number}</h1>`) return "html";
  const value = typeof data === "string" ? JSON.parse(data) : data;
  return value.number === number ? "ok" : `wrong data: ${inspect(data)}`;
}

/** Describes the error of a call, which must be of this call and no other. */
function describeError(error: unknown, number: number): string {
  if (!(error instanceof ScamAddressError)) return `bare error: ${inspect(error)}`;
  if (!(error instanceof HttpError)) return error.code;
  const { body, status } = error.response;
  const { number: seen } = body as { number?: number };
  return seen === number ? `http ${status}` : `wrong body: ${inspect(body)}`;
}

/** Makes a call and resolves to how it ended. */
async function end(number: number, plan: Plan): Promise<string> {
  const controller = new AbortController();
  const reason = { number };
  const abort = () => controller.abort(reason);
  if (plan.abort === "early") abort();
  const timer = plan.abort === "late" ? setTimeout(abort, plan.delay) : undefined;
  const signals = { early: controller.signal, late: controller.signal, shared, none: null };
  try {
    return describeData(await send(number, plan, signals[plan.abort]), number);
  } catch (error) {
    return error === reason ? "aborted" : describeError(error, number);
  } finally {
    clearTimeout(timer);
  }
}

const unhandled: string[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(inspect(reason)));
const failures: unknown[] = [];
const ends: Record<string, number> = {};
let next = 0;

/** Makes the calls up to a number, and resolves to the bytes in use after them. */
async function run(limit: number): Promise<number> {
  const worker = async () => {
    for (let number = next++; number < limit; number = next++) {
      const plan = planCall(number);
      const seen = await end(number, plan);
      ends[seen] = (ends[seen] ?? 0) + 1;
      const mayAbort = plan.abort === "early" || plan.abort === "late" && seen === "aborted";
      const expected = mayAbort ? "aborted" : expectedEnd(plan);
      if (seen !== expected && failures.length < 20) {
        failures.push({ number, plan, seen, expected });
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  next = limit;
  return await heap();
}

const start = performance.now();
const before = await run(Number(total) / 5);
const grown = await run(Number(total)) - before;
const seconds = (performance.now() - start) / 1_000;
console.log(JSON.stringify({ failures, unhandled, ends, grown, seconds })); // and it must end
