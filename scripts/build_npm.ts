/**
 * Builds the npm package into `npm/`: ES modules, CommonJS and types, checked and tested under Node.
 *
 * Everything is made in a folder beside it, which takes its place only when all of it succeeded.
 */

import type { BuildOptions } from "@deno/dnt";
import { join } from "node:path";
import denoJson from "../deno.json" with { type: "json" };
import { packFolder, root, unpack } from "./npm/package.ts";

/** Where the sources are published, known only to the workflow that publishes them. */
function origin(): Record<string, unknown> {
  const server = Deno.env.get("GITHUB_SERVER_URL");
  const repository = Deno.env.get("GITHUB_REPOSITORY");
  if (!server || !repository) return {};
  const url = `${server}/${repository}`;
  return {
    repository: { type: "git", url: `git+${url}.git` },
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
  };
}

/** Loads dnt, which only JSR has; `undefined` when it cannot be loaded. */
async function loadDnt(): Promise<((options: BuildOptions) => Promise<void>) | undefined> {
  try {
    return (await import("@deno/dnt")).build;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n", 1)[0] : String(error);
    console.error(
      `The npm package was not built: @deno/dnt could not be loaded from JSR: ${reason}`,
    );
    return undefined;
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

const build = await loadDnt();
if (build === undefined) Deno.exit(1);

const work = join(root, "npm.work");
Deno.chdir(root);
await Deno.remove("npm.work", { recursive: true }).catch(ignoreMissing);

await build({
  entryPoints: [
    { name: ".", path: "./mod.ts" },
    { name: "./sandbox", path: "./src/sandbox.ts" },
    { name: "./sandbox/server", path: "./src/sandbox_server.ts" },
    { name: "./cli", path: "./src/cli.ts" },
    { kind: "bin", name: "scam-address", path: "./src/cli.ts" },
  ],
  outDir: "./npm.work",
  importMap: "./import_map.npm.json",
  testPattern: "tests/*.test.ts",
  shims: { deno: { test: "dev" } },
  // Node 20 has all that the types below allow; a polyfill would be a module with side effects.
  polyfills: {
    arrayFindLast: false,
    arrayFromAsync: false,
    errorCause: false,
    objectHasOwn: false,
    promiseWithResolvers: false,
    stringReplaceAll: false,
  },
  typeCheck: "both",
  declaration: "inline",
  declarationMap: false,
  compilerOptions: {
    target: "ES2022",
    lib: ["ES2022", "DOM", "DOM.Iterable"],
    noImplicitReturns: true,
    noUncheckedIndexedAccess: true,
    useUnknownInCatchVariables: true,
  },
  package: {
    name: denoJson.name,
    version: denoJson.version,
    description:
      "Typed client of the Scam Address Service for Deno, Node, Bun, workers and browsers",
    keywords: ["scam-address", "scam", "address", "api", "client", "openapi", "typescript"],
    license: denoJson.license,
    ...origin(),
    types: "./script/mod.d.ts",
    // For TypeScript's "node10" module resolution, which reads no "exports".
    typesVersions: {
      "*": {
        sandbox: ["./script/src/sandbox.d.ts"],
        "sandbox/server": ["./script/src/sandbox_server.d.ts"],
        cli: ["./script/src/cli.d.ts"],
      },
    },
    exports: { "./package.json": "./package.json" },
    engines: { node: ">=20" },
    // Bundlers drop other imports of which nothing is used; importing the command runs it.
    sideEffects: ["./esm/src/cli.js", "./script/src/cli.js"],
    publishConfig: { access: "public", provenance: true },
  },
  async postBuild() {
    await Deno.mkdir("npm.work/openapi");
    for (const file of ["LICENSE", "README.md", "CHANGELOG.md", "openapi/openapi.yaml"]) {
      await Deno.copyFile(file, `npm.work/${file}`);
    }
  },
});

// What only the build and its tests needed stays out of the package.
const manifest = JSON.parse(await Deno.readTextFile("npm.work/package.json"));
for (const field of ["scripts", "devDependencies", "_generatedBy"]) delete manifest[field];
manifest.type = "module";
await Deno.writeTextFile("npm.work/package.json", JSON.stringify(manifest, undefined, 2) + "\n");

// `npm pack` chooses the files, so that the folder holds exactly what will be published.
await unpack(await packFolder(work, work), work);
await Deno.rename("npm", "npm.work/previous").catch(ignoreMissing);
await Deno.rename("npm.work/package", "npm");
await Deno.remove("npm.work", { recursive: true });
console.log(`Built ${denoJson.name}@${denoJson.version} in npm/`);
