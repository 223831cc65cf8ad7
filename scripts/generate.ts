/**
 * Writes `src/generated/` from the OpenAPI document: types, the table of operations, validators.
 *
 *     deno task generate [--check]
 *
 * With `--check` it writes nothing, and fails if the files are not up to date. It also fails if the
 * document is refused.
 *
 * @module
 */

import { execFileSync } from "node:child_process";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { writeOperations } from "./generate/operations.ts";
import { readSpec, SpecError } from "./generate/spec.ts";
import { writeTypes } from "./generate/types.ts";
import { writeValidators } from "./generate/validators.ts";
import { makeFolder, root } from "./support/files.ts";

const source = "openapi/openapi.yaml";
const usage = "Usage: deno task generate [--check]";
const target = "src/generated";
const header = `// Made by \`deno task generate\` from ${source}. Do not edit.\n`;

/** Generates, and returns a message about it. */
async function generate(isCheck: boolean): Promise<string> {
  const document = await readSpec(join(root, source));
  const { code: operations, responses } = writeOperations(document);
  const files = {
    "types.ts": await writeTypes(document),
    "operations.ts": operations,
    "validators.ts": writeValidators(document, responses),
  };
  const stale = new Map<string, string>();
  for (const [name, code] of Object.entries(files)) {
    const text = format(header + code);
    const old = await readFile(join(root, target, name), "utf8").catch(() => "");
    if (old !== text) stale.set(name, text);
  }
  if (stale.size === 0) return `${target} is up to date`;
  const names = [...stale.keys()].join(", ");
  if (isCheck) throw new SpecError(`${target} is stale (${names}); run \`deno task generate\``);
  await using folder = await makeFolder(); // the old files stay until every new one is written
  for (const [name, text] of stale) await folder.write(name, text);
  await cp(folder.path, join(root, target), { recursive: true });
  return `Wrote ${names} in ${target}`;
}

/** Formats TypeScript like the project's other files; some of it needs more than one pass. */
function format(input: string): string {
  const args = ["fmt", "--quiet", "--config", join(root, "deno.json"), "--ext", "ts", "-"];
  const options = { input, encoding: "utf8", maxBuffer: Infinity } as const;
  const output = execFileSync(Deno.execPath(), args, options);
  return output === input ? output : format(output);
}

try {
  const [flag, ...others] = Deno.args;
  if (others.length > 0 || (flag && flag !== "--check")) throw new SpecError(usage);
  console.log(await generate(flag === "--check"));
} catch (error) {
  const { message } = error as Error; // without the stack, which says nothing about the document
  const isKnown = error instanceof SpecError;
  console.error(isKnown ? message : `Cannot generate from "${source}": ${message}`);
  process.exitCode = 1;
}
