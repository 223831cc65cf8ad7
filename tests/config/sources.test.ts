// What the compiler and the lint do not see in the sources.
import { expect } from "@std/expect";
import { dirname, join, posix } from "node:path";
import ts from "typescript";
import config from "../../deno.json" with { type: "json" };
import { listFiles, root } from "../../scripts/support/files.ts";

const texts = new Map<string, string>();
for (const folder of ["src", "scripts", "tests"]) {
  for (const name of await listFiles(join(root, folder))) {
    const file = `${folder}/${name}`;
    if (file.endsWith(".ts")) texts.set(file, await Deno.readTextFile(join(root, file)));
  }
}
texts.set("mod.ts", await Deno.readTextFile(join(root, "mod.ts")));

/** What a file imports, also types and dynamically: packages, and files from the root. */
function importsOf(file: string): string[] {
  return ts.preProcessFile(texts.get(file)!).importedFiles.map(({ fileName }) =>
    fileName.startsWith(".") ? posix.join(dirname(file), fileName) : fileName
  );
}

/** What the files of a folder, and no other, must not import. */
const foreign: Record<string, RegExp> = {
  "src": /^src\/(sandbox|cli)\//,
  "src/transport": /^(?!src\/(transport\/|errors\.ts$))/,
  "src/sandbox": /^src\/(cli\/|transport\/|(client|call|fetch)\.ts$)/,
  "src/generated": /^src\/(?!generated\/|operation\.ts$)/,
};
for (const [folder, pattern] of Object.entries(foreign)) {
  Deno.test(`${folder}/ imports nothing of other layers`, () => {
    const files = [...texts.keys()].filter((file) => dirname(file) === folder);
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      expect([file, importsOf(file).filter((name) => pattern.test(name))]).toEqual([file, []]);
    }
  });
}

Deno.test("src/errors.ts imports nothing", () => expect(importsOf("src/errors.ts")).toEqual([]));

Deno.test("each function, constant and class that src/ exports is used elsewhere, or by users", () => {
  const imports = /\{([^{}]*)\} from "/g;
  const exports = /^export (?:async |abstract )?(?:function\*?|const|let|class) (\w+)/gm;
  const imported = [...texts.values()]
    .flatMap((text) => [...text.matchAll(imports)].flatMap(([, list]) => list!.split(",")))
    .map((name) => name.trim().replace(/^type | as .*/g, ""));
  const entries = Object.values(config.exports).map((file) => file.replace("./", ""));
  const unused = [...texts]
    .filter(([file]) => /^src\/(?!generated\/)/.test(file) && !entries.includes(file))
    .flatMap(([, text]) => [...text.matchAll(exports)].map(([, name]) => name!))
    .filter((name) => !imported.includes(name));
  expect(unused).toEqual([]);
});

Deno.test("each test expects something", () => {
  const longTests = /^( *)Deno\.test\((?!.*\);$)[^]*?^\1(?:\}.*)?\);$/gm; // of more than a line
  const found = [...texts].filter(([file]) => file.startsWith("tests/"))
    .flatMap(([, text]) => text.match(longTests) ?? []);
  expect(found.length).toBeGreaterThan(150);
  expect(found.filter((test) => !/\b(expect|assert)/.test(test))).toEqual([]);
});

Deno.test("each test awaits what it expects of a promise", () => {
  const statements = /^( *)(?:expect|caught|rejections?)\(.*(?:\n\1[ )\]}].*)*;$/gm;
  const found = [...texts.values()].flatMap((text) => text.match(statements) ?? []);
  expect(found.length).toBeGreaterThan(500);
  const isPromise = /^(?!expect)|\)\s*\.(rejects|resolves)\b/;
  expect(found.filter((statement) => isPromise.test(statement.trim()))).toEqual([]);
});
