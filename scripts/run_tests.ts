/**
 * Runs `deno test` with the arguments given, and prints dots, failures in full, and the summary.
 * A suite that takes too long is interrupted, and the tests that it was running are named.
 *
 * @module
 */

import { deno } from "./support/process.ts";

/** The most seconds that a suite may take; the fast one takes half a minute. */
const LIMIT = Number(Deno.env.get("TEST_LIMIT") ?? 600);

/** Joins the dots, which Deno prints on lines of their own unless it prints to a terminal. */
const joinDots = new TransformStream<string, string>({
  transform: (text, controller) => controller.enqueue(text.replaceAll(/^([.,!])\n/gm, "$1")),
});

const args = ["test", "--reporter=dot", ...Deno.args];
const tests = new Deno.Command(deno, { args, env: { NO_COLOR: "1" }, stdout: "piped" }).spawn();
const timer = setTimeout(() => {
  console.error(`\nThe tests took longer than ${LIMIT} s. These did not end:`);
  tests.kill("SIGINT"); // after which Deno names them
}, LIMIT * 1_000);
await tests.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(joinDots)
  .pipeThrough(new TextEncoderStream()).pipeTo(Deno.stdout.writable);
Deno.exitCode = (await tests.status).code;
clearTimeout(timer);
