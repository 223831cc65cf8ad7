/**
 * Takes the newest version of every dependency, except those that CONTRIBUTING.md says are held, and
 * of Deno, which is the one that runs this: in `deno.json`, and wherever a version is repeated.
 */

import { root } from "./support/files.ts";
import { held } from "./support/held.ts";
import { deno, mustRun } from "./support/process.ts";

/** Replaces the text of a file. */
async function edit(file: string, change: (text: string) => string): Promise<void> {
  await Deno.writeTextFile(file, change(await Deno.readTextFile(file)));
}

Deno.chdir(root);
console.log(await mustRun(deno, ["update", "--latest", ...held.map(({ name }) => `!${name}`)]));
const { imports } = JSON.parse(await Deno.readTextFile("deno.json"));
await edit("import_map.npm.json", (text) => {
  const entries = Object.entries<string>(JSON.parse(text).imports)
    .map(([name, target]) => [name, imports[name].startsWith("npm:") ? imports[name] : target]);
  return JSON.stringify({ imports: Object.fromEntries(entries) }, undefined, 2) + "\n";
});
const old = (await Deno.readTextFile(".dvmrc")).trim();
for (const file of [".dvmrc", ".ci/run", "CONTRIBUTING.md", "README.md"]) {
  await edit(file, (text) => text.replaceAll(old, Deno.version.deno));
}
