/**
 * Runs `check` and the fast suite on next versions of the OpenAPI document, each in a copy of the
 * project.
 *
 *     deno task test:fixtures [NAME…]
 *
 * Beside `tests/fixtures/NAME.yaml`, `NAME.json` says what has to be edited by hand, and which
 * tests of the contract fail because the document changes what they state. Nothing else may fail,
 * and each of these must.
 */

import { join } from "node:path";
import { copyProject, listFiles, root } from "./support/files.ts";
import { deno, mustRun, type Outcome, run } from "./support/process.ts";

const fixtures = join(root, "tests/fixtures");

/** What a document changes besides the generated code. */
interface Consequences {
  edits: { replace: string; by: string; in: string[] }[];
  /** Names of tests, each with the reason why it fails. */
  fails: Record<string, string>;
}

/** Where the contract's tests are. No other file may have one that fails. */
const CONTRACT = "tests/service.test.ts";

/** The tests in the summary of a run, and modules that failed outside of a test. */
function failuresIn(output: string): string[] {
  const [, list = ""] = output.split(/^ FAILURES $/m);
  return [...list.matchAll(/^(.+ => \.\/.+|\.\/.+ \(uncaught error\))$/gm)]
    .map(([line]) => line.replace(/:\d+:\d+$/, ""));
}

/** Runs a task to its end, and says how long it took. */
async function runTask(task: string, cwd: string): Promise<Outcome> {
  const start = Date.now();
  const outcome = await run(deno, ["task", "--quiet", task], { cwd });
  console.log(`   deno task ${task}: ${Math.round((Date.now() - start) / 1_000)} s`);
  return outcome;
}

/** Tests a document; returns what is wrong. */
async function testFixture(name: string): Promise<string[]> {
  console.log(`\n== ${name}.yaml`);
  const { edits, fails }: Consequences = JSON.parse(
    await Deno.readTextFile(join(fixtures, `${name}.json`)),
  );
  await using project = await copyProject();
  const document = await Deno.readTextFile(join(fixtures, `${name}.yaml`));
  await project.write("openapi/openapi.yaml", document);
  for (const { replace, by, in: files } of edits) {
    for (const file of files) {
      const text = await Deno.readTextFile(join(project.path, file));
      if (!text.includes(replace)) return [`${file} has no ${replace} to edit`];
      await project.write(file, text.replaceAll(replace, by));
      await mustRun(deno, ["fmt", "--quiet", file], { cwd: project.path });
    }
  }

  const problems: string[] = [];
  for (const task of ["generate", "check"]) {
    const { success, output } = await runTask(task, project.path);
    if (!success) problems.push(output, `deno task ${task} failed`);
  }
  const { success, output } = await runTask("test", project.path);
  const errors = output.replace(/^[^]*^ ERRORS $/m, "");
  const expected = Object.keys(fails).map((test) => `${test} => ./${CONTRACT}`);
  const failures = failuresIn(output);
  const others = failures.filter((failure) => !expected.includes(failure));
  if (others.length) problems.push(errors, "These must pass:", ...others);
  if (!success && !failures.length) problems.push(errors, "deno task test failed");
  const stale = expected.filter((failure) => !failures.includes(failure));
  if (stale.length) problems.push(`${name}.json names tests that pass, or are gone:`, ...stale);
  console.log(`   ${failures.length} tests fail, and ${name}.json says so of ${expected.length}`);
  return problems;
}

const files = await listFiles(fixtures);
const names = files.filter((file) => file.endsWith(".yaml")).map((file) => file.slice(0, -5));
for (const name of Deno.args.length ? Deno.args : names) {
  const problems = await testFixture(name);
  if (problems.length) Deno.exitCode = 1;
  for (const problem of problems) console.error(problem);
}
