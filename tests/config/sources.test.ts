// What the compiler and the lint do not see in the sources.
import { posix } from "node:path";
import ts from "typescript";
import config from "../../deno.json" with { type: "json" };
import { listProject, read } from "../../scripts/support/files.ts";
import { testList } from "../support/lists.ts";

const files = (await listProject("src", "scripts", "tests")).filter((file) => file.endsWith(".ts"));
const texts = new Map<string, string>();
for (const file of [...files, "mod.ts"]) texts.set(file, await read(file));

/** What a file imports, also types and dynamically: packages, and files from the root. */
function importsOf(file: string): string[] {
  return ts.preProcessFile(texts.get(file) ?? "").importedFiles.map(({ fileName }) =>
    fileName.startsWith(".") ? posix.join(posix.dirname(file), fileName) : fileName
  );
}

/** All that a file imports, directly and through other files. */
function allImportsOf(file: string, seen = new Set<string>()): Set<string> {
  for (const name of importsOf(file)) {
    if (!seen.has(name)) allImportsOf(name, seen.add(name));
  }
  return seen;
}

const sources = files.filter((file) => file.startsWith("src/"));
testList(
  "No file of src/ imports itself through others: move what both need, or hand it over",
  sources.filter((file) => allImportsOf(file).has(file)),
  [],
);

for (const entry of ["mod.ts", "src/sandbox/service.ts"]) {
  testList(
    `${entry} runs where there is no Node.js: it imports no node: module`,
    [...allImportsOf(entry)].filter((name) => name.startsWith("node:")),
    [],
  );
}

const entryPoints = Object.values(config.exports).map((file) => file.replace("./", ""));
const imported = [...texts.values()]
  .flatMap((text) => [...text.matchAll(/\{([^{}]*)\} from "/g)])
  .flatMap(([, list]) => list!.split(",").map((name) => name.trim().replace(/^type | as .*/g, "")));
/** The members of modules that are imported as a whole, such as `failures.http`. */
const members = [...texts.values()].flatMap((text) =>
  [...text.matchAll(/^import \* as (\w+)/gm)].flatMap(([, module]) =>
    [...text.matchAll(new RegExp(`\\b${module}\\.(\\w+)`, "g"))].map(([, member]) => member!)
  )
);
const exports = /^export (?:async |abstract )?(?:function\*?|const|let|class) (\w+)/gm;
testList(
  "What src/ exports is used in another file, or by users: otherwise, it needs no `export`",
  sources.filter((file) => !/^src\/generated\//.test(file) && !entryPoints.includes(file))
    .flatMap((file) => [...texts.get(file)!.matchAll(exports)].map(([, name]) => name!))
    .filter((name) => !imported.includes(name) && !members.includes(name)),
  [],
);
