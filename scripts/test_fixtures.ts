/**
 * Proves that operations can be added: runs the gates in a copy of the project, first with the
 * example in CONTRIBUTING.md, and then also with `tests/fixtures/overlay.yaml`.
 *
 * @module
 */

import { copyProject } from "./support/files.ts";
import { addExample, addOverlay } from "../tests/fixtures/add.ts";
import { deno, mustRun, run } from "./support/process.ts";

await using project = await copyProject();
const options = { cwd: project.path };

/** Runs a task to its end, and prints what it wrote if it fails. */
async function runTask(task: string): Promise<void> {
  const start = Date.now();
  const { success, output } = await run(deno, ["task", "--quiet", task], options);
  const seconds = Math.round((Date.now() - start) / 1_000);
  console.log(`   deno task ${task} ${success ? "passes" : "FAILS"} (${seconds} s)`);
  if (success) return;
  console.error(output);
  Deno.exitCode = 1;
}

const fixtures = { "CONTRIBUTING.md's example": addExample, "the overlay in addition": addOverlay };
for (const [name, add] of Object.entries(fixtures)) {
  console.log(`\n== With ${name}`);
  await add(project);
  await mustRun(deno, ["fmt", "--quiet"], options);
  for (const task of ["generate", "check", "test"]) await runTask(task);
}
