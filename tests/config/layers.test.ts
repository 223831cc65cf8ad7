import { expect } from "@std/expect";
import { readFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import ts from "typescript";

import { listFiles, root } from "../../scripts/support/files.ts";

const read = (file: string) => readFile(join(root, file), "utf8");

/** Lists the files of a folder whose path matches. */
async function find(folder: string, pattern: RegExp): Promise<string[]> {
  const files = (await listFiles(join(root, folder))).map((file) => `${folder}/${file}`);
  return files.filter((file) => pattern.test(file));
}

/** What a file imports, also types and dynamically: packages, and files from the root. */
async function importsOf(file: string): Promise<string[]> {
  return ts.preProcessFile(await read(file)).importedFiles.map(({ fileName }) =>
    fileName.startsWith(".") ? posix.join(dirname(file), fileName) : fileName
  );
}

/** Whether a file imports the default export of openapi-fetch, which makes its client. */
async function makesClient(file: string): Promise<boolean> {
  const { statements } = ts.createSourceFile(file, await read(file), ts.ScriptTarget.Latest);
  return statements.some((statement) =>
    ts.isImportDeclaration(statement) && statement.importClause?.name &&
    (statement.moduleSpecifier as ts.StringLiteral).text === "openapi-fetch"
  );
}

Deno.test("src/transport/ imports itself and the errors, and nothing else", async () => {
  const files = await find("src/transport", /\.ts$/);
  expect(files).toContain("src/transport/send.ts");
  for (const file of files) {
    const others = (await importsOf(file)).filter((name) => !files.includes(name));
    expect([file, others.filter((name) => name !== "src/errors.ts")]).toEqual([file, []]);
  }
  expect(await importsOf("src/errors.ts")).toEqual([]);
});

Deno.test("the tests of src/transport/ use neither openapi-fetch nor a client", async () => {
  const reached = new Set(await find("tests", /^tests\/transport_.*\.test\.ts$/));
  expect(reached.size).toBeGreaterThan(0);
  for (const file of reached) { // which grows
    if (!file.endsWith(".ts")) continue;
    for (const name of await importsOf(file)) reached.add(name);
  }
  const clients = /^(mod\.ts|src\/(client|call|fetch|data)\.ts|openapi-fetch)$/;
  expect([...reached].filter((name) => clients.test(name))).toEqual([]);
});

Deno.test("only src/client.ts makes openapi-fetch's client", async () => {
  const files = ["mod.ts", ...await find("src", /\.ts$/)];
  const makers = await Promise.all(files.map(makesClient));
  expect(files.filter((_, index) => makers[index])).toEqual(["src/client.ts"]);
});
