// What the files of src/ import, also through others.
import { expect } from "@std/expect";
import { posix } from "node:path";
import ts from "typescript";
import { listProject, read } from "../../scripts/support/files.ts";

const sources = await listProject("src");
const texts = new Map<string, string>();
for (const file of ["mod.ts", ...sources]) texts.set(file, await read(file));

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

Deno.test("no file of src/ imports itself through others", () => {
  expect(sources.filter((file) => allImportsOf(file).has(file))).toEqual([]);
});

Deno.test("the files of src/http/ import nothing outside their folder", () => {
  const files = sources.filter((file) => file.startsWith("src/http/"));
  const others = files.flatMap(importsOf).filter((name) => !files.includes(name));
  expect([files.length > 0, others]).toEqual([true, []]);
});

for (const entry of ["mod.ts", "src/sandbox/service.ts"]) {
  Deno.test(`${entry} runs where there is no Node.js: it imports no node: module`, () => {
    expect([...allImportsOf(entry)].filter((name) => name.startsWith("node:"))).toEqual([]);
  });
}
