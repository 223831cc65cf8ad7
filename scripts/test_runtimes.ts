/**
 * Runs the conformance program on every runtime, over real HTTP, with the package as npm delivers it.
 *
 *     deno task test:runtimes [FOLDER|TARBALL]
 *
 * Without an argument, that is `npm/`, which `deno task build:npm` makes. Runtimes come from npm.
 */

import { expect } from "@std/expect";
import { build, type BuildOptions, stop } from "esbuild";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { serveSandbox } from "../src/sandbox/server.ts";
import { createSandbox, DEMO_KEY } from "../src/sandbox/service.ts";
import { serveConformance } from "../tests/runtimes/server.ts";
import { serve } from "../tests/support/server.ts";
import { makeFolder, read, root } from "./support/files.ts";
import {
  arch,
  BUN_VERSIONS,
  installBun,
  installPackage,
  installTool,
  NODE_VERSIONS,
  takePackage,
} from "./support/npm.ts";
import { deno, mustRun, run } from "./support/process.ts";
import { listPrograms } from "./support/programs.ts";

const { os } = Deno.build;
const WORKERD_VERSION = "1.20261117.1";

const work = await makeFolder();
Deno.test.afterAll(() => work[Symbol.asyncDispose]());
Deno.test.afterAll(stop);
const { tarball } = await takePackage(work.path);
const project = join(work.path, "project");
await installPackage(tarball, project);
await cp(join(root, "tests/runtimes"), project, { recursive: true });

/** Bundles a file of the program; resolves to the output. */
type Bundle = (entry: string, output: string, options?: BuildOptions) => Promise<string>;

/** Adds a test that runs the program with the command that `start` resolves to. */
function testRuntime(
  name: string,
  start: (bundle: Bundle) => Promise<[command: string, ...args: string[]]>,
): void {
  Deno.test(name, async () => {
    await using server = await serveConformance();
    const define = { SERVER: JSON.stringify(server.url) };
    const [command, ...args] = await start(async (entry, outfile, options) => {
      const common = { absWorkingDir: project, entryPoints: [entry], outfile, define };
      await build({ ...common, bundle: true, format: "esm", packages: "external", ...options });
      return outfile;
    });
    const signal = AbortSignal.timeout(60_000);
    const { success, output } = await run(command, args, { cwd: project, signal });
    if (!success || !/^All \d+ cases pass$/m.test(output)) throw new Error(output);
  });
}

/** Adds a test that runs the command on a runtime. */
function testCommand(name: string, install: () => Promise<string>): void {
  Deno.test(`${name}, the command`, async () => {
    const body = "\u0001".repeat(60_000); // six times as long in JSON, more than a pipe holds
    await using server = await serve((_, response) => void response.writeHead(402).end(body));
    const program = join(project, "node_modules/.bin/scam-address");
    const args = [program, "check-key", "--json", `--base-url=${server.url}`];
    const env = { SCAM_ADDRESS_API_KEY: "some-key" };
    const { code, stdout } = await run(await install(), args, { env });
    expect(code).toBe(3);
    expect(JSON.parse(stdout).error).toMatchObject({ response: { status: 402, body } });
  });
}

for (const version of NODE_VERSIONS) {
  const install = async () => join(await installTool(`node-${os}-${arch}`, version), "bin/node");
  testRuntime(`Node ${version}, ES modules`, async (bundle) => {
    return [await install(), await bundle("program.ts", "program.mjs")];
  });
  testRuntime(`Node ${version}, CommonJS`, async (bundle) => {
    return [await install(), await bundle("program.ts", "program.cjs", { format: "cjs" })];
  });
  testCommand(`Node ${version}`, install);
}

for (const version of BUN_VERSIONS) {
  const install = () => installBun(version);
  testRuntime(`Bun ${version}`, async (bundle) => {
    return [await install(), await bundle("program.ts", "program.mjs")];
  });
  testCommand(`Bun ${version}`, install);
}

testRuntime(`Deno ${Deno.version.deno}`, async (bundle) => {
  const flags = ["run", "--no-prompt", "--allow-net=127.0.0.1"];
  return [deno, ...flags, await bundle("program.ts", "program.mjs")];
});

/** Installs workerd into the cache, once; resolves to its executable. */
async function installWorkerd(): Promise<string> {
  const target = arch === "x64" ? "64" : "arm64";
  const tool = await installTool(`@cloudflare/workerd-${os}-${target}`, WORKERD_VERSION);
  return join(tool, "bin/workerd");
}

const forWorkers: BuildOptions = { packages: "bundle", conditions: ["workerd", "worker"] };

testRuntime(`workerd ${WORKERD_VERSION}`, async (bundle) => {
  await bundle("worker.ts", "worker.js", forWorkers);
  return [await installWorkerd(), "test", "workerd.capnp"];
});

Deno.test(`workerd ${WORKERD_VERSION}, the worker in RECIPES as it is printed`, async () => {
  const project = join(work.path, "recipes");
  await installPackage(tarball, project, "hono@4.13.19", "zod@4.6.7");
  await cp(join(root, "tests/runtimes"), project, { recursive: true });
  for (
    const { name, code } of listPrograms(`${await read("README.md")}\n${await read("RECIPES.md")}`)
  ) {
    await Deno.writeTextFile(join(project, name), code);
  }
  const files = { entryPoints: ["worker.mts"], outfile: "worker.js", external: ["node:*"] };
  await build({ absWorkingDir: project, bundle: true, format: "esm", ...files, ...forWorkers });
  const routes = { "POST report": () => ({ risk: "low" }) };
  await using service = await serveSandbox(createSandbox({ routes }));
  const env = { SCAM_ADDRESS_BASE_URL: service.url, SCAM_ADDRESS_API_KEY: DEMO_KEY };
  await mustRun(await installWorkerd(), ["test", "recipes.capnp"], { cwd: project, env });
});
