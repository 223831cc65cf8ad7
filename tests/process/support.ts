// Runs programs of the tests on Deno and Node.js.
import { expect } from "@std/expect";
import { root } from "../../scripts/support/files.ts";
import { deno, run } from "../../scripts/support/process.ts";

/** Writes text to the standard input of a process, closes it, and waits for the process to end. */
export async function finish(child: Deno.ChildProcess, stdin = "") {
  const sent = new Blob([stdin]).stream().pipeTo(child.stdin);
  await sent.catch(() => {}); // The process may have ended without reading it.
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** How a runtime starts a program. */
interface Runtime {
  name: string;
  command: string;
  /** The flags for a program that may use the network at a host, or do anything. */
  flags: (host?: string) => string[];
}

/** Deno and Node.js. */
export const runtimes: Runtime[] = [
  {
    name: "Deno",
    command: deno,
    flags: (host) => {
      const permission = host ? `--allow-net=${host}` : "--allow-all";
      return ["run", "--quiet", "--no-config", "--v8-flags=--expose-gc", permission];
    },
  },
  { name: "Node", command: "node", flags: () => ["--expose-gc"] },
];

/** Runs a bundled program and returns what it printed, which must be one line of JSON. */
export async function play(
  { command, flags }: Runtime,
  program: string,
  args: string[],
  { host, timeout }: { host?: string; timeout: number },
) {
  const { code, stdout, output } = await run(command, [...flags(host), program, ...args], {
    cwd: root,
    env: { NODE_NO_WARNINGS: "1" }, // Node 20 warns of many calls that share a signal
    signal: AbortSignal.timeout(timeout), // Something may keep it from ending.
  });
  expect({ code, output }).toEqual({ code: 0, output: stdout.trim() });
  return JSON.parse(stdout);
}
