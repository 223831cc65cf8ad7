/**
 * Builds the npm package: ES modules, CommonJS and types, tested under Node. `npm/` is replaced only
 * when everything has succeeded.
 */

import { build } from "@deno/dnt";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import denoJson from "../deno.json" with { type: "json" };
import npmMap from "../import_map.npm.json" with { type: "json" };
import { makeFolder, root } from "./support/files.ts";
import { ENGINES, packFolder, unpack } from "./support/npm.ts";
import { run } from "./support/process.ts";

/** The repository's web address, which git's remote has. */
async function repositoryUrl(): Promise<string | undefined> {
  const { stdout } = await run("git", ["remote", "get-url", "origin"]);
  const url = stdout.trim()
    .replace(/^(ssh:\/\/)?git@([\w.-]+)[:/]/, "https://$2/")
    .replace(/\.git$/, "");
  return /^https:\/\/[\w.-]+\/[\w./-]+$/.test(url) ? url : undefined; // no credentials
}

/** Copies the documents, which JSR gets too. */
async function copyDocuments(folder: string): Promise<void> {
  await Deno.mkdir(join(folder, "openapi"));
  const documents = denoJson.publish.include.filter((name) => /^[A-Z]/.test(name));
  for (const file of [...documents, "openapi/openapi.yaml"]) {
    await Deno.copyFile(file, join(folder, file));
  }
}

/** Changes the manifest that dnt wrote into the one to publish. */
async function finishManifest(folder: string): Promise<void> {
  const file = join(folder, "package.json");
  const manifest = JSON.parse(await Deno.readTextFile(file));
  for (const field of ["scripts", "devDependencies", "_generatedBy"]) delete manifest[field];
  for (const [name, path] of Object.entries<string>(manifest.bin)) {
    manifest.bin[name] = path.replace("./", ""); // npm warns about a leading "./"
  }
  manifest.type = "module";
  await Deno.writeTextFile(file, JSON.stringify(manifest, undefined, 2) + "\n");
  // It hides "sideEffects" from bundlers that read the nearest manifest.
  await Deno.remove(join(folder, "esm/package.json"));
}

Deno.chdir(root);
await using work = await makeFolder();
const outDir = join(work.path, "build");
const repository = await repositoryUrl();
// dnt's type check needs an `expect` with declarations.
const imports = { ...npmMap.imports, "@std/expect": "npm:expect@^30.5.2" };
const entryPoints = Object.entries(denoJson.exports).map(([name, path]) => ({ name, path }));

await build({
  entryPoints: [
    ...entryPoints,
    { kind: "bin", name: "scam-address", path: denoJson.exports["./cli"] },
  ],
  outDir,
  importMap: await work.write("import_map.json", { imports }),
  testPattern: "tests/*.test.ts",
  shims: { deno: { test: "dev" } },
  // Node 20 has all that the types below allow, and a polyfill has side effects.
  polyfills: {
    arrayFindLast: false,
    arrayFromAsync: false,
    errorCause: false,
    objectHasOwn: false,
    promiseWithResolvers: false,
  },
  typeCheck: "both",
  declaration: "inline",
  declarationMap: false,
  compilerOptions: {
    target: "ES2022",
    lib: ["ES2022", "DOM", "DOM.Iterable"],
    noUncheckedIndexedAccess: true,
    useUnknownInCatchVariables: true,
  },
  package: {
    name: denoJson.name,
    version: denoJson.version,
    description: "Typed client of the Scam Address Service for Deno, Node, Bun and workers",
    keywords: ["scam-address", "scam", "address", "api", "client", "openapi", "typescript"],
    license: denoJson.license,
    author: "The Scam Address Client authors",
    ...repository && { repository: { type: "git", url: `git+${repository}.git` } },
    types: "./script/mod.d.ts",
    // For TypeScript's "node10" module resolution, which reads no "exports".
    typesVersions: {
      "*": Object.fromEntries(
        entryPoints.filter(({ name }) => name !== ".").map(({ name, path }) => [
          name.replace("./", ""),
          [path.replace("./", "./script/").replace(/\.ts$/, ".d.ts")],
        ]),
      ),
    },
    // JSR exports modules only.
    exports: {
      "./openapi.yaml": "./openapi/openapi.yaml",
      "./package.json": "./package.json",
    },
    engines: ENGINES,
    // Importing the command runs it; bundlers may drop every other module that is not used.
    sideEffects: ["./esm/src/cli/main.js", "./script/src/cli/main.js"],
    publishConfig: { access: "public", provenance: true },
  },
  postBuild: () => copyDocuments(outDir),
});
await finishManifest(outDir);

// `npm pack` chooses the files, so that the folder has exactly what will be published.
await unpack(await packFolder(outDir, work.path), work.path);
await rm("npm", { recursive: true, force: true });
await cp(join(work.path, "package"), "npm", { recursive: true });
console.log(`Built ${denoJson.name}@${denoJson.version} in npm/`);
if (!repository) console.log('It has no "repository", because no remote "origin" names one');
