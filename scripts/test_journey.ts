/**
 * Adds an operation to a copy of the project, as CONTRIBUTING.md describes: the example, with its
 * test, and then a second operation. After each, it runs `deno task check` and the whole suite. The
 * example gets other names if the document has it already.
 *
 * @module
 */

import { appendFile, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  addExample,
  addSecondExample,
  copyProject,
  folder,
  renamed,
  root,
} from "../tests/generate/support.ts";

const left = new Set([".git", "node_modules", "npm", "npm.work"]);

await using project = await folder();
await copyProject(project.path, (await readdir(root)).filter((name) => !left.has(name)));

function runTasks(): void {
  for (const task of ["generate", "check", "test"]) {
    console.log(`\n== deno task ${task}`);
    const { success } = new Deno.Command(Deno.execPath(), {
      args: ["task", "--quiet", task],
      cwd: project.path,
      stdout: "inherit",
      stderr: "inherit",
    }).outputSync();
    if (!success) throw new Error(`deno task ${task} failed`);
  }
}

console.log("The example of CONTRIBUTING.md");
const document = await readFile(join(project.path, "openapi/openapi.yaml"), "utf8");
const edit = /^ +\/reports\b/m.test(document) ? renamed("Other") : (text: string) => text;
const test = edit(await addExample(project.path, edit));
await appendFile(join(project.path, "tests/service.test.ts"), `\n${test}`);
runTasks();

console.log("\nAn operation without a key, that has a body and responds with an array");
await addSecondExample(project.path, edit);
runTasks();
