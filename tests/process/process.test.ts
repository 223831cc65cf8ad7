import { expect } from "@std/expect";
import { spawn, spawnSync } from "node:child_process";
import { constants, deflateRawSync } from "node:zlib";

import { json, type Responder, serve, validKey } from "../server.ts";

const MiB = 2 ** 20;
const SIZE = 512 * MiB;

/** Calls that share a signal; `deno task test:memory` makes more of them. */
const SHARING_CALLS = Number(Deno.env.get("MEMORY_CALLS") ?? 1_000);

/** A gzip body of half a MiB that inflates to 512 MiB; its end is missing, which no test reads. */
function bomb(): Uint8Array[] {
  const { Z_FULL_FLUSH } = constants;
  const block = deflateRawSync(new Uint8Array(MiB), { finishFlush: Z_FULL_FLUSH });
  return [Uint8Array.of(31, 139, 8, 0, 0, 0, 0, 0, 0, 255), ...Array(SIZE / MiB).fill(block)];
}

let poured = 0;

const respond: Responder = ({ url }, response, count) => {
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

/** Runs a process to its end, or kills it when something keeps it from ending. */
function run(command: string, args: string[]) {
  const child = spawn(command, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 50_000 + 4 * SHARING_CALLS, // less than the waits and the time-outs of the calls in child.ts
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => output.stdout += text);
  child.stderr.setEncoding("utf8").on("data", (text) => output.stderr += text);
  return new Promise<typeof output & { status: number | null }>((resolve) => {
    child.on("close", (status) => resolve({ ...output, status }));
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
else console.log("skipped: processes of Node.js, because there is no Node.js to run");

/** Runs a scenario of child.ts and returns what it printed, which must be one line of JSON. */
async function play(command: string, args: string[], scenario: string[]) {
  const { status, stdout, stderr } = await run(command, [...args, ...scenario]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout);
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
        await using server = await serve(respond);
        const ended = await play(command, args(server.url, false), ["exit", server.url]);
        expect(ended).toEqual([
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
      });

      await test.step(`${name} handles every rejection`, async () => {
        await using server = await serve(respond);
        const seen = await play(command, args(server.url, false), ["rejections", server.url]);
        expect(seen).toEqual({ calls: 12 * 4 * 4 * 4 + 9 * 5, unhandled: [] });
      });

      await test.step(`${name} keeps no memory of calls that share a signal`, async () => {
        await using server = await serve(respond);
        const grown = await play(command, args(server.url, true), [
          "memory",
          server.url,
          `${SHARING_CALLS}`,
        ]);
        console.log(`${name}: ${grown} bytes more after ${SHARING_CALLS} calls with one signal`);
        expect(grown).toBeLessThan(2 * MiB + 50 * SHARING_CALLS); // a listener each takes far more
      });

      for (const kind of ["stream", "bomb", "crumbs"]) {
        await test.step(`${name} bounds its memory when it reads ${kind} without end`, async () => {
          if (Deno.build.os !== "linux") {
            return console.log("skipped: the peak of memory is read from Linux's /proc");
          }
          await using server = await serve(respond);
          const size = ["size", server.url, kind];
          const { error, grown } = await play(command, args(server.url, true), size);
          console.log(`${name}: ${Math.round(grown / MiB)} MiB more at the peak (${kind})`);
          expect(error).toBe("invalid_response");
          expect(grown).toBeLessThan(128 * MiB);
          if (kind === "stream") expect(poured).toBeLessThan(SIZE / 4);
        });
      }
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
