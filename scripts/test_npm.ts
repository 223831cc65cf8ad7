/**
 * Proves an npm package as its users receive it, whoever built it.
 *
 *     deno task test:npm [FOLDER|TARBALL]
 *
 * Without an argument the package is made with `deno pack`, which writes ES modules only.
 */

import assert from "node:assert/strict";
import { dirname, join, posix } from "node:path";
import denoJson from "../deno.json" with { type: "json" };
import { mustRun, run } from "./npm/command.ts";
import {
  installPackage,
  installTool,
  listFiles,
  type Package,
  root,
  takePackage,
} from "./npm/package.ts";

const PUBLINT_VERSION = "0.3.25";
const ATTW_VERSION = "0.18.5";
const TYPESCRIPT_VERSION = "5.9.3";
const NODE_TYPES_VERSION = "20.19.25";

const DOCUMENTS = ["CHANGELOG.md", "LICENSE", "README.md", "openapi/openapi.yaml", "package.json"];

/** The files of a package built by dnt: each module twice, with its types. */
function filesOfBoth(modules: string[]): string[] {
  const files = modules.flatMap((module) => [`${module}.js`, `${module}.d.ts`]);
  return ["esm", "script"].flatMap((folder) =>
    ["package.json", ...files].map((file) => `${folder}/${file}`)
  );
}

/**
 * The files of a package made by `deno pack`: each module, and the types of those that the types of
 * an entry point lead to.
 */
async function filesOfPack(modules: string[], folder: string): Promise<string[]> {
  const types = new Set(Object.values(denoJson.exports).map((path) => posix.normalize(path)));
  for (const module of types) {
    const text = await Deno.readTextFile(join(folder, module.replace(/\.ts$/, ".d.ts")));
    for (const [, path] of text.matchAll(/ from "(\..*?)\.js"/g)) {
      types.add(posix.join(dirname(module), `${path}.ts`));
    }
  }
  return [
    ...modules.map((module) => `${module}.js`),
    ...[...types].map((module) => module.replace(/\.ts$/, ".d.ts")),
  ];
}

/** The names that an entry point exports. */
async function publicNames(entryPoint: string): Promise<string[]> {
  const json = await mustRun(Deno.execPath(), ["doc", "--json", entryPoint], { cwd: root });
  const { nodes } = JSON.parse(json);
  const [{ symbols }] = Object.values(nodes) as [{ symbols: { name: string }[] }];
  return symbols.map(({ name }) => name).sort();
}

/** The names that a module imports from a specifier. */
function importedNames(text: string, specifier: string): string[] {
  const list = text.match(new RegExp(`import \\{([^}]*)\\} from "${specifier}"`))?.[1] ?? "";
  return list.split(",").map((name) => name.trim().replace(/^type /, "")).filter(Boolean).sort();
}

/** A compiler's options for one way of finding modules, with the types of browsers or of Node. */
function tsconfig(moduleResolution: string, files: string[], nodeTypes?: string): string {
  return JSON.stringify({
    compilerOptions: {
      module: moduleResolution === "bundler" ? "preserve" : moduleResolution,
      moduleResolution,
      target: "es2022",
      lib: nodeTypes ? ["es2022"] : ["es2022", "dom", "dom.iterable"],
      types: nodeTypes ? ["node"] : [],
      ...nodeTypes && { typeRoots: [dirname(nodeTypes)] },
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
    },
    files,
  });
}

/** The checks, in order; what they return is printed. */
function checks(
  { tarball, folder, manifest, commonJs }: Package,
  project: string,
): Record<string, () => Promise<string | void> | string | undefined> {
  const node = (...args: string[]) => mustRun("node", args, { cwd: project });

  return {
    "package.json is complete"() {
      const { name, version, license, type, dependencies } = manifest;
      assert.deepEqual(
        { name, version, license, type, dependencies },
        {
          name: denoJson.name,
          version: denoJson.version,
          license: denoJson.license,
          type: "module",
          dependencies: {
            "openapi-fetch": denoJson.imports["openapi-fetch"].replace("npm:openapi-fetch@", ""),
          },
        },
      );
      if (!commonJs) {
        return "name, version, license, type and dependencies: deno pack writes no more";
      }
      assert.deepEqual(Object.keys(manifest.bin), ["scam-address"]);
      assert.deepEqual(manifest.engines, { node: ">=20" });
      assert.equal(manifest.sideEffects, false);
      assert.deepEqual(manifest.publishConfig, { access: "public", provenance: true });
      assert.ok(manifest.description);
      assert.ok(manifest.keywords.length);
      assert.equal(manifest.scripts ?? manifest.devDependencies, undefined);
      return undefined;
    },

    async "the list of files is exact"() {
      const sources = (await listFiles(join(root, "src"))).filter((file) => file.endsWith(".ts"));
      const modules = ["mod", ...sources.map((file) => `src/${file.slice(0, -".ts".length)}`)];
      const code = commonJs ? filesOfBoth(modules) : await filesOfPack(modules, folder);
      const files = await listFiles(folder);
      const expected = [...DOCUMENTS, ...code];
      const extra = files.filter((file) => !expected.includes(file));
      const missing = expected.filter((file) => !files.includes(file));
      assert.deepEqual({ extra, missing }, { extra: [], missing: [] });
      for (const file of files) {
        const text = await Deno.readTextFile(join(folder, file));
        assert.ok(!text.includes("sourceMappingURL"), `"${file}" names a source map`);
      }
      return `${files.length} files`;
    },

    async "publint --strict"() {
      const publint = join(await installTool("publint", PUBLINT_VERSION), "src/cli.js");
      await mustRun("node", [publint, "run", "--strict", tarball]);
    },

    async "@arethetypeswrong/cli"() {
      const attw = join(await installTool("@arethetypeswrong/cli", ATTW_VERSION), "dist/index.js");
      if (commonJs) return void await mustRun("node", [attw, tarball]);
      // "node16" leaves out resolution without "exports", which deno pack can write nothing for.
      await mustRun("node", [
        attw,
        tarball,
        "--profile=node16",
        "--ignore-rules=cjs-resolves-to-esm",
      ]);
      return "nothing but CJSResolvesToESM";
    },

    async "npm install into an empty project"() {
      await installPackage(tarball, project);
      for (const file of await listFiles(join(root, "tests/npm"))) {
        await Deno.copyFile(join(root, "tests/npm", file), join(project, file));
      }
      return (await listFiles(join(project, "node_modules/@scam-address/client"))).length +
        " files";
    },

    async "an ES module imports it"() {
      await node("esm.mjs");
    },

    async "a CommonJS module requires it"() {
      await node("commonjs.cjs");
    },

    async "instanceof holds between import and require"() {
      const copies = commonJs ? "two-copies" : "one-copy";
      await node("instanceof.mjs", copies);
      return copies;
    },

    async "the command checks a key with --sandbox"() {
      const [command, ...args] = commonJs
        ? ["node_modules/.bin/scam-address"] as const
        : ["node", "command.mjs"] as const;
      const json = await mustRun(command, [...args, "check-key", "--sandbox", "--json"], {
        cwd: project,
        env: { SCAM_ADDRESS_API_KEY: "demo-key" },
      });
      const { ok, apiKeyValid, credits } = JSON.parse(json);
      assert.deepEqual({ ok, apiKeyValid }, { ok: true, apiKeyValid: true });
      return `${credits} credits, through ${commonJs ? '"bin"' : '"./cli"'}`;
    },

    async "the TypeScript consumer uses every export"() {
      const text = await Deno.readTextFile(join(root, "tests/npm/consumer.ts"));
      const { ".": main, "./sandbox": sandbox } = denoJson.exports;
      const names = await publicNames(main);
      assert.deepEqual(importedNames(text, denoJson.name), names);
      const sandboxNames = await publicNames(sandbox);
      assert.deepEqual(importedNames(text, `${denoJson.name}/sandbox`), sandboxNames);
      return `${names.length + sandboxNames.length} names`;
    },

    ...Object.fromEntries([
      ["node16"],
      ["nodenext"],
      ["nodenext", NODE_TYPES_VERSION],
      ["bundler"],
    ].map(([resolution = "", nodeTypes]) => [
      `TypeScript compiles an ES module and CommonJS with ${resolution}` +
      (nodeTypes ? ` and @types/node ${nodeTypes} alone` : ""),
      async () => {
        const tsc = join(await installTool("typescript", TYPESCRIPT_VERSION), "bin/tsc");
        const types = nodeTypes && await installTool("@types/node", nodeTypes);
        const files = ["consumer.mts", "consumer.cts"];
        for (const file of files) {
          await Deno.copyFile(join(project, "consumer.ts"), join(project, file));
        }
        const config = join(project, "tsconfig.json");
        await Deno.writeTextFile(config, tsconfig(resolution, files, types));
        const args = [tsc, "--project", config];
        const { success, stdout, output } = await run("node", args, { cwd: project });
        const errors = stdout.match(/^.*error TS\d+: /gm) ?? [];
        assert.equal(success, errors.length === 0, output);
        // Without CommonJS in the package, "node16" lets no CommonJS module import it.
        const expected = commonJs || resolution !== "node16" ? /^$/ : /^consumer\.cts.* TS1479: /;
        assert.ok(errors.every((error) => expected.test(error)), output);
        return errors.length ? "nothing but TS1479, as it has no CommonJS" : undefined;
      },
    ])),
  };
}

const work = await Deno.makeTempDir({ prefix: "scam-address-npm-" });
let [passed, failed] = [0, 0];
try {
  const taken = await takePackage(Deno.args[0], work);
  const formats = taken.commonJs ? "ES modules and CommonJS" : "ES modules";
  console.log(`Package: ${taken.origin}, ${formats}`);
  for (const [name, check] of Object.entries(checks(taken, join(work, "project")))) {
    try {
      const detail = await check();
      console.log(`ok      ${name}${detail ? `: ${detail}` : ""}`);
      passed++;
    } catch (error) {
      console.log(`FAILED  ${name}: ${error instanceof Error ? error.message : error}`);
      failed++;
    }
  }
} finally {
  await Deno.remove(work, { recursive: true });
}
console.log(`${passed} passed, ${failed} failed`);
Deno.exitCode = failed ? 1 : 0;
