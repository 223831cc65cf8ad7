/**
 * Tests the npm package as its users get it.
 *
 *     deno task test:npm [FOLDER|TARBALL]
 *
 * Without an argument it is `npm/`, which `deno task build:npm` makes.
 */

import { expect } from "@std/expect";
import { build, stop } from "esbuild";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import denoJson from "../deno.json" with { type: "json" };
import { json, serve, validKey } from "../tests/support/server.ts";
import { listFiles, listProject, makeFolder, read, root } from "./support/files.ts";
import { ENGINES, installPackage, installTool, takePackage } from "./support/npm.ts";
import { mustRun, run } from "./support/process.ts";

const PUBLINT_VERSION = "0.3.25";
const ATTW_VERSION = "0.18.5";
const BABEL_VERSION = "8.0.6";
const NODE_TYPES_VERSION = "20.19.25";
/** The oldest that the README names, the last that is written in JavaScript, and the newest. */
const TYPESCRIPT_VERSIONS = ["5.4.5", "5.9.3", "7.0.2"];
const MODULE_RESOLUTIONS = ["node10", "node16", "nodenext", "bundler"];

const work = await makeFolder();
Deno.test.afterAll(() => work[Symbol.asyncDispose]());
Deno.test.afterAll(stop);
const { tarball, folder } = await takePackage(work.path);

/** Reads a file of the package. */
const readPacked = (file: string) => Deno.readTextFile(join(folder, file));
const manifest = JSON.parse(await readPacked("package.json"));

const project = join(work.path, "project");
await installPackage(tarball, project);
for (const file of await listFiles(join(root, "tests/npm"))) {
  await Deno.copyFile(join(root, "tests/npm", file), join(project, file));
}
for (const name of ["consumer", "server"]) {
  for (const extension of ["mts", "cts"]) {
    await Deno.copyFile(join(project, `${name}.ts`), join(project, `${name}.${extension}`));
  }
}

/** Runs a program of the project under Node. */
function node(...args: string[]): Promise<string> {
  return mustRun("node", args, { cwd: project });
}

Deno.test("package.json has the version and the license of deno.json, and what the code needs", () => {
  const { license, version } = denoJson;
  expect(manifest).toMatchObject({ license, version, engines: ENGINES });
  const packages = ["@standard-schema/spec", "openapi-fetch"] as const;
  const ranges = packages.map((name) => [name, denoJson.imports[name].replace(`npm:${name}@`, "")]);
  expect(manifest.dependencies).toEqual(Object.fromEntries(ranges));
  // Its project is in maintenance mode: a new version would be nobody's that is known here.
  expect(manifest.dependencies["openapi-fetch"]).toMatch(/^\d+\.\d+\.\d+$/);
  expect(manifest.scripts ?? manifest.devDependencies).toBeUndefined();
});

Deno.test("the package and openapi-fetch have less than 13 kB, as README says", async () => {
  const { outputFiles } = await build({
    stdin: { contents: `export { createClient } from "${denoJson.name}"`, resolveDir: project },
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
  });
  const size = gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
  expect(size).toBeLessThan(13_000);
});

/** What the examples use, in versions that run on Node 20. */
const USED = `@nestjs/common@12.5.1 express@5.3.0 lru-cache@11.5.3 msw@2.15.0 pino@10.4.0
  pino-http@11.0.0 zod@4.6.7 @types/express@5.0.6 @types/node@${NODE_TYPES_VERSION}`.split(/\s+/);

/** Patterns that tell which examples `tests/npm/examples.mjs` imports, under which names. */
const MARKS = {
  pino: /from "pino"/,
  server: /getClient\(|checkVisitor\(/, // of which the cache and the handler for Express are parts
};

/** A module with RECIPES' handler for msw. */
const makeMswModule = (handler: string) => `
  import { createSandbox } from "@scam-address/client/sandbox";
  import { http } from "msw";
  const sandbox = createSandbox();
  export const handler = ${handler};
`;

Deno.test("the examples compile and run on Node.js as they are printed", async () => {
  const examples = join(work.path, "examples");
  await installPackage(tarball, examples, ...USED);
  await Deno.copyFile(join(project, "examples.mjs"), join(examples, "examples.mjs"));
  const module = { private: true, type: "module" }; // as README says
  await Deno.writeTextFile(join(examples, "package.json"), JSON.stringify(module));
  const text = `${await readPacked("README.md")}\n${await readPacked("RECIPES.md")}`;
  const names: string[] = [];
  for (const [, code] of text.matchAll(/^```ts.*?\n(.*?)^```$/gms)) {
    const [name = `example_${names.length}`] = Object.entries(MARKS).find(([, mark]) =>
      code!.search(mark) !== -1
    ) ?? [];
    // As RECIPES says, requests are logged before they are handled.
    const logged = code!.replace(
      "app.get(",
      'app.use((await import("./pino.ts")).logRequests);\n$&',
    );
    await Deno.writeTextFile(join(examples, `${name}.ts`), logged, { append: true });
    if (!names.includes(name)) names.push(name);
  }
  for (const name of Object.keys(MARKS)) expect(names).toContain(name);
  const [, handler] = text.match(/`(http\.all\(.*?\))`/)!;
  await Deno.writeTextFile(join(examples, "msw.ts"), makeMswModule(handler!));
  const tsc = join(await installTool("typescript", TYPESCRIPT_VERSIONS[1]!), "bin/tsc");
  const flags = ["--module", "nodenext", "--target", "es2022", "--lib", "es2022", "--strict"];
  const files = [...names, "msw"].map((name) => `${name}.ts`);
  flags.push("--noPropertyAccessFromIndexSignature", "--rewriteRelativeImportExtensions");
  await mustRun("node", [tsc, "--skipLibCheck", ...flags, ...files], { cwd: examples });
  await using service = await serve((_, response) => json(response, validKey));
  const env = { SCAM_ADDRESS_BASE_URL: service.url, SCAM_ADDRESS_API_KEY: "some-key" };
  for (const name of names.filter((name) => name.startsWith("example_"))) {
    await mustRun("node", [`${name}.js`], { cwd: examples, env });
  }
  const { stdout, output } = await run("node", ["examples.mjs"], { cwd: examples });
  const [status, ...lines] = stdout.trim().split("\n").map((line) => JSON.parse(line));
  expect(status).toEqual(validKey);
  // The last log may come after what the program prints itself.
  const logs = lines.filter(({ level }) => level);
  const stack = expect.stringContaining("examples.mjs");
  const ours = { type: "NetworkError", code: "network", message: "The service is down", stack };
  expect(logs.slice(0, 5).map(({ err }) => err)).toEqual([
    expect.objectContaining(ours),
    expect.objectContaining({ type: "RangeError", message: "Another error", stack }),
    null, // of pino
    null, // of pino-http
    expect.objectContaining(ours),
  ]);
  const asked = [
    [403, '{"error":"x-key is not valid"}'],
    [401, '{"error":"x-key is missing"}'],
    [400, '{"error":"x-key is malformed"}'],
    "left",
    [503, '{"error":"The key was not checked"}'],
  ];
  expect(lines.filter(({ level }) => !level)).toEqual([{ asked }]);
  expect(logs.slice(5).map(({ req }) => [req.url, req.headers["x-key"]]))
    .toEqual(Array(5).fill(["/status", "[Redacted]"]));
  expect(output).toContain("NetworkError"); // of the last call
  expect(output).not.toContain("key-of-a-visitor");
});

Deno.test("package.json exports the OpenAPI document", async () => {
  const path = await node("-p", `require.resolve("${denoJson.name}/openapi.yaml")`);
  const document = await read("openapi/openapi.yaml");
  expect(await Deno.readTextFile(path.trim())).toBe(document);
});

Deno.test("the package has every document, each module twice with its types, and nothing else", async () => {
  const documents = denoJson.publish.include.filter((name) => /^[A-Z]/.test(name));
  const manifests = ["package.json", "script/package.json", "openapi/openapi.yaml"];
  const sources = ["mod.ts", ...await listProject("src")];
  const modules = sources.map((file) => file.slice(0, -".ts".length));
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
  const publint = join(await installTool("publint", PUBLINT_VERSION), "src/cli.js");
  await mustRun("node", [publint, "run", "--strict", tarball]);
});

Deno.test("@arethetypeswrong/cli finds nothing", async () => {
  const attw = join(await installTool("@arethetypeswrong/cli", ATTW_VERSION), "dist/index.js");
  const document = "--exclude-entrypoints=./openapi.yaml"; // which has no types
  await mustRun("node", [attw, tarball, document]);
});

Deno.test("instanceof works between what import and require load", async () => {
  await node("instanceof.mjs");
});

Deno.test("the command checks a key with --sandbox", async () => {
  const env = { SCAM_ADDRESS_API_KEY: "demo-key" };
  const args = ["check-key", "--sandbox", "--json"];
  const json = await mustRun("node_modules/.bin/scam-address", args, { cwd: project, env });
  expect(JSON.parse(json)).toMatchObject({ ok: true, apiKeyValid: true });
});

Deno.test("the command runs when a bundler drops what has no side effects", async () => {
  await build({
    absWorkingDir: project,
    entryPoints: ["command.mjs"],
    outfile: "bundle.mjs",
    bundle: true,
    platform: "node",
    format: "esm",
  });
  expect(await node("bundle.mjs", "--help")).toContain("check-key");
});

Deno.test("the errors work when Babel has turned their classes into functions", async () => {
  const babel = await installTool("@babel/standalone", BABEL_VERSION);
  const { transform } = createRequire(import.meta.url)(babel);
  const presets = [["env", { targets: { ie: "11" }, modules: "commonjs" }]];
  const entryPoints = [join(folder, "esm/src/errors.js")];
  const { outputFiles } = await build({ entryPoints, bundle: true, format: "esm", write: false });
  const { code } = transform(outputFiles[0]!.text, { presets });
  expect(code).not.toMatch(/\bclass \w+ extends\b/);
  await Deno.writeTextFile(join(project, "errors.cjs"), code);
  await node("functions.cjs");
});

/** Compiles the consumer as an ES module and as CommonJS, which must succeed. */
async function compile(version: string, resolution: string, nodeTypes?: string): Promise<void> {
  const modules: Record<string, string> = { node10: "commonjs", bundler: "preserve" };
  const config = {
    compilerOptions: {
      module: modules[resolution] ?? resolution,
      moduleResolution: resolution,
      target: "es2022",
      lib: nodeTypes ? ["es2022"] : ["es2022", "dom", "dom.iterable"],
      types: nodeTypes ? ["node"] : [],
      ...nodeTypes && { typeRoots: [dirname(nodeTypes)] },
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
    },
    // Types of the server are for Node.js: they need `Symbol.asyncDispose`, which @types/node has.
    files: ["consumer.mts", "consumer.cts", ...nodeTypes ? ["server.mts", "server.cts"] : []],
  };
  await Deno.writeTextFile(join(project, "tsconfig.json"), JSON.stringify(config));
  await node(join(await installTool("typescript", version), "bin/tsc"), "--project", project);
}

for (const version of TYPESCRIPT_VERSIONS) {
  for (const resolution of MODULE_RESOLUTIONS) {
    if (resolution === "node10" && version.startsWith("7.")) continue; // which no longer has it
    Deno.test(`TypeScript ${version} compiles the consumer with ${resolution}`, () =>
      compile(version, resolution));
  }
  Deno.test(`TypeScript ${version} compiles the consumer with @types/node alone`, async () => {
    await compile(version, "nodenext", await installTool("@types/node", NODE_TYPES_VERSION));
  });
}
