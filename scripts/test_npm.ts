/**
 * Tests the npm package as its users get it.
 *
 *     deno task test:npm [FOLDER|TARBALL]
 *
 * Without an argument, that is `npm/`, which `deno task build:npm` makes.
 */

import { expect } from "@std/expect";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import denoJson from "../deno.json" with { type: "json" };
import { serveValid } from "../tests/support/server.ts";
import { listFiles, listProject, makeFolder, read, root } from "./support/files.ts";
import { ENGINES, installPackage, installTool, takePackage } from "./support/npm.ts";
import { mustRun, run } from "./support/process.ts";
import { listPrograms } from "./support/programs.ts";

/** The oldest that README names, which alone has `node10`, and the newest. */
const TYPESCRIPT_VERSIONS = {
  "5.4.5": ["node10", "node16", "nodenext", "bundler"],
  "7.0.2": ["node16", "nodenext", "bundler"],
};

const work = await makeFolder();
Deno.test.afterAll(() => work[Symbol.asyncDispose]());
const { tarball, folder } = await takePackage(work.path);
const readPacked = (file: string) => Deno.readTextFile(join(folder, file));

const project = join(work.path, "project");
await installPackage(tarball, project, "zod@4.6.7", "@types/node@20.19.25");
await cp(join(root, "tests/npm"), project, { recursive: true });

/** Runs a program of the project on Node.js. */
function node(args: string[], env: Record<string, string> = {}): Promise<string> {
  return mustRun("node", args, { cwd: project, env });
}

/** Installs a version of the compiler; resolves to its program. */
async function installTsc(version: string): Promise<string> {
  return join(await installTool("typescript", version), "bin/tsc");
}

Deno.test("package.json has the version and the license of deno.json, and what the code needs", async () => {
  const manifest = JSON.parse(await readPacked("package.json"));
  const { license, version } = denoJson;
  expect(manifest).toMatchObject({ license, version, engines: ENGINES });
  const packages = ["@standard-schema/spec", "openapi-fetch"] as const;
  const ranges = packages.map((name) => [name, denoJson.imports[name].replace(`npm:${name}@`, "")]);
  expect(manifest.dependencies).toEqual(Object.fromEntries(ranges));
  // It is in maintenance mode, so a newer version may be somebody else's.
  expect(manifest.dependencies["openapi-fetch"]).toMatch(/^\d+\.\d+\.\d+$/);
  expect(manifest.scripts ?? manifest.devDependencies).toBeUndefined();
});

Deno.test("package.json exports the OpenAPI document", async () => {
  const path = await node(["-p", `require.resolve("${denoJson.name}/openapi.yaml")`]);
  expect(await Deno.readTextFile(path.trim())).toBe(await read("openapi/openapi.yaml"));
});

Deno.test("the package has every document, each module twice with its types, and nothing else", async () => {
  const documents = denoJson.publish.include.filter((name) => /^[A-Z]/.test(name));
  const manifests = ["package.json", "script/package.json", "openapi/openapi.yaml"];
  const modules = ["mod.ts", ...await listProject("src")].map((file) => file.replace(/\.ts$/, ""));
  const code = modules.flatMap((module) => [`${module}.js`, `${module}.d.ts`])
    .flatMap((file) => [`esm/${file}`, `script/${file}`]);
  const files = await listFiles(folder);
  expect(files).toEqual([...documents, ...manifests, ...code].sort());
  for (const file of files) {
    // API Extractor drops what is internal, and bundled types then do not compile.
    expect(await readPacked(file)).not.toMatch(/sourceMappingURL|@internal/);
  }
});

Deno.test("npm publish has nothing to correct", async () => {
  // npm asks the registry even then: the version may exist, or be a prerelease, which needs a tag.
  const args = ["publish", "--dry-run", "--force", "--tag=test"];
  const { success, output } = await run("npm", args, { cwd: folder });
  expect([success, output]).toEqual([true, expect.not.stringContaining("auto-corrected")]);
});

Deno.test("publint --strict finds nothing", async () => {
  const publint = join(await installTool("publint", "0.3.25"), "src/cli.js");
  await node([publint, "run", "--strict", tarball]);
});

Deno.test("@arethetypeswrong/cli finds nothing", async () => {
  const attw = join(await installTool("@arethetypeswrong/cli", "0.18.5"), "dist/index.js");
  await node([attw, tarball, "--exclude-entrypoints=./openapi.yaml"]); // It has no types.
});

Deno.test("import and require load the package, and instanceof works between them", async () => {
  await node(["instanceof.mjs"]);
});

Deno.test("README's programs compile and run on Node.js as they are printed", async () => {
  const programs = listPrograms(await readPacked("README.md"));
  for (const { name, code } of programs) await Deno.writeTextFile(join(project, name), code);
  expect(programs.length).toBeGreaterThan(0);
  const flags = ["--module", "nodenext", "--target", "es2022", "--lib", "es2022", "--strict"];
  flags.push("--rewriteRelativeImportExtensions", "--types", "node", "--skipLibCheck");
  await node([await installTsc("7.0.2"), ...flags, ...programs.map(({ name }) => name)]);
  await using service = await serveValid();
  const env = { SCAM_ADDRESS_BASE_URL: service.url, SCAM_ADDRESS_API_KEY: "some-key" };
  for (const { name } of programs) await node([name.replace(".mts", ".mjs")], env);
});

Deno.test("a library that exposes call() writes its declarations, installed by pnpm", async () => {
  // pnpm keeps the dependencies of dependencies where declarations cannot name them.
  const library = join(work.path, "library");
  await Deno.mkdir(library);
  await Deno.copyFile(join(project, "library.ts"), join(library, "library.ts"));
  await Deno.writeTextFile(
    join(library, "package.json"),
    '{ "private": true, "type": "module" }\n',
  );
  const pnpm = join(await installTool("pnpm", "10.34.9"), "bin/pnpm.cjs");
  await mustRun("node", [pnpm, "add", "--prefer-offline", tarball], { cwd: library });
  const flags = ["--declaration", "--module", "nodenext", "--target", "es2022", "--strict"];
  for (const version of Object.keys(TYPESCRIPT_VERSIONS)) {
    await mustRun("node", [await installTsc(version), ...flags, "library.ts"], { cwd: library });
  }
});

/** Compiles the consumer as an ES module and as CommonJS, which must succeed. */
async function compile(version: string, resolution: string, hasNode = false): Promise<void> {
  const modules: Record<string, string> = { node10: "commonjs", bundler: "preserve" };
  // Types of the server are for Node.js: they need `Symbol.asyncDispose`, which @types/node has.
  const names = hasNode ? ["consumer", "server"] : ["consumer"];
  const files = names.flatMap((name) => [`${name}.mts`, `${name}.cts`]);
  for (const file of files) {
    await Deno.copyFile(join(project, file.replace(/[mc]ts$/, "ts")), join(project, file));
  }
  const compilerOptions = {
    module: modules[resolution] ?? resolution,
    moduleResolution: resolution,
    target: "es2022",
    lib: hasNode ? ["es2022"] : ["es2022", "dom", "dom.iterable"],
    types: hasNode ? ["node"] : [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
  };
  const config = JSON.stringify({ compilerOptions, files });
  await Deno.writeTextFile(join(project, "tsconfig.json"), config);
  await node([await installTsc(version), "--project", project]);
}

for (const [version, resolutions] of Object.entries(TYPESCRIPT_VERSIONS)) {
  for (const resolution of resolutions) {
    Deno.test(`TypeScript ${version} compiles the consumer with ${resolution}`, () =>
      compile(version, resolution));
  }
  Deno.test(`TypeScript ${version} compiles the consumer with @types/node alone`, () =>
    compile(version, "nodenext", true));
}
