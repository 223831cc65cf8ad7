/**
 * Runs one conformance suite on every runtime, over real HTTP, with a package as npm delivers it.
 *
 *     deno task test:runtimes [FOLDER|TARBALL]
 *
 * Without an argument the package is made with `deno pack`. Runtimes come from npm, except
 * Chromium, which must be installed.
 */

import { expect } from "@std/expect";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type CaseResult, serveConformance } from "../tests/runtimes/server.ts";
import { root } from "./support/files.ts";
import {
  arch,
  BUN_VERSION,
  installBun,
  installPackage,
  installTool,
  os,
  takePackage,
} from "./support/npm.ts";
import { mustRun } from "./support/process.ts";

const NODE_VERSIONS = ["20.20.2", "22.23.3", "24.21.0", "26.10.0"];
const WORKERD_VERSION = "1.20261117.1";
const ESBUILD_VERSION = "0.28.2";

const TIME_LIMIT = 60_000;

const work = await Deno.makeTempDir({ prefix: "scam-address-runtimes-" });
Deno.test.afterAll(() => Deno.remove(work, { recursive: true }));

const { origin, tarball, commonJs } = await takePackage(Deno.args[0], work);
console.log(`Package: ${origin}, ES modules${commonJs ? " and CommonJS" : ""}`);

const project = join(work, "project");
await installPackage(tarball, project);
for (const file of ["conformance.ts", "program.ts", "worker.ts", "workerd.capnp"]) {
  await Deno.copyFile(join(root, "tests/runtimes", file), join(project, file));
}

/** The command that starts the suite on a runtime. */
interface Start {
  command: string;
  args: string[];
  /** Whether the runtime goes on after the suite, as a browser does. */
  stays?: boolean;
}

/** Runs the suite on a runtime and waits for its report, and then for its end. */
async function runSuite(
  { command, args, stays }: Start,
  reported: Promise<CaseResult[]>,
): Promise<CaseResult[]> {
  const child = new Deno.Command(command, {
    args,
    cwd: project,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const timer = setTimeout(() => child.kill("SIGKILL"), TIME_LIMIT);
  const end = child.output();
  const results = await Promise.race([reported, end.then(() => undefined)]);
  if (results && stays) child.kill();
  const { code, stderr } = await end;
  clearTimeout(timer);
  const errors = new TextDecoder().decode(stderr);
  if (!results) throw new Error(`It exited with ${code} and without a report:\n${errors}`);
  if (!stays) expect(code, errors).toBe(0);
  return results;
}

/** Bundles a file of the suite; resolves to the output. */
type Bundle = (entry: string, output: string, ...flags: string[]) => Promise<string>;

/** Adds a test that runs the suite on a runtime; each of the suite's cases is a step. */
function testRuntime(name: string, prepare: (bundle: Bundle, url: string) => Promise<Start>): void {
  Deno.test(name, async (test) => {
    await using server = await serveConformance();
    const esbuild = join(await installTool("esbuild", ESBUILD_VERSION), "bin/esbuild");
    const bundle: Bundle = async (entry, output, ...flags) => {
      const define = `--define:SERVER="${server.url}"`;
      const args = [entry, "--bundle", `--outfile=${output}`, define, "--log-level=warning"];
      await mustRun("node", [esbuild, ...args, ...flags], { cwd: project });
      return output;
    };
    const results = await runSuite(await prepare(bundle, server.url), server.report);
    expect(results.length).toBeGreaterThan(0);
    for (const { name, error } of results) {
      await test.step(name, () => expect(error).toBeUndefined());
    }
  });
}

const formats = { esm: "ES modules", ...commonJs && { cjs: "CommonJS" } };
for (const version of NODE_VERSIONS) {
  for (const [format, title] of Object.entries(formats)) {
    testRuntime(`Node ${version}, ${title}`, async (bundle) => {
      const command = join(await installTool(`node-${os}-${arch}`, version), "bin/node");
      const output = format === "cjs" ? "program.cjs" : "program.mjs";
      const flags = ["--packages=external", `--format=${format}`];
      return { command, args: [await bundle("program.ts", output, ...flags)] };
    });
  }
}

testRuntime(`Bun ${BUN_VERSION}`, async (bundle) => {
  const command = await installBun();
  const flags = ["--packages=external", "--format=esm"];
  return { command, args: [await bundle("program.ts", "program.mjs", ...flags)] };
});

testRuntime(`Deno ${Deno.version.deno}`, async (bundle, url) => {
  const flags = ["--packages=external", "--format=esm"];
  const program = await bundle("program.ts", "program.mjs", ...flags);
  const args = ["run", "--no-prompt", `--allow-net=${new URL(url).host}`, program];
  return { command: Deno.execPath(), args };
});

testRuntime(`workerd ${WORKERD_VERSION}`, async (bundle) => {
  const target = arch === "x64" ? "64" : "arm64";
  const tool = await installTool(`@cloudflare/workerd-${os}-${target}`, WORKERD_VERSION);
  await bundle("worker.ts", "worker.js", "--format=esm", "--conditions=workerd,worker");
  return { command: join(tool, "bin/workerd"), args: ["test", "workerd.capnp"] };
});

/** Finds an installed Chromium. */
function findChromium(): string | undefined {
  const folders = Deno.env.get("PATH")?.split(delimiter) ?? [];
  const names = ["chromium", "chromium-browser", "google-chrome"];
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(existsSync);
}

const CHROMIUM_FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const chromium = findChromium();
if (chromium) {
  testRuntime("Chromium", async (bundle) => {
    await bundle("program.ts", "page.js", "--format=iife");
    // The page comes from a file, so that every request to the service crosses origins.
    const page = join(project, "page.html");
    await Deno.writeTextFile(page, '<!doctype html><script src="page.js"></script>');
    const profile = `--user-data-dir=${join(project, "chromium")}`;
    const args = [...CHROMIUM_FLAGS, profile, pathToFileURL(page).href];
    return { command: chromium, args, stays: true };
  });
} else {
  Deno.test("Chromium", () => {
    const why = 'no Chromium in PATH: install it, for example with "apt-get install chromium"';
    if (Deno.env.get("CI")) throw new Error(`Chromium is missing where CI is set: ${why}`);
    console.log(`skipped: ${why}`);
  });
}
