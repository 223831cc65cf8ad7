/**
 * Proves that operations can be added: runs the gates in a copy of the project with the example in
 * CONTRIBUTING.md and `tests/overlay/overlay.yaml`.
 *
 * @module
 */

import { addExample, addOverlay } from "../tests/overlay/add.ts";
import { copyProject } from "./support/files.ts";
import { deno, mustRun } from "./support/process.ts";

await using project = await copyProject();
const options = { cwd: project.path };

if (!await addExample(project)) console.log("The document has the example in CONTRIBUTING.md");
await addOverlay(project);
await mustRun(deno, ["fmt", "--quiet"], options);
for (const task of ["generate", "check", "test"]) {
  await mustRun(deno, ["task", "--quiet", task], options);
  console.log(`ok ${task}`);
}
