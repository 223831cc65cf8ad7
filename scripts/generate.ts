/**
 * Writes `src/generated/` from the OpenAPI document. See `--help`.
 *
 * @module
 */

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { writeOperations } from "./generate/operations.ts";
import { readSpec, show, SpecError } from "./generate/spec.ts";
import { writeTypes } from "./generate/types.ts";
import { writeValidators } from "./generate/validators.ts";

const help = `Writes the types, the table of operations and the validators of an OpenAPI document.

Usage: deno task generate [--spec FILE] [--out FOLDER] [--check]

  --spec FILE    OpenAPI 3.1, in YAML or JSON (default: openapi/openapi.yaml)
  --out FOLDER   where the files go (default: src/generated)
  --check        write nothing; exit with 1 if the files are not up to date
  --help         show this text

Exit status: 0 done, 1 the files are not up to date or the document is invalid, 2 wrong usage.
`;

const root = fileURLToPath(new URL("..", import.meta.url));
const args = process.argv.slice(2);

type Options = ReturnType<typeof readOptions>;

function readOptions() {
  const { values: { spec, out, check, help } } = parseArgs({
    args,
    options: {
      spec: { type: "string", default: join(root, "openapi", "openapi.yaml") },
      out: { type: "string", default: join(root, "src", "generated") },
      check: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (!spec || !out) throw new TypeError("--spec and --out must not be empty");
  return { spec: resolve(spec), out: resolve(out), check, help };
}

/** Generates, and returns a message about it. */
async function generate(options: Options): Promise<string> {
  const { out, check } = options;
  const files = await generateFiles(options);
  const stale: string[] = [];
  for (const [name, text] of files) {
    if (await readFile(join(out, name), "utf8").catch(() => "") !== text) stale.push(name);
  }
  if (stale.length === 0) return `${show(out)} is up to date`;
  if (check) {
    const command = ["deno task generate", ...args.filter((arg) => arg !== "--check")].join(" ");
    throw new SpecError(`${show(out)} is stale (${stale.join(", ")}); run \`${command}\``);
  }
  await replace(out, files);
  return `Wrote ${stale.join(", ")} in ${show(out)}`;
}

/** The generated files, by name. */
async function generateFiles({ spec: file, out }: Options): Promise<Map<string, string>> {
  const spec = await readSpec(file);
  for (const note of spec.notes) console.error(`Note: ${note}`);
  const source = relative(out, join(root, "src", "operation.ts")).replaceAll("\\", "/");
  const { code, responses } = writeOperations(spec.document, source);
  const from = file.startsWith(root) ? relative(root, file).replaceAll("\\", "/") : basename(file);
  const header = `// Made by \`deno task generate\` from ${from}. Do not edit.\n`;
  return new Map([
    ["types.ts", format(header + await writeTypes(spec.document))],
    ["operations.ts", format(header + code)],
    ["validators.ts", format(header + writeValidators(spec, responses, source))],
  ]);
}

/** Formats TypeScript like the project's other files; some of it needs more than one pass. */
function format(input: string): string {
  const args = ["fmt", "--quiet", "--config", join(root, "deno.json"), "--ext", "ts", "-"];
  const options = { input, encoding: "utf8", maxBuffer: Infinity } as const;
  const output = execFileSync(Deno.execPath(), args, options);
  return output === input ? output : format(output);
}

/** Replaces files together: the old ones stay until every new file is written. */
async function replace(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(folder, { recursive: true });
  const temporary = await mkdtemp(join(folder, ".new-"));
  try {
    for (const [name, text] of files) await writeFile(join(temporary, name), text);
    for (const name of files.keys()) await rename(join(temporary, name), join(folder, name));
  } finally {
    await rm(temporary, { recursive: true });
  }
}

let options: Options | undefined;
try {
  options = readOptions();
  console.log(options.help ? help : await generate(options));
} catch (error) {
  const { message } = error as Error; // without the stack, which says nothing about the document
  process.exitCode = options ? 1 : 2;
  if (!options) console.error(`${message}\n\n${help}`);
  else if (error instanceof SpecError) console.error(message);
  else console.error(`Cannot generate from "${show(options.spec)}": ${message}`);
}
