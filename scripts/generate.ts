/**
 * Writes `src/generated/` from the OpenAPI description. See `--help`.
 *
 * @module
 */

import { watch } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describeChanges } from "./generate/changes.ts";
import { type Contract, readContract } from "./generate/operations.ts";
import { contractFile, writeFiles } from "./generate/output.ts";
import { readSpec, show, SpecError } from "./generate/spec.ts";

const help =
  `Writes the types, the table of operations and the validators of an OpenAPI description.

Usage: deno task generate [--spec FILE] [--out FOLDER] [--check | --watch]

  --spec FILE    OpenAPI 3.0 or 3.1, in YAML or JSON (default: openapi/openapi.yaml)
  --out FOLDER   where the files go (default: src/generated)
  --check        write nothing; exit with 1 if the files are not what would be written
  --watch        write again whenever the description changes
  --help         show this text

Exit status: 0 done, 1 the files are stale or the description is broken, 2 wrong usage.
`;

const root = fileURLToPath(new URL("..", import.meta.url));
const defaults = {
  spec: join(root, "openapi", "openapi.yaml"),
  out: join(root, "src", "generated"),
};

interface Options {
  readonly spec: string;
  readonly out: string;
  readonly check: boolean;
  readonly watch: boolean;
  readonly help: boolean;
}

class UsageError extends Error {}

function readOptions(args: string[]): Options {
  const values = parse(args);
  if (values.check && values.watch) throw new UsageError("--check and --watch exclude each other");
  for (const name of ["spec", "out"] as const) {
    if (values[name] === "") throw new UsageError(`--${name} must not be empty`);
  }
  return {
    spec: resolve(values.spec ?? defaults.spec),
    out: resolve(values.out ?? defaults.out),
    check: values.check ?? false,
    watch: values.watch ?? false,
    help: values.help ?? false,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        spec: { type: "string" },
        out: { type: "string" },
        check: { type: "boolean" },
        watch: { type: "boolean" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** The command that writes the files again. */
function commandFor({ spec, out }: Options): string {
  const args = [
    ...(spec === defaults.spec ? [] : ["--spec", show(spec)]),
    ...(out === defaults.out ? [] : ["--out", show(out)]),
  ];
  return ["deno task generate", ...args].join(" ");
}

function headerFor({ spec }: Options): string {
  const path = relative(root, spec).replaceAll("\\", "/");
  const name = path.startsWith("..") || isAbsolute(path) ? path.replace(/^.*\//, "") : path;
  return `Made by \`deno task generate\` from ${name}. Do not edit.`;
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Replaces files all at once: what is there stays until every new file is written. */
async function replace(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(folder, { recursive: true });
  const temporary = [...files.keys()].map((name) => join(folder, `.${name}.${process.pid}.tmp`));
  try {
    await Promise.all([...files.values()].map((text, i) => writeFile(temporary[i] ?? "", text)));
    for (const [index, name] of [...files.keys()].entries()) {
      await rename(temporary[index] ?? "", join(folder, name));
    }
  } finally {
    await Promise.all(temporary.map((path) => rm(path, { force: true })));
  }
}

/** The contract that the last run wrote. */
async function readPrevious(folder: string): Promise<Contract | undefined> {
  const text = await readText(join(folder, contractFile));
  if (text === undefined) return undefined;
  try {
    const { apiKeyHeader, operations, definitions } = JSON.parse(text);
    return { apiKeyHeader, operations, definitions };
  } catch {
    return undefined;
  }
}

const maxLines = 20;

function printNotes(title: string, notes: readonly (() => string)[]): void {
  if (notes.length === 0) return;
  const lines = notes.slice(0, maxLines).map((write) => write());
  if (notes.length > maxLines) lines.push(`… and ${notes.length - maxLines} more`);
  console.error([`${title}:`, ...lines].join("\n  "));
}

/** Runs once. Returns the files that the description is made of, and whether all is well. */
async function generate(options: Options): Promise<{ ok: boolean; files: readonly string[] }> {
  const spec = await readSpec(options.spec);
  const { contract, unchecked } = readContract(spec);
  printNotes("Warnings", spec.warnings);
  printNotes("Not checked at run time", unchecked.map((pointer) => () => `#${pointer}`));

  const files = await writeFiles(spec, contract, headerFor(options));
  const stale: string[] = [];
  for (const [name, text] of files) {
    if (await readText(join(options.out, name)) !== text) stale.push(name);
  }
  if (stale.length === 0) {
    console.log(`${show(options.out)} is up to date`);
  } else if (options.check) {
    console.error(
      `${show(options.out)} is stale (${stale.join(", ")}); run \`${commandFor(options)}\``,
    );
  } else {
    const changes = describeChanges(await readPrevious(options.out), contract);
    await replace(options.out, files);
    console.log(`Wrote ${stale.join(", ")} in ${show(options.out)}\n${changes}`);
  }
  return { ok: stale.length === 0 || !options.check, files: spec.files };
}

/** Runs whenever something changes where the description lies, until the process is ended. */
async function generateForever(options: Options): Promise<never> {
  let folders = [dirname(options.spec)];
  for (;;) {
    const closing = new AbortController();
    const changes = [nextChange(folders, closing.signal)];
    try {
      const { files } = await generate(options);
      const more = files.map((file) => dirname(file)).filter((path) => !folders.includes(path));
      changes.push(nextChange(more, closing.signal));
      folders = [...new Set([...folders, ...more])];
    } catch (error) {
      if (!(error instanceof SpecError)) throw error;
      console.error(error.message);
    }
    console.error("Waiting for changes");
    await Promise.race(changes);
    closing.abort();
  }
}

/** Resolves soon after a file in one of the folders has changed. */
function nextChange(folders: readonly string[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    for (const folder of folders) {
      watch(folder, { signal }, () => setTimeout(resolve, 100)); // lets the writer finish
    }
  });
}

async function main(args: string[]): Promise<number> {
  try {
    const options = readOptions(args);
    if (options.help) {
      console.log(help);
      return 0;
    }
    if (options.watch) return await generateForever(options);
    return (await generate(options)).ok ? 0 : 1;
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`${error.message}\n\n${help}`);
      return 2;
    }
    if (!(error instanceof SpecError)) throw error;
    console.error(error.message);
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
