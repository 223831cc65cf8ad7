import { expect } from "@std/expect";
import { dirname, join, posix } from "node:path";
import ts from "typescript";

import { listFiles, root } from "../../scripts/support/files.ts";

/** What a file imports, also types and dynamically: packages, and files from the root. */
async function importsOf(file: string): Promise<string[]> {
  const text = await Deno.readTextFile(join(root, file));
  return ts.preProcessFile(text).importedFiles.map(({ fileName }) =>
    fileName.startsWith(".") ? posix.join(dirname(file), fileName) : fileName
  );
}

Deno.test("src/transport/ imports itself and the errors, and nothing else", async () => {
  const files = (await listFiles(join(root, "src/transport"))).map((name) =>
    `src/transport/${name}`
  );
  expect(files).toContain("src/transport/send.ts");
  for (const file of files) {
    const others = (await importsOf(file)).filter((name) => !files.includes(name));
    expect([file, others.filter((name) => name !== "src/errors.ts")]).toEqual([file, []]);
  }
  expect(await importsOf("src/errors.ts")).toEqual([]);
});
