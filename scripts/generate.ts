/**
 * Writes `src/generated/` from the OpenAPI document: types, the table of operations, validators.
 *
 *     deno task generate [--check]
 *
 * With `--check` it writes nothing, and fails if the files are not up to date. It also fails, and
 * writes nothing, if the document is refused: see generate/rules.ts.
 *
 * @module
 */

import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { parseArgs } from "node:util";
import { readDocument } from "./generate/document.ts";
import { writeOperations } from "./generate/operations.ts";
import { writeTypes } from "./generate/types.ts";

const source = "openapi/openapi.yaml";
const header = `// Made by \`deno task generate\` from ${source}. Do not edit.\n`;

/** Generates, and writes the files that differ; with `isCheck`, it fails in place of that. */
async function generate(isCheck: boolean): Promise<void> {
  const document = await readDocument(source);
  const files = { types: await writeTypes(document), ...writeOperations(document) };
  const stale = new Map<string, string>();
  for (const [name, code] of Object.entries(files)) {
    const path = `src/generated/${name}.ts`;
    const text = format(header + code);
    if (await readFile(path, "utf8").catch(() => "") !== text) stale.set(path, text);
  }
  const lines = [...stale.keys()].map((path) => `${path} is stale; run \`deno task generate\``);
  if (isCheck && lines.length > 0) throw new Error(lines.join("\n"));
  for (const [path, text] of stale) await writeFile(path, text);
}

/** Formats TypeScript like the project's other files; some of it needs more than one pass. */
function format(input: string): string {
  const args = ["fmt", "--quiet", "--config", "deno.json", "--ext", "ts", "-"];
  const options = { input, encoding: "utf8", maxBuffer: Infinity } as const;
  const output = execFileSync(Deno.execPath(), args, options);
  return output === input ? output : format(output);
}

try {
  const { values } = parseArgs({ options: { check: { type: "boolean" } } });
  await generate(values.check ?? false);
} catch (error) {
  console.error((error as Error).message); // without the stack, which says nothing of the document
  process.exitCode = 1;
}
