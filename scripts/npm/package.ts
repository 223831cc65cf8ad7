import { join, resolve } from "node:path";
import process from "node:process";
import { mustRun, npm } from "./command.ts";

/** The project's folder. */
export const root = resolve(import.meta.dirname!, "../..");

/** Where the user's cache keeps what the scripts install. */
export const cache: string = join(
  Deno.env.get("XDG_CACHE_HOME") ?? join(process.env["HOME"] ?? root, ".cache"),
  "scam-address-client",
);

/** A package as npm would deliver it. */
export interface Package {
  /** How it was come by, for people. */
  origin: string;
  tarball: string;
  /** The unpacked tarball. */
  folder: string;
  // deno-lint-ignore no-explicit-any -- JSON that somebody else wrote
  manifest: any;
  /** Whether it has CommonJS beside ES modules. */
  commonJs: boolean;
}

/**
 * Takes the package that an argument names, a folder or a tarball, or makes one with `deno pack`.
 *
 * @param argument The folder or the tarball, if there is one.
 * @param work An existing folder for the files.
 * @returns The package, unpacked in `work`.
 */
export async function takePackage(argument: string | undefined, work: string): Promise<Package> {
  let origin = "deno pack";
  let tarball = join(work, "package.tgz");
  if (argument === undefined) {
    const args = ["pack", "--quiet", "--allow-dirty", "--no-source-maps", "--output", tarball];
    await mustRun(Deno.execPath(), args, { cwd: root });
  } else {
    origin = resolve(argument);
    tarball = (await Deno.stat(origin)).isDirectory ? await packFolder(origin, work) : origin;
  }
  await unpack(tarball, work);
  const folder = join(work, "package");
  const manifest = JSON.parse(await Deno.readTextFile(join(folder, "package.json")));
  return { origin, tarball, folder, manifest, commonJs: "require" in manifest.exports["."] };
}

/** Packs a folder as npm would publish it; gives the tarball's path. */
export async function packFolder(folder: string, destination: string): Promise<string> {
  const json = await npm(["pack", "--json", "--pack-destination", destination], folder);
  const [{ filename }] = JSON.parse(json);
  return join(destination, filename);
}

/** Unpacks a package's tarball, as a folder `package`. */
export async function unpack(tarball: string, destination: string): Promise<void> {
  await mustRun("tar", ["-xzf", tarball, "-C", destination]);
}

/**
 * Installs a package into an empty project, as a user does.
 *
 * @param tarball The package.
 * @param project Where to make the project's folder.
 */
export async function installPackage(tarball: string, project: string): Promise<void> {
  await Deno.mkdir(project);
  await Deno.writeTextFile(join(project, "package.json"), '{ "private": true }\n');
  await npm(["install", "--prefer-offline", tarball], project);
}

/**
 * Installs one version of a package from npm into the user's cache, once.
 *
 * @param name The package's name.
 * @param version The exact version.
 * @returns The package's folder.
 */
export async function installTool(name: string, version: string): Promise<string> {
  const folder = join(cache, `${name.replace("/", "+")}@${version}`);
  const installed = join(folder, "node_modules", name);
  const complete = join(folder, "complete");
  if (!(await exists(complete))) {
    await Deno.mkdir(folder, { recursive: true });
    await npm(["install", "--prefix", folder, `${name}@${version}`], folder);
    await Deno.writeTextFile(complete, "");
  }
  return installed;
}

/** Whether there is a file or folder at a path. */
export function exists(path: string): Promise<boolean> {
  return Deno.stat(path).then(() => true, (error) => {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  });
}

/**
 * Lists the files below a folder.
 *
 * @param folder The folder.
 * @returns Their paths within it, with slashes, sorted.
 */
export async function listFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (!isDirectory) files.push(name);
    else files.push(...(await listFiles(join(folder, name))).map((file) => `${name}/${file}`));
  }
  return files.sort();
}
