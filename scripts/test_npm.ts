/**
 * Tests an npm package as its users get it.
 *
 *     deno task test:npm [FOLDER|TARBALL]
 *
 * Without an argument the package is made with `deno pack`, which writes ES modules only.
 */

import { expect } from "@std/expect";
import { dirname, join, posix } from "node:path";
import denoJson from "../deno.json" with { type: "json" };
import { listFiles, root } from "./support/files.ts";
import { installPackage, installTool, npm, takePackage } from "./support/npm.ts";
import { mustRun, run } from "./support/process.ts";

const PUBLINT_VERSION = "0.3.25";
const ATTW_VERSION = "0.18.5";
const ESBUILD_VERSION = "0.28.2";
const BABEL_VERSION = "8.0.6";
const NODE_TYPES_VERSION = "20.19.25";
/** The oldest that the README names, the last that is written in JavaScript, and the newest. */
const TYPESCRIPT_VERSIONS = ["5.4.5", "5.9.3", "7.0.2"];
const MODULE_RESOLUTIONS = ["node10", "node16", "nodenext", "bundler"];

const SCHEMA = "@standard-schema/spec";
const DOCUMENTS = ["CHANGELOG.md", "LICENSE", "README.md", "openapi/openapi.yaml", "package.json"];

const work = await Deno.makeTempDir({ prefix: "scam-address-npm-" });
Deno.test.afterAll(() => Deno.remove(work, { recursive: true }));

const { origin, tarball, folder, manifest, commonJs } = await takePackage(Deno.args[0], work);
console.log(`Package: ${origin}, ES modules${commonJs ? " and CommonJS" : ""}`);

const project = join(work, "project");
await installPackage(tarball, project);
// `deno pack` names no dependency of which only types are imported.
if (!commonJs) await npm(["install", denoJson.imports[SCHEMA].replace("npm:", "")], project);
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

/** Adds a test of what only the build by dnt writes. */
function testBuilt(name: string, test: () => void | Promise<void>): void {
  Deno.test(
    name,
    () => commonJs ? test() : console.log("skipped: only the build by dnt writes it"),
  );
}

Deno.test("package.json names the package, its version and its dependencies", () => {
  expect(manifest).toMatchObject({
    name: denoJson.name,
    version: denoJson.version,
    license: denoJson.license,
    type: "module",
  });
  const names = commonJs ? [SCHEMA, "openapi-fetch"] as const : ["openapi-fetch"] as const;
  const ranges = names.map((name) => [name, denoJson.imports[name].replace(`npm:${name}@`, "")]);
  expect(manifest.dependencies).toEqual(Object.fromEntries(ranges));
});

testBuilt("package.json has all that npm and bundlers read", () => {
  expect(manifest).toMatchObject({
    author: "The Scam Address Client authors",
    bin: { "scam-address": "esm/src/cli/main.js" },
    description: expect.stringMatching(/./),
    engines: { node: ">=20" },
    keywords: expect.arrayContaining(["scam-address"]),
    publishConfig: { access: "public", provenance: true },
    sideEffects: ["./esm/src/cli/main.js", "./script/src/cli/main.js"],
  });
  expect(manifest.scripts ?? manifest.devDependencies).toBeUndefined();
});

testBuilt("package.json and the README's links lead to the repository", async () => {
  if (!manifest.repository) return console.log("skipped: the build knew no repository");
  const [, url] = manifest.repository.url.match(/^git\+(https:\/\/.+)\.git$/);
  expect(manifest).toMatchObject({ homepage: `${url}#readme`, bugs: { url: `${url}/issues` } });
  const readme = await Deno.readTextFile(join(folder, "README.md"));
  const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link);
  expect(links).toContain(`${url}/blob/HEAD/SECURITY.md`);
  expect(links.filter((link) => !/^(https:\/\/|#)/.test(link!))).toEqual([]);
});

testBuilt("package.json exports the OpenAPI document", async () => {
  const print = (specifier: string) => `console.log(require.resolve("${specifier}"))`;
  const path = await node("-e", print(`${denoJson.name}/openapi.yaml`));
  const document = await Deno.readTextFile(join(root, "openapi/openapi.yaml"));
  expect(await Deno.readTextFile(path.trim())).toBe(document);
});

/** The files of a package built by dnt: each module twice, with its types. */
function filesOfBuild(modules: string[]): string[] {
  const files = modules.flatMap((module) => [`${module}.js`, `${module}.d.ts`]);
  return ["script/package.json", ...files.flatMap((file) => [`esm/${file}`, `script/${file}`])];
}

/**
 * The files of a package made by `deno pack`: each module, and the types of those that the types of
 * an entry point import.
 */
async function filesOfPack(modules: string[]): Promise<string[]> {
  const typed = new Set(
    Object.values(denoJson.exports).map((path) => posix.normalize(path).replace(/\.ts$/, "")),
  );
  for (const module of typed) {
    const text = await Deno.readTextFile(join(folder, `${module}.d.ts`));
    for (const [, path] of text.matchAll(/ from "(\..*?)\.js"/g)) {
      typed.add(posix.join(dirname(module), path!));
    }
  }
  return [...modules.map((module) => `${module}.js`), ...[...typed].map((name) => `${name}.d.ts`)];
}

Deno.test("the package has every module and document, and nothing else", async () => {
  const sources = (await listFiles(join(root, "src"))).filter((file) => file.endsWith(".ts"));
  const modules = ["mod", ...sources.map((file) => `src/${file.slice(0, -".ts".length)}`)];
  const code = commonJs ? filesOfBuild(modules) : await filesOfPack(modules);
  const files = await listFiles(folder);
  expect(files).toEqual([...DOCUMENTS, ...code].sort());
  for (const file of files) {
    expect(await Deno.readTextFile(join(folder, file))).not.toContain("sourceMappingURL");
  }
});

testBuilt("npm publish has nothing to correct", async () => {
  const { success, output } = await run("npm", ["publish", "--dry-run"], { cwd: folder });
  expect([success, output]).toEqual([true, expect.not.stringContaining("auto-corrected")]);
});

Deno.test("publint --strict finds nothing", async () => {
  const publint = join(await installTool("publint", PUBLINT_VERSION), "src/cli.js");
  await mustRun("node", [publint, "run", "--strict", tarball]);
});

Deno.test("@arethetypeswrong/cli finds nothing except missing CommonJS", async () => {
  const attw = join(await installTool("@arethetypeswrong/cli", ATTW_VERSION), "dist/index.js");
  const esmOnly = ["--profile=node16", "--ignore-rules=cjs-resolves-to-esm"];
  const document = "--exclude-entrypoints=./openapi.yaml"; // which has no types
  await mustRun("node", [attw, tarball, document, ...commonJs ? [] : esmOnly]);
});

Deno.test("an ES module imports the package", async () => {
  await node("esm.mjs");
});

Deno.test("a CommonJS module requires the package", async () => {
  await node("commonjs.cjs");
});

Deno.test("instanceof works between what import and require load", async () => {
  await node("instanceof.mjs", commonJs ? "two-copies" : "one-copy");
});

Deno.test("the command checks a key with --sandbox", async () => {
  const [command, ...args] = commonJs
    ? ["node_modules/.bin/scam-address"] as const
    : ["node", "command.mjs"] as const;
  const env = { SCAM_ADDRESS_API_KEY: "demo-key" };
  const options = [...args, "check-key", "--sandbox", "--json"];
  const json = await mustRun(command, options, { cwd: project, env });
  expect(JSON.parse(json)).toMatchObject({ ok: true, apiKeyValid: true });
});

Deno.test("the command runs when a bundler drops what has no side effects", async () => {
  const esbuild = join(await installTool("esbuild", ESBUILD_VERSION), "bin/esbuild");
  const args = ["--bundle", "--platform=node", "--format=esm", "--outfile=bundle.mjs"];
  await node(esbuild, "command.mjs", ...args, "--log-level=warning");
  expect(await node("bundle.mjs", "--help")).toContain("check-key");
});

Deno.test("the errors work when Babel has turned their classes into functions", async () => {
  const babel = join(await installTool("@babel/standalone", BABEL_VERSION), "babel.js");
  const errors = join(folder, commonJs ? "esm/src/errors.js" : "src/errors.js");
  await Deno.writeTextFile(
    join(project, "errors.cjs"),
    await node(
      "-p",
      `require(process.argv[1]).transform(
      require("node:fs").readFileSync(process.argv[2], "utf8"),
      { presets: [["env", { targets: { ie: "11" }, modules: "commonjs" }]] },
    ).code`,
      babel,
      errors,
    ),
  );
  expect(await Deno.readTextFile(join(project, "errors.cjs"))).not.toMatch(/\bclass \w+ extends\b/);
  await node("functions.cjs");
});

/** The names that an entry point exports. */
async function exportedNames(entryPoint: string): Promise<string[]> {
  const json = await mustRun(Deno.execPath(), ["doc", "--json", entryPoint], { cwd: root });
  const { nodes } = JSON.parse(json);
  const [{ symbols }] = Object.values(nodes) as [{ symbols: { name: string }[] }];
  return symbols.map(({ name }) => name).sort();
}

for (const [entryPoint, file] of Object.entries(denoJson.exports)) {
  const specifier = posix.join(denoJson.name, entryPoint);
  Deno.test(`the TypeScript consumer imports all that ${specifier} exports`, async () => {
    const name = entryPoint === "./sandbox/server" ? "server.ts" : "consumer.ts";
    const consumer = await Deno.readTextFile(join(project, name));
    const list = consumer.match(new RegExp(`import \\{([^}]*)\\} from "${specifier}"`))?.[1] ?? "";
    const imported = list.split(",").map((name) => name.trim().replace(/^type | as \w+$/g, ""));
    expect(imported.filter(Boolean).sort()).toEqual(await exportedNames(file));
  });
}

/** Compiles the consumer as an ES module and as CommonJS; resolves to the errors. */
async function compile(version: string, resolution: string, nodeTypes?: string) {
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
  const tsc = join(await installTool("typescript", version), "bin/tsc");
  const { success, output } = await run("node", [tsc, "--project", project], { cwd: project });
  const errors = [...output.matchAll(/^(\S+)\(.*error (TS\d+): /gm)].map(([, file, code]) =>
    `${file} ${code}`
  );
  if (!success && !errors.length) throw new Error(output);
  // Before TypeScript 5.8, and with "node16" after it, no CommonJS module may import ES modules.
  const allowed = commonJs ? [] : ["consumer.cts TS1479", "server.cts TS1479"];
  return { output, errors: errors.filter((error) => !allowed.includes(error)) };
}

for (const version of TYPESCRIPT_VERSIONS) {
  for (const resolution of MODULE_RESOLUTIONS) {
    if (resolution === "node10" && version.startsWith("7.")) continue; // which no longer has it
    Deno.test(`TypeScript ${version} compiles the consumer with ${resolution}`, async () => {
      if (resolution === "node10" && !commonJs) {
        return console.log("skipped: deno pack writes nothing for it");
      }
      const { errors, output } = await compile(version, resolution);
      expect(errors, output).toEqual([]);
    });
  }
  Deno.test(`TypeScript ${version} compiles the consumer with @types/node alone`, async () => {
    const types = await installTool("@types/node", NODE_TYPES_VERSION);
    const { errors, output } = await compile(version, "nodenext", types);
    expect(errors, output).toEqual([]);
  });
}
