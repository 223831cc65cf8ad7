/**
 * Runs `deno test` with the arguments given, and prints dots, failures in full, and the summary.
 * A suite that takes too long is interrupted, and the tests that it was running are named. Where
 * `REQUIRE_ALL_TESTS` is set, as in CI, a suite with ignored tests fails, and names these.
 *
 * @module
 */

import { join } from "node:path";
import { makeFolder } from "./support/files.ts";
import { deno } from "./support/process.ts";

/** The most seconds that a suite may take; the fast one takes half a minute. */
const LIMIT = Number(Deno.env.get("TEST_LIMIT") ?? 600);

/** Joins the dots, which Deno prints on lines of their own unless it prints to a terminal. */
const joinDots = new TransformStream<string, string>({
  transform: (text, controller) => controller.enqueue(text.replaceAll(/^([.,!])\n/gm, "$1")),
});

/** The names of ignored tests in a report of Deno, which is XML. */
function ignoredIn(report: string): string[] {
  const signs: Record<string, string> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' };
  return [...report.matchAll(/<testcase name="([^"]*)"[^>]*>\s*<skipped/g)]
    .map(([, name]) => name!.replaceAll(/&(\w+);/g, (_, sign) => signs[sign]!));
}

await using folder = await makeFolder();
const report = join(folder.path, "report.xml");
const args = ["test", "--reporter=dot", `--junit-path=${report}`, ...Deno.args];
const tests = new Deno.Command(deno, { args, env: { NO_COLOR: "1" }, stdout: "piped" }).spawn();
const timer = setTimeout(() => {
  console.error(`\nThe tests took longer than ${LIMIT} s. These did not end:`);
  tests.kill("SIGINT"); // after which Deno names them
}, LIMIT * 1_000);
await tests.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(joinDots)
  .pipeThrough(new TextEncoderStream()).pipeTo(Deno.stdout.writable);
const { code, success } = await tests.status;
clearTimeout(timer);
Deno.exitCode = code;

if (success && Deno.env.get("REQUIRE_ALL_TESTS")) {
  for (const name of ignoredIn(await Deno.readTextFile(report))) {
    console.error(`REQUIRE_ALL_TESTS is set, but this test did not run: ${name}`);
    Deno.exitCode = 1;
  }
}
