/**
 * Runs `deno test` with the arguments given, and prints dots, failures in full, and the summary.
 *
 * @module
 */

import { deno } from "./support/process.ts";

/** Joins the dots, which Deno prints on lines of their own unless it prints to a terminal. */
const joinDots = new TransformStream<string, string>({
  transform: (text, controller) => controller.enqueue(text.replaceAll(/^([.,!])\n/gm, "$1")),
});

const args = ["test", "--reporter=dot", ...Deno.args];
const tests = new Deno.Command(deno, { args, env: { NO_COLOR: "1" }, stdout: "piped" }).spawn();
await tests.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(joinDots)
  .pipeThrough(new TextEncoderStream()).pipeTo(Deno.stdout.writable);
Deno.exitCode = (await tests.status).code;
