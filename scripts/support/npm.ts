/** Packs, unpacks and installs npm packages. */

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { root } from "./files.ts";
import { mustRun } from "./process.ts";

/** Where the user's cache keeps the packages that the scripts install. */
const cache: string = join(
  Deno.env.get("XDG_CACHE_HOME") ?? join(homedir(), ".cache"),
  "scam-address-client",
);

/** What npm's packages call this processor. */
export const arch: string = Deno.build.arch === "x86_64" ? "x64" : "arm64";

/** The versions of Node.js that the package is tested on; the first is the oldest that it runs on. */
export const NODE_VERSIONS = ["20.20.2", "22.23.3", "24.21.0", "26.10.0"] as const;

/** The versions of Bun, in the same order. */
export const BUN_VERSIONS = ["1.4.0", "1.4.5"] as const;

/** What `engines` in `package.json` says. */
export const ENGINES = { node: `>=${parseInt(NODE_VERSIONS[0])}`, bun: `>=${BUN_VERSIONS[0]}` };

/** Runs npm, which must succeed; resolves to what it wrote to standard output. */
function npm(args: string[], cwd: string): Promise<string> {
  const quiet = ["--loglevel=error", "--no-audit", "--no-fund", "--ignore-scripts", ...args];
  return mustRun("npm", quiet, { cwd });
}

/**
 * Takes the package that a script's first argument names, by default `npm/`.
 *
 * @param work An existing folder for the files.
 * @param args The script's arguments, without its options.
 * @returns The tarball that npm delivers, and the folder in `work` where it is unpacked.
 */
export async function takePackage(work: string, args = Deno.args) {
  const origin = resolve(args[0] ?? join(root, "npm"));
  if (!existsSync(origin)) {
    throw new Error(`There is no package at "${origin}": run "deno task build:npm"`);
  }
  const tarball = (await Deno.stat(origin)).isDirectory ? await packFolder(origin, work) : origin;
  await unpack(tarball, work);
  console.log(`Package: ${origin}`);
  return { tarball, folder: join(work, "package") };
}

/** Packs a folder as npm publishes it; resolves to the tarball's path. */
export async function packFolder(folder: string, destination: string): Promise<string> {
  const json = await npm(["pack", "--json", "--pack-destination", destination], folder);
  const [{ filename }] = JSON.parse(json);
  return join(destination, filename);
}

/** Unpacks a package's tarball, as a folder `package`. */
export async function unpack(tarball: string, destination: string): Promise<void> {
  await mustRun("tar", ["-xzf", tarball, "-C", destination]);
}

/** Installs a package's tarball, and others, into a new project, whose folder this creates. */
export async function installPackage(tarball: string, project: string, ...others: string[]) {
  await Deno.mkdir(project);
  await Deno.writeTextFile(join(project, "package.json"), '{ "private": true }\n');
  await npm(["install", "--prefer-offline", tarball, ...others], project);
}

/** Installs a version of Bun into the cache, once; resolves to its executable. */
export async function installBun(version: string): Promise<string> {
  const target = arch === "x64" ? "x64" : "aarch64";
  return join(await installTool(`@oven/bun-${Deno.build.os}-${target}`, version), "bin/bun");
}

/** Installs an exact version of a package into the cache, once; resolves to its folder. */
export async function installTool(name: string, version: string): Promise<string> {
  const folder = join(cache, `${name.replace("/", "+")}@${version}`);
  const complete = join(folder, "complete");
  if (!existsSync(complete)) {
    await Deno.mkdir(folder, { recursive: true });
    await npm(["install", "--prefix", folder, `${name}@${version}`], folder);
    await Deno.writeTextFile(complete, "");
  }
  return join(folder, "node_modules", name);
}
