/**
 * Proves that operations can be added: runs the gates in a copy of the project, first with the
 * example in CONTRIBUTING.md, and then with `tests/fixtures/overlay.yaml` in addition.
 *
 * @module
 */

import { addExample, addOverlay } from "../tests/fixtures/add.ts";
import { copyProject } from "./support/files.ts";
import { deno, mustRun } from "./support/process.ts";

await using project = await copyProject();
const options = { cwd: project.path };

const fixtures = { "CONTRIBUTING.md's example": addExample, "the overlay in addition": addOverlay };
for (const [name, add] of Object.entries(fixtures)) {
  console.log(`\n== With ${name}`);
  await add(project);
  await mustRun(deno, ["fmt", "--quiet"], options);
  for (const task of ["generate", "check", "test"]) {
    await mustRun(deno, ["task", "--quiet", task], options);
    console.log(`ok ${task}`);
  }
}
