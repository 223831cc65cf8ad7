// What the compiler and the lint do not see in the sources.
import { dirname, posix } from "node:path";
import ts from "typescript";
import config from "../../deno.json" with { type: "json" };
import { listProject, read } from "../../scripts/support/files.ts";
import { testList } from "../support/lists.ts";

const entryPoints = Object.values(config.exports).map((file) => file.replace("./", ""));

const files = (await listProject("src", "scripts", "tests")).filter((file) => file.endsWith(".ts"));
const texts = new Map<string, string>();
for (const file of [...files, "mod.ts"]) texts.set(file, await read(file));

/** What a file imports, also types and dynamically: packages, and files from the root. */
function importsOf(file: string): string[] {
  return ts.preProcessFile(texts.get(file)!).importedFiles.map(({ fileName }) =>
    fileName.startsWith(".") ? posix.join(dirname(file), fileName) : fileName
  );
}

/** What the files of a folder, or a file, must not import. */
const foreign: Record<string, RegExp> = {
  "src": /^(node:|src\/(sandbox|cli)\/)/,
  "src/transport": /^(?!src\/(transport\/|errors\.ts$))/,
  "src/sandbox": /^src\/(cli\/|transport\/|(client|call|send_request)\.ts$)/,
  "src/sandbox/service.ts": /^(node:|src\/sandbox\/server\.ts$)/, // workers load it
  "src/generated": /^src\/(?!generated\/|operation\.ts$)/,
  "src/errors.ts": /^(?!src\/transport\/retry\.ts$)/, // the one home of `isTemporary`
};
for (const [part, pattern] of Object.entries(foreign)) {
  testList(
    `${part} imports nothing of other layers, or of Node.js: move what both need, or hand it over`,
    files.filter((file) => file === part || dirname(file) === part).flatMap((file) =>
      importsOf(file).filter((name) => pattern.test(name)).map((name) => `${file} imports ${name}`)
    ),
    [],
  );
}

const imported = [...texts.values()]
  .flatMap((text) => [...text.matchAll(/\{([^{}]*)\} from "/g)])
  .flatMap(([, list]) => list!.split(",").map((name) => name.trim().replace(/^type | as .*/g, "")));
const exports = /^export (?:async |abstract )?(?:function\*?|const|let|class) (\w+)/gm;
testList(
  "What src/ exports is used in another file, or by users: otherwise, it needs no `export`",
  [...texts].filter(([file]) => /^src\/(?!generated\/)/.test(file) && !entryPoints.includes(file))
    .flatMap(([, text]) => [...text.matchAll(exports)].map(([, name]) => name!))
    .filter((name) => !imported.includes(name)),
  [],
);
