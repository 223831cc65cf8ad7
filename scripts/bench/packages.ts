/** Reads from the clients' packages what calls do not show. */

import { gzipSync } from "node:zlib";
import { join } from "node:path";
import { build } from "esbuild";
import { run } from "../npm/command.ts";
import { installPackage, installTool, listFiles, type Package, root } from "../npm/package.ts";
import type { Client, Peer } from "./clients.ts";

/** A client in a program that uses it. */
export interface Installation {
  readonly peer: Peer;
  /** The program's folder. */
  readonly folder: string;
  /** Why its package is not the one that users get. */
  readonly unlike?: string;
}

/** The bytes that a client adds to a page, minified and gzipped. */
export async function size({ module, exports }: Client, folder: string): Promise<number> {
  if (!module) return 0;
  const { outputFiles: [bundle] } = await build({
    stdin: { contents: `export { ${exports} } from "${module}"`, resolveDir: folder },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
  });
  return gzipSync(bundle!.contents, { level: 9 }).length;
}

/**
 * Installs a client into a project of its own, unless it is source code, which stays where it is.
 *
 * @param peer The client.
 * @param setting This package, the versions of the others, the folder that scripts/bench.ts
 * prepares, and one for what is to be removed.
 */
export async function installClient(
  peer: Peer,
  { own, versions, folder, work }: {
    own: Package;
    versions: Record<string, string>;
    folder: string;
    work: string;
  },
): Promise<Installation> {
  const { name, generated } = peer;
  if (generated) return { peer, folder };
  const version = versions[name];
  if (version) {
    const installed = await installTool(name, version);
    return { peer, folder: installed.slice(0, installed.lastIndexOf("node_modules")) };
  }
  const project = join(work, "project");
  await installPackage(own.tarball, project);
  const unlike = "skipped: needs the package of build:npm";
  return { peer, folder: project, ...!own.commonJs && { unlike } };
}

/** Whether TypeScript knows the body of `checkKey`: takes a right one and refuses a wrong one. */
export async function readTypes({ peer, folder }: Installation, tsc: string): Promise<string> {
  const types = join(root, "src/generated/types.ts");
  const bodies = { right: '{ apiKey: "key" }', wrong: "{ apiKey: 7 }" };
  for (const [name, body] of Object.entries(bodies)) {
    await Deno.writeTextFile(join(folder, `${name}.ts`), peer.typed(body, types));
  }
  const config = join(folder, "tsconfig.json");
  const compilerOptions = {
    strict: true,
    module: "preserve",
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    types: [],
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  await Deno.writeTextFile(
    config,
    JSON.stringify({ compilerOptions, files: ["right.ts", "wrong.ts"] }),
  );
  const { output } = await run("node", [tsc, "--project", config], { cwd: folder });
  const errors = output.split("\n").filter((line) => line.includes("error TS"));
  const wrong = errors.filter((line) => line.startsWith("wrong.ts"));
  if (errors.length > wrong.length) throw new Error(`"${peer.name}" does not compile:\n${output}`);
  return wrong.length ? "yes" : "no";
}

/** What Node loads the package with, apart from the `require()` of ES modules that some know. */
async function readFormats({ peer, folder }: Installation): Promise<string> {
  if (peer.generated) return "source code";
  const loads = async (loader: string) => {
    const flags = ["--no-experimental-require-module", "--input-type=commonjs"];
    const args = [...flags, "--eval", `${loader}("${peer.name}")`];
    return (await run("node", args, { cwd: folder })).success;
  };
  const [esm, commonJs] = [await loads("import"), await loads("require")];
  return esm && commonJs ? "both" : esm ? "ES modules" : commonJs ? "CommonJS" : "neither";
}

/** The Node.js that the package asks for; of source code, the package that generates it. */
async function readEngines({ peer, folder }: Installation): Promise<string> {
  const file = join(folder, "node_modules", peer.name, "package.json");
  const { engines } = JSON.parse(await Deno.readTextFile(file));
  return engines?.node?.replace(/^>=/, "") ?? "not stated";
}

/** What an installation brings. */
async function readInstalled({ peer, folder }: Installation): Promise<string> {
  if (peer.generated) {
    const code = await Deno.readTextFile(join(folder, peer.module));
    if (/^import /m.test(code)) throw new Error(`The code of "${peer.name}" imports packages`);
    return "none";
  }
  const modules = join(folder, "node_modules");
  const lock = JSON.parse(await Deno.readTextFile(join(modules, ".package-lock.json")));
  let bytes = 0;
  for (const file of await listFiles(modules)) {
    bytes += (await Deno.lstat(join(modules, file))).size;
  }
  return `${Object.keys(lock.packages).length}, ${(bytes / 1e6).toFixed(1)} MB`;
}

const readings = {
  "ES modules, CommonJS": readFormats,
  "oldest Node.js": readEngines,
  "packages installed": readInstalled,
};

/** Reads the clients' packages; gives the rows of a table. */
export async function readPackages(installations: Installation[]): Promise<string[][]> {
  const rows = [];
  for (const [title, read] of Object.entries(readings)) {
    rows.push([
      title,
      ...await Promise.all(installations.map((each) => each.unlike ?? read(each))),
    ]);
  }
  return rows;
}
