/**
 * Runs one conformance suite on every runtime, over real HTTP, with a package as npm delivers it.
 *
 *     deno task test:runtimes [FOLDER|TARBALL]
 *
 * Without an argument the package is made with `deno pack`. Runtimes come from npm and Debian.
 */

import { join } from "node:path";
import {
  type ConformanceServer,
  type RuntimeReport,
  serveConformance,
} from "../tests/runtimes/server.ts";
import { mustRun } from "./npm/command.ts";
import { exists, installPackage, installTool, root, takePackage } from "./npm/package.ts";

const NODE_VERSIONS = ["20.20.2", "22.23.3", "24.21.0", "26.10.0"];
const BUN_VERSION = "1.4.5";
const WORKERD_VERSION = "1.20261117.1";
const ESBUILD_VERSION = "0.28.2";

const TIME_LIMIT = 60_000;

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

/** What npm's packages call this platform. */
const os = Deno.build.os;
const arch = Deno.build.arch === "x86_64" ? "x64" : "arm64";

/** Where the suite runs. */
interface Setting {
  /** A folder with the suite's files and the installed package. */
  project: string;
  server: ConformanceServer;
  /** Bundles a file of the suite for a runtime. */
  bundle(runtime: Runtime, entry: string, output: string, ...flags: string[]): Promise<void>;
}

/** A runtime that is ready: its version, and the command that runs the suite on it. */
interface Ready {
  version: string;
  command: string;
  args: string[];
  /** Whether it goes on after the suite, as a browser does. */
  stays?: boolean;
}

interface Runtime {
  name: string;
  prepare(this: Runtime, setting: Setting): Promise<Ready>;
}

async function versionOf(command: string): Promise<string> {
  const output = await mustRun(command, ["--version"]);
  return output.match(/\d[\d.-]*\d/)?.[0] ?? output.trim();
}

function node(version: string, format: "esm" | "cjs"): Runtime {
  return {
    name: `Node${format === "cjs" ? " (CommonJS)" : ""} ${version.split(".")[0]}`,
    async prepare({ bundle }) {
      const command = join(await installTool(`node-${os}-${arch}`, version), "bin/node");
      const program = `node-${version}.${format === "cjs" ? "cjs" : "mjs"}`;
      await bundle(this, "program.ts", program, "--packages=external", `--format=${format}`);
      return { version: await versionOf(command), command, args: [program] };
    },
  };
}

const bun: Runtime = {
  name: "Bun",
  async prepare({ bundle }) {
    const target = arch === "x64" ? "x64" : "aarch64";
    const command = join(await installTool(`@oven/bun-${os}-${target}`, BUN_VERSION), "bin/bun");
    await bundle(this, "program.ts", "bun.mjs", "--packages=external", "--format=esm");
    return { version: await versionOf(command), command, args: ["bun.mjs"] };
  },
};

const deno: Runtime = {
  name: "Deno",
  async prepare({ server, bundle }) {
    await bundle(this, "program.ts", "deno.mjs", "--packages=external", "--format=esm");
    return {
      version: Deno.version.deno,
      command: Deno.execPath(),
      args: ["run", "--no-prompt", `--allow-net=${new URL(server.url).host}`, "deno.mjs"],
    };
  },
};

const workerd: Runtime = {
  name: "workerd",
  async prepare({ bundle }) {
    const target = arch === "x64" ? "64" : "arm64";
    const tool = await installTool(`@cloudflare/workerd-${os}-${target}`, WORKERD_VERSION);
    const command = join(tool, "bin/workerd");
    await bundle(this, "worker.ts", "worker.js", "--format=esm", "--conditions=workerd,worker");
    return { version: await versionOf(command), command, args: ["test", "workerd.capnp"] };
  },
};

/** Finds Chromium, or installs Debian's. */
async function findChromium(): Promise<string> {
  for (const folder of Deno.env.get("PATH")?.split(":") ?? []) {
    for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
      if (await exists(join(folder, name))) return join(folder, name);
    }
  }
  console.log("Installing Chromium from Debian");
  const apt = Deno.uid() === 0 ? ["apt-get"] : ["sudo", "-n", "apt-get"];
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", "chromium"]]) {
    const [command, ...rest] = [...apt, "-qq", ...args] as [string, ...string[]];
    await mustRun(command, rest, { env: { DEBIAN_FRONTEND: "noninteractive" } });
  }
  return "chromium";
}

const chromium: Runtime = {
  name: "Chromium",
  async prepare({ project, bundle }) {
    const command = await findChromium();
    await bundle(this, "program.ts", "page.js", "--format=iife");
    const script = await Deno.readTextFile(join(project, "page.js"));
    // The page has an origin of its own, so that every request to the service crosses origins.
    const page = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
      const isScript = url.endsWith("/page.js");
      const body = isScript ? script : '<!doctype html><script src="page.js"></script>';
      const type = isScript ? "text/javascript" : "text/html";
      return new Response(body, { headers: { "content-type": `${type}; charset=utf-8` } });
    });
    page.unref();
    const address = `http://127.0.0.1:${page.addr.port}/`;
    return {
      version: await versionOf(command),
      command,
      args: [...CHROMIUM_FLAGS, `--user-data-dir=${join(project, "chromium")}`, address],
      stays: true,
    };
  },
};

/** Runs the suite on a runtime and waits for its report, and then for its end. */
async function results(
  runtime: Runtime,
  { command, args, stays }: Ready,
  { project, server }: Setting,
): Promise<RuntimeReport["results"]> {
  const child = new Deno.Command(command, {
    args,
    cwd: project,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill("SIGKILL");
  }, TIME_LIMIT);
  const end = child.output();
  const report = await Promise.race([server.reportOf(runtime.name), end.then(() => undefined)]);
  if (report && stays) child.kill();
  const { success, code, stderr } = await end;
  clearTimeout(timer);
  const how = late ? `did not end within ${TIME_LIMIT} ms` : `ended with exit status ${code}`;
  const said = new TextDecoder().decode(stderr).trim().split("\n").slice(-10).join("\n");
  if (!report) throw new Error(`it ${how} and without a report\n${said}`);
  if (!success && !stays) throw new Error(`it ${how} after its report\n${said}`);
  return report.results;
}

const work = await Deno.makeTempDir({ prefix: "scam-address-runtimes-" });
let [passed, failed] = [0, 0];
try {
  const { origin, tarball, commonJs } = await takePackage(Deno.args[0], work);
  console.log(`Package: ${origin}${commonJs ? ", ES modules and CommonJS" : ", ES modules"}`);
  const project = join(work, "project");
  await installPackage(tarball, project);
  for (const file of ["conformance.ts", "program.ts", "worker.ts", "workerd.capnp"]) {
    await Deno.copyFile(join(root, "tests/runtimes", file), join(project, file));
  }
  const esbuild = join(
    await installTool(`@esbuild/${os}-${arch}`, ESBUILD_VERSION),
    "bin/esbuild",
  );

  await using server = await serveConformance();
  const setting: Setting = {
    project,
    server,
    async bundle({ name }, entry, output, ...flags) {
      const values = [`--define:SERVER="${server.url}"`, `--define:RUNTIME="${name}"`];
      const args = [entry, "--bundle", `--outfile=${output}`, ...values, ...flags];
      await mustRun(esbuild, [...args, "--log-level=warning"], { cwd: project });
    },
  };

  const formats = commonJs ? ["esm", "cjs"] as const : ["esm"] as const;
  const runtimes = [
    ...NODE_VERSIONS.flatMap((version) => formats.map((format) => node(version, format))),
    bun,
    workerd,
    chromium,
    deno,
  ];
  for (const runtime of runtimes) {
    let title = runtime.name;
    try {
      const ready = await runtime.prepare(setting);
      title = `${runtime.name.replace(/ \d+$/, "")} ${ready.version}`;
      const all = await results(runtime, ready, setting);
      const failures = all.filter(({ error }) => error !== undefined);
      const good = all.length - failures.length;
      console.log(`${title}: ${good} passed, ${failures.length} failed`);
      for (const { name, error } of failures) console.log(`    FAILED ${name}: ${error}`);
      passed += good;
      failed += failures.length;
    } catch (error) {
      console.log(`${title}: FAILED, ${error instanceof Error ? error.message : error}`);
      failed++;
    }
  }
} finally {
  await Deno.remove(work, { recursive: true });
}
console.log(`${passed} passed, ${failed} failed`);
Deno.exitCode = failed ? 1 : 0;
