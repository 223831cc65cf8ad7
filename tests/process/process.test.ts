import { expect } from "@std/expect";
import { spawn, spawnSync } from "node:child_process";
import { constants, deflateRawSync } from "node:zlib";

import { type Answer, json, serve, validKey } from "../server.ts";

const MiB = 2 ** 20;
const SIZE = 512 * MiB;

/** Calls that share a signal; `deno task test:memory` makes more of them. */
const SHARING_CALLS = Number(Deno.env.get("MEMORY_CALLS") ?? 2_000);

/** A gzip body of half a MiB that inflates to 512 MiB; its end, which nobody reads, is missing. */
function bomb(): Uint8Array[] {
  const { Z_FULL_FLUSH } = constants;
  const block = deflateRawSync(new Uint8Array(MiB), { finishFlush: Z_FULL_FLUSH });
  return [Uint8Array.of(31, 139, 8, 0, 0, 0, 0, 0, 0, 255), ...Array(SIZE / MiB).fill(block)];
}

let poured = 0;

const answer: Answer = ({ url }, response, count) => {
  switch (url) {
    case "/missing":
      return void response.writeHead(404).end("no");
    case "/redirect":
      return void response.writeHead(302, { location: "/ok" }).end();
    case "/html":
      return void response.end("<h1>");
    case "/reset":
      return void response.socket!.destroy();
    case "/flaky":
      if (count % 2) return json(response, {});
      return void response.writeHead(503, { "retry-after": "0" }).end();
    case "/later":
      return void response.writeHead(503, { "retry-after": "60" }).end();
    case "/hang":
      return;
    case "/drip": {
      const timer = setInterval(() => response.write(" "), 10);
      return void response.on("close", () => clearInterval(timer));
    }
    case "/large":
    case "/stream": {
      const chunk = new Uint8Array(2 ** 16);
      const pour = () => {
        while (poured < SIZE) {
          poured += chunk.length;
          if (!response.write(chunk)) return;
        }
        response.end();
      };
      poured = 0;
      response.on("drain", pour);
      return pour();
    }
    case "/bomb":
      response.writeHead(200, {
        "content-encoding": "gzip",
        "content-length": bomb().reduce((sum, { length }) => sum + length, 0),
      });
      for (const part of bomb()) response.write(part);
      return void response.end();
    default:
      return json(response, validKey);
  }
};

const directory = Deno.makeTempDirSync();
const bundle = `${directory}/child.mjs`;
const root = new URL("../../", import.meta.url);

/** Runs a process to its end. */
function run(command: string, args: string[]) {
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "", answered: NaN };
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output.answered = performance.now();
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => output.stderr += text);
  return new Promise<typeof output & { status: number | null; lingered: number }>((resolve) => {
    child.on("close", (status) => {
      resolve({ ...output, status, lingered: performance.now() - output.answered });
    });
  });
}

const node = spawnSync("node", ["--version"], { encoding: "utf8" });
const runtimes: [string, string, (url: string, all: boolean) => string[]][] = [
  ["Deno", Deno.execPath(), (url, all) => [
    "run",
    "--quiet",
    "--no-config",
    "--v8-flags=--expose-gc",
    all ? "--allow-all" : `--allow-net=${new URL(url).host}`,
    bundle,
  ]],
];
// Node 20 takes more than ten calls that share a signal for a leak of theirs and warns.
const quiet = node.stdout?.startsWith("v20.")
  ? ["--disable-warning=MaxListenersExceededWarning"]
  : [];
if (node.status === 0) runtimes.push(["Node", "node", () => ["--expose-gc", ...quiet, bundle]]);
else console.log("skipped: processes of Node, because there is no node to run");

/** Runs a scenario of child.ts and hands over what it printed, which must be all it printed. */
async function play(command: string, args: string[], scenario: string[]) {
  const result = await run(command, [...args, ...scenario]);
  expect(result.stderr).toBe("");
  expect(result.status).toBe(0);
  expect(result.stdout.trim().split("\n").length).toBe(1);
  return { value: JSON.parse(result.stdout), lingered: result.lingered };
}

Deno.test("processes end, keep within their memory, and handle all rejections", async (test) => {
  const bundled = await run(Deno.execPath(), [
    "bundle",
    "--quiet",
    "--no-lock",
    "--import-map=import_map.npm.json",
    `--output=${bundle}`,
    "tests/process/child.ts",
  ]);
  expect(bundled).toMatchObject({ status: 0 });
  try {
    for (const [name, command, args] of runtimes) {
      await test.step(`${name} exits at once when the last call has ended`, async () => {
        await using server = await serve(answer);
        const { value, lingered } = await play(command, args(server.url, false), [
          "exit",
          server.url,
        ]);
        expect(value).toEqual([
          "ok",
          "http",
          "redirect",
          "invalid_response",
          "network",
          "ok",
          "invalid_response",
          "timeout",
          "timeout",
          "timeout",
          "stop",
          "stop",
          "stop",
          "stop",
        ]);
        expect(lingered).toBeLessThan(10_000); // a timer of a call would keep it for 30 s
      });

      await test.step(`${name} handles every rejection`, async () => {
        await using server = await serve(answer);
        const { value } = await play(command, args(server.url, false), ["rejections", server.url]);
        expect(value.calls).toBeGreaterThan(500);
        expect(value.unhandled).toEqual([]);
      });

      await test.step(`${name} keeps no memory of calls that share a signal`, async () => {
        await using server = await serve(answer);
        const { value } = await play(command, args(server.url, true), [
          "memory",
          server.url,
          `${SHARING_CALLS}`,
        ]);
        console.log(`${name}: ${value} bytes more after ${SHARING_CALLS} calls with one signal`);
        expect(value).toBeLessThan(2 * MiB + 50 * SHARING_CALLS); // a listener each takes far more
      });

      for (const kind of ["stream", "bomb", "crumbs"]) {
        await test.step(`${name} bounds its memory when it reads ${kind} without end`, async () => {
          if (Deno.build.os !== "linux") {
            return console.log("skipped: the peak of memory is read from Linux's /proc");
          }
          await using server = await serve(answer);
          const { value } = await play(command, args(server.url, true), ["size", server.url, kind]);
          console.log(`${name}: ${Math.round(value.grown / MiB)} MiB more at the peak (${kind})`);
          expect(value.error).toBe("invalid_response");
          expect(value.grown).toBeLessThan(128 * MiB);
          if (kind === "stream") expect(poured).toBeLessThan(SIZE / 4);
        });
      }
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
