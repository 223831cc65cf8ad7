/**
 * Runs the generator on large and odd descriptions, and measures it. `deno task test:generate`
 *
 * The descriptions come from npm, into a cache outside of the project: GitHub's, with more than a
 * thousand operations, and the examples that ReadMe tests its tools with.
 *
 * @module
 */

import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { readContract } from "../../scripts/generate/operations.ts";
import { writeFiles } from "../../scripts/generate/output.ts";
import { follow, isObject, objectOf } from "../../scripts/generate/schema.ts";
import { type Json, type JsonObject, readSpec, SpecError } from "../../scripts/generate/spec.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "scam-address-client");
const packages = ["@octokit/openapi@23.0.2", "@readme/oas-examples@8.2.2", "esbuild@0.28.2"];

async function install(): Promise<void> {
  await mkdir(cache, { recursive: true });
  console.log(`Installing ${packages.join(", ")} in ${cache}`);
  const args = ["install", "--prefix", cache, "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", [...args, ...packages]);
}

/** The first operations of a description, with what they refer to. */
function first(count: number, document: JsonObject): JsonObject {
  const paths: JsonObject = {};
  let left = count;
  for (const [path, item] of Object.entries(objectOf(document.paths))) {
    const fields = Object.entries(objectOf(item)).filter(([name]) =>
      !/^(get|put|post|delete|options|head|patch|trace)$/.test(name) || left-- > 0
    );
    paths[path] = Object.fromEntries(fields);
    if (left <= 0) break;
  }
  const components: JsonObject = {};
  const visit = (value: Json): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isObject(value)) return;
    const [, kind, name] = String(value.$ref).match(/^#\/components\/(\w+)\/([^/]+)$/) ?? [];
    if (kind && name) {
      const group = objectOf(components[kind]);
      components[kind] = group;
      if (!Object.hasOwn(group, name)) {
        group[name] = follow(document, `/components/${kind}/${name}`) ?? {};
        visit(group[name]);
      }
    }
    Object.values(value).forEach(visit);
  };
  visit(paths);
  const { openapi = "", info = {}, servers = [] } = document;
  return { openapi, info, servers, paths, components };
}

/** Type-checks files as strictly as the project's own. */
async function typeCheck(files: string[]): Promise<void> {
  const config = join(root, "deno.json");
  await run(Deno.execPath(), ["check", "--quiet", "--config", config, ...files], {
    maxBuffer: Infinity,
  });
}

/** Runs the generator as its own process. */
async function measure(file: string, out: string) {
  const start = performance.now();
  // The peak of a process is known to itself, so it is told to print it.
  const code = `
    process.argv.splice(2, Infinity, "--spec", ${JSON.stringify(file)}, "--out", ${
    JSON.stringify(out)
  });
    await import(${JSON.stringify(new URL("../../scripts/generate.ts", import.meta.url).href)});
    console.log("peak " + (await Deno.readTextFile("/proc/self/status")).match(/VmHWM:\\s+(\\d+)/)[1]);
  `;
  const args = [
    "eval",
    "--import-map=import_map.npm.json",
    `import process from "node:process";${code}`,
  ];
  const { stdout } = await run(Deno.execPath(), args, { cwd: root, maxBuffer: Infinity });
  const seconds = (performance.now() - start) / 1000;
  return { seconds, megabytes: Number(stdout.match(/peak (\d+)/)?.[1]) / 1024 };
}

/** Nanoseconds for one look-up in the table of operations. */
async function lookUp(out: string): Promise<number> {
  const { operations } = await import(`file://${out}/operations.ts`);
  const keys = Object.keys(operations);
  const rounds = 2_000_000;
  let found = 0;
  for (let round = 0; round < rounds; round++) if (operations[keys[round % keys.length]!]) found++;
  const start = performance.now();
  for (let round = 0; round < rounds; round++) if (operations[keys[round % keys.length]!]) found++;
  const time = performance.now() - start;
  if (found !== 2 * rounds) throw new Error("An operation was not found");
  return time * 1e6 / rounds;
}

async function gzipped(entry: string, code: string): Promise<{ size: number; text: string }> {
  await writeFile(entry, code);
  const esbuild = join(cache, "node_modules", ".bin", "esbuild");
  const args = [
    "--bundle",
    "--minify",
    "--format=esm",
    "--platform=neutral",
    "--external:openapi-fetch",
  ];
  const { stdout } = await run(esbuild, [...args, entry], { maxBuffer: Infinity });
  return { size: gzipSync(stdout, { level: 9 }).length, text: stdout };
}

async function github(work: string): Promise<void> {
  const file = join(cache, "node_modules/@octokit/openapi/generated/api.github.com.json");
  const document: JsonObject = JSON.parse(await readFile(file, "utf8"));
  const rows = [];
  for (const count of [1, 100, 1000, "all"] as const) {
    const spec = count === "all" ? file : join(work, `${count}.json`);
    const out = join(work, `out-${count}`);
    if (count !== "all") await writeFile(spec, JSON.stringify(first(count, document), null, 2));
    const { seconds, megabytes } = await measure(spec, out);
    await typeCheck(["types.ts", "operations.ts", "validators.ts"].map((name) => join(out, name)));
    const kilobytes = async (name: string) =>
      Math.round((await readFile(join(out, name))).length / 1024);
    const bundle = await gzipped(
      join(out, "bundle.ts"),
      'export { operations } from "./operations.ts";',
    );
    rows.push({
      "operations": count,
      "description kB": Math.round((await readFile(spec)).length / 1024),
      "seconds": Number(seconds.toFixed(1)),
      "peak MB": Math.round(megabytes),
      "types kB": await kilobytes("types.ts"),
      "validators kB": await kilobytes("validators.ts"),
      "table kB": await kilobytes("operations.ts"),
      "bundled, gzipped kB": Number((bundle.size / 1024).toFixed(1)),
      "look-up ns": Math.round(await lookUp(out)),
    });
  }
  console.table(rows);
}

async function examples(work: string): Promise<void> {
  const folder = join(cache, "node_modules/@readme/oas-examples");
  const names = (await Promise.all(["3.0/json", "3.1/json"].map(async (version) => {
    const files = await readdir(join(folder, version), { recursive: true });
    return files.filter((name) => name.endsWith(".json")).map((name) => join(version, name));
  }))).flat().sort();
  const checked: string[] = [];
  const refused: string[] = [];
  let unserved = 0;
  const generate = async (file: string, out: string): Promise<void> => {
    const spec = await readSpec(file);
    const files = await writeFiles(spec, readContract(spec).contract, `From ${basename(file)}.`);
    await mkdir(out);
    for (const [name, text] of files) {
      await writeFile(join(out, name), text);
      if (name.endsWith(".ts")) checked.push(join(out, name));
    }
  };
  for (const name of names) {
    const file = join(folder, name);
    const out = join(work, name.replaceAll(/\W/g, "_"));
    try {
      await generate(file, out);
    } catch (error) {
      if (!(error instanceof SpecError)) throw new Error(`${name} failed`, { cause: error });
      refused.push(`${name}: ${error.message.split("\n", 1)[0]?.replace(/^\S*\//, "")}`);
      if (!error.message.includes(" security: ")) continue;
      // All else in it is to go through.
      await writeFile(
        `${out}.json`,
        JSON.stringify(unsecured(JSON.parse(await readFile(file, "utf8")))),
      );
      await generate(`${out}.json`, out);
      unserved++;
    }
  }
  await typeCheck(checked);
  const went = names.length - refused.length;
  console.log(
    `${went} of ${names.length} examples went through, ${unserved} more without security:`,
  );
  console.log(`  ${refused.join("\n  ")}`);
}

/** A description without security. */
function unsecured(document: JsonObject): JsonObject {
  for (const item of Object.values(objectOf(document.paths))) {
    for (const operation of Object.values(objectOf(item))) {
      if (isObject(operation)) delete operation.security;
    }
  }
  delete document.security;
  return document;
}

/** What a bundler keeps of the package for a program that cannot call an operation. */
async function treeShaking(work: string): Promise<void> {
  const program = (names: string) =>
    gzipped(
      join(work, "entry.ts"),
      `export { ${names} } from ${JSON.stringify(join(root, "mod.ts"))};`,
    );
  const all = await program("createClient");
  const errors = await program("HttpError");
  if (!all.text.includes("checkKey") || errors.text.includes("checkKey")) {
    throw new Error("A bundler keeps operations for a program that uses none");
  }
  console.log(`createClient: ${all.size} bytes gzipped, HttpError alone: ${errors.size} bytes`);
}

const work = join(cache, `work-${process.pid}`);
await install();
await mkdir(work, { recursive: true });
try {
  await treeShaking(work);
  await examples(work);
  await github(work);
} finally {
  await rm(work, { recursive: true, force: true });
}
console.log(`${basename(import.meta.url)}: all passed`);
