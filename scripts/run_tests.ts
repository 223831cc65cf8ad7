/**
 * Runs `deno test` with the arguments given, and prints dots, failures in full, and the summary.
 * A suite that takes too long is interrupted. Of an interrupted suite, also by Ctrl-C, it prints the
 * tests that did not end, and the failures. Where `REQUIRE_ALL_TESTS` is set, as in CI, a suite with
 * ignored tests fails, and names these.
 *
 * @module
 */

import { join } from "node:path";
import { makeFolder } from "./support/files.ts";
import { deno } from "./support/process.ts";

/** The most seconds that a suite may take. */
const LIMIT = Number(Deno.env.get("TEST_LIMIT") ?? 600);

/** Joins the dots, which Deno prints on lines of their own unless it prints to a terminal. */
const joinDots = new TransformStream<string, string>({
  transform: (text, controller) => controller.enqueue(text.replaceAll(/^([.,!])\n/gm, "$1")),
});

/** The tests in a report of Deno, which is XML, that were ignored or failed: name and reason. */
async function testsWith(result: "skipped" | "failure"): Promise<string[]> {
  const signs: Record<string, string> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' };
  const pattern = RegExp(`<testcase name="([^"]*)"[^>]*>\\s*<${result}[^>]*>([^<]*)`, "g");
  return [...(await Deno.readTextFile(report)).matchAll(pattern)]
    .map(([, name, reason]) => `${name}\n${reason}`.trim())
    .map((text) => text.replaceAll(/&(\w+);/g, (_, sign) => signs[sign]!));
}

await using folder = await makeFolder();
const report = join(folder.path, "report.xml");
const args = ["test", "--reporter=dot", `--junit-path=${report}`, ...Deno.args];
const tests = new Deno.Command(deno, { args, env: { NO_COLOR: "1" }, stdout: "piped" }).spawn();
Deno.addSignalListener("SIGINT", () => {}); // Ctrl-C ends the tests; this prints what failed
const timer = setTimeout(() => {
  console.error(`\nThe tests took longer than ${LIMIT} s. These did not end:`);
  tests.kill("SIGINT"); // after which Deno names them
}, LIMIT * 1_000);
await tests.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(joinDots)
  .pipeThrough(new TextEncoderStream()).pipeTo(Deno.stdout.writable);
const { code, signal, success } = await tests.status;
clearTimeout(timer);
Deno.exitCode = code;

if (code === 130 && !signal) { // Deno was interrupted, and has written its report
  for (const failure of await testsWith("failure")) console.error(`\nThis failed: ${failure}`);
}
if (success && Deno.env.get("REQUIRE_ALL_TESTS")) {
  for (const name of await testsWith("skipped")) {
    console.error(`REQUIRE_ALL_TESTS is set, but this test did not run: ${name}`);
    Deno.exitCode = 1;
  }
}
