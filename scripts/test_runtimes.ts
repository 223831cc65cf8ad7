/**
 * Runs one conformance suite on every runtime, over real HTTP, with the package as npm delivers it.
 *
 *     deno task test:runtimes [FOLDER|TARBALL]
 *
 * Without an argument it is `npm/`, which `deno task build:npm` makes. Runtimes come from npm.
 */

import { expect } from "@std/expect";
import { build, type BuildOptions, stop } from "esbuild";
import { join } from "node:path";
import { apiKeyHeader } from "../src/generated/operations.ts";
import { type CaseResult, serveConformance } from "../tests/runtimes/server.ts";
import { serve } from "../tests/support/server.ts";
import { makeFolder, root } from "./support/files.ts";
import {
  arch,
  BUN_VERSION,
  installBun,
  installPackage,
  installTool,
  NODE_VERSIONS,
  takePackage,
} from "./support/npm.ts";
import { deno, run } from "./support/process.ts";

const { os } = Deno.build;
const WORKERD_VERSION = "1.20261117.1";

const TIME_LIMIT = 60_000;

const work = await makeFolder();
Deno.test.afterAll(() => work[Symbol.asyncDispose]());
const { tarball } = await takePackage(work.path);

const project = join(work.path, "project");
await installPackage(tarball, project);
Deno.test.afterAll(stop);
for (const file of ["conformance.ts", "program.ts", "worker.ts", "workerd.capnp"]) {
  await Deno.copyFile(join(root, "tests/runtimes", file), join(project, file));
}

/** The command that starts the suite on a runtime. */
interface Start {
  command: string;
  args: string[];
}

/** Runs the suite on a runtime and waits for its report, and then for its end. */
async function runSuite(
  { command, args }: Start,
  reported: Promise<CaseResult[]>,
): Promise<CaseResult[]> {
  const killer = new AbortController();
  const timer = setTimeout(() => killer.abort(), TIME_LIMIT);
  const end = run(command, args, { cwd: project, signal: killer.signal });
  const results = await Promise.race([reported, end.then(() => undefined)]);
  const { code, output } = await end;
  clearTimeout(timer);
  if (!results) throw new Error(`It exited with ${code} and without a report:\n${output}`);
  expect(code, output).toBe(0);
  return results;
}

/** Bundles a file of the suite; resolves to the output. */
type Bundle = (entry: string, output: string, options?: BuildOptions) => Promise<string>;

/** Adds a test that runs the suite on a runtime; each of the suite's cases is a step. */
function testRuntime(
  name: string,
  prepare: (bundle: Bundle, url: string) => Promise<Start>,
): void {
  Deno.test(name, async (test) => {
    await using server = await serveConformance();
    const bundle: Bundle = async (entry, outfile, options) => {
      const define = {
        SERVER: JSON.stringify(server.url),
        KEY_HEADER: JSON.stringify(apiKeyHeader),
      };
      const common = { absWorkingDir: project, entryPoints: [entry], outfile, define };
      await build({ ...common, bundle: true, format: "esm", ...options });
      return outfile;
    };
    const results = await runSuite(await prepare(bundle, server.url), server.report);
    expect(results.length).toBeGreaterThan(0);
    for (const { name, error } of results) {
      await test.step(name, () => expect(error).toBeUndefined());
    }
  });
}

/** Installs a version of Node; resolves to its program. */
async function installNode(version: string): Promise<string> {
  return join(await installTool(`node-${os}-${arch}`, version), "bin/node");
}

const external: BuildOptions = { packages: "external" };

for (const version of NODE_VERSIONS) {
  for (const [format, title] of [["esm", "ES modules"], ["cjs", "CommonJS"]] as const) {
    testRuntime(`Node ${version}, ${title}`, async (bundle) => {
      const command = await installNode(version);
      const output = format === "cjs" ? "program.cjs" : "program.mjs";
      return { command, args: [await bundle("program.ts", output, { ...external, format })] };
    });
  }
}

testRuntime(`Bun ${BUN_VERSION}`, async (bundle) => {
  const command = await installBun();
  return { command, args: [await bundle("program.ts", "program.mjs", external)] };
});

testRuntime(`Deno ${Deno.version.deno}`, async (bundle, url) => {
  const program = await bundle("program.ts", "program.mjs", external);
  const args = ["run", "--no-prompt", `--allow-net=${new URL(url).host}`, program];
  return { command: Deno.execPath(), args };
});

testRuntime(`workerd ${WORKERD_VERSION}`, async (bundle) => {
  const target = arch === "x64" ? "64" : "arm64";
  const tool = await installTool(`@cloudflare/workerd-${os}-${target}`, WORKERD_VERSION);
  await bundle("worker.ts", "worker.js", { conditions: ["workerd", "worker"] });
  return { command: join(tool, "bin/workerd"), args: ["test", "workerd.capnp"] };
});

/** Adds a test that runs the command on a runtime, with a reader that waits. */
function testCommand(name: string, install: () => Promise<string>, ...args: string[]): void {
  Deno.test(`${name} prints all that --json has, for a slow reader`, async () => {
    const body = "\u0001".repeat(60_000); // six times as much in JSON, more than a pipe holds
    await using server = await serve((_, response) => void response.writeHead(402).end(body));
    const program = join(project, "node_modules/@scam-address/client/esm/src/cli/main.js");
    const child = new Deno.Command(await install(), {
      args: [...args, program, "check-key", "--json", `--base-url=${server.url}`],
      env: { SCAM_ADDRESS_API_KEY: "some-key" },
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    const parts = [await reader.read()];
    await new Promise((resolve) => setTimeout(resolve, 500)); // it has written what it can
    while (!parts.at(-1)!.done) parts.push(await reader.read());
    const text = await new Blob(parts.map(({ value }) => value ?? "")).text();
    expect(JSON.parse(text).error).toMatchObject({ response: { status: 402, body } });
    expect((await child.status).code).toBe(3); // its standard input is still open
    await child.stdin.close();
  });
}

for (const version of NODE_VERSIONS) testCommand(`Node ${version}`, () => installNode(version));
testCommand(`Bun ${BUN_VERSION}`, installBun);
testCommand(`Deno ${Deno.version.deno}`, () => Promise.resolve(deno), "run", "-A");
