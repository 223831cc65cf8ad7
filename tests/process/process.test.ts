// What only a process can show: that it ends, its memory, and the connections that it leaves.
import { expect } from "@std/expect";
import { constants, deflateRawSync } from "node:zlib";

import { bundle } from "../../scripts/support/process.ts";
import { json, serve, validKey } from "../support/server.ts";
import { play, runtimes } from "./support.ts";

const MiB = 2 ** 20;
const SIZE = 512 * MiB;

/** A gzip body of half a MiB that inflates to 512 MiB; its end is missing, which no test reads. */
function bomb(): Uint8Array[] {
  const { Z_FULL_FLUSH } = constants;
  const block = deflateRawSync(new Uint8Array(MiB), { finishFlush: Z_FULL_FLUSH });
  return [Uint8Array.of(31, 139, 8, 0, 0, 0, 0, 0, 0, 255), ...Array(SIZE / MiB).fill(block)];
}

/** Starts a server with all that calls can meet, and counts what it has open, and has sent. */
async function serveFaults(limit?: number) {
  const seen = { open: 0, poured: 0, flaky: 0 };
  const server = await serve(({ url }, response) => {
    const path = url.slice(1);
    switch (path) {
      case "missing":
        response.writeHead(404).flushHeaders();
        return void setTimeout(() => response.end("no"), 1);
      case "redirect":
        return void response.writeHead(302, { location: "/ok" }).end();
      case "html":
        return void response.end("<h1>");
      case "reset":
        return void response.socket!.destroy();
      case "flaky":
        if (seen.flaky++) return json(response, {});
        return void response.writeHead(503, { "retry-after": "0" }).end();
      case "later":
        return void response.writeHead(503, { "retry-after": "60" }).end();
      case "half":
        response.writeHead(404, { "content-length": 500 }).write('{"a":1');
        return void setTimeout(() => response.socket?.end(), 1);
      case "open":
        return json(response, seen.open);
      case "begin":
        response.write("[");
        // falls through
      case "hang":
        seen.open++;
        return void response.on("close", () => seen.open--);
      case "drip": {
        const timer = setInterval(() => response.write(" "), 10);
        return void response.on("close", () => clearInterval(timer));
      }
      case "large":
      case "stream": {
        const chunk = new Uint8Array(2 ** 16);
        const pour = () => {
          while (seen.poured < SIZE && response.write(chunk)) seen.poured += chunk.length;
        };
        response.on("drain", pour);
        return pour();
      }
      case "bomb":
        response.writeHead(200, {
          "content-encoding": "gzip",
          "content-length": bomb().reduce((sum, { length }) => sum + length, 0),
        });
        for (const part of bomb()) response.write(part);
        return void response.end();
      default:
        return json(response, validKey);
    }
  }, limit);
  return Object.assign(server, { seen });
}

/** How `exit` ends the calls of each path. */
const ENDS: Record<string, string> = {
  missing: "http",
  half: "http",
  redirect: "http",
  html: "invalid_response",
  reset: "network",
  flaky: "ok",
  large: "invalid_response",
};

/** Less than the waits and the time-outs of the calls in child.ts, in milliseconds. */
const TIMEOUT = 55_000;

const program = await bundle("tests/process/child.ts");
Deno.test.afterAll(async () => await program[Symbol.asyncDispose]());

type Seen = Awaited<ReturnType<typeof serveFaults>>["seen"];

for (const runtime of runtimes) {
  /** Adds a test that runs a scenario, with a server of its own. */
  const testScenario = (
    what: string,
    args: [scenario: string, ...string[]],
    // deno-lint-ignore no-explicit-any -- what the scenario prints
    check: (result: any, seen: Seen) => void,
    needsProc = false,
  ) =>
    Deno.test({
      name: `${runtime.name} ${what}${needsProc ? " (needs Linux's /proc)" : ""}`,
      ignore: needsProc && Deno.build.os !== "linux",
      async fn() {
        await using server = await serveFaults(TIMEOUT);
        const host = needsProc ? {} : { host: new URL(server.url).host };
        const [scenario, ...others] = args;
        const options = { timeout: TIMEOUT, ...host };
        check(
          await play(runtime, program.path, [scenario, server.url, ...others], options),
          server.seen,
        );
      },
    });

  testScenario("ends with the last call", ["exit", Object.keys(ENDS).join()], (ends) => {
    const last = [...Array(3).fill("timeout"), ...Array(4).fill("stop")];
    expect(ends).toEqual(["ok", ...Object.values(ENDS), ...last]);
  });

  for (const [kind, end] of [["timeout", "timeout"], ["signal", "stop"]] as const) {
    testScenario(`closes the connections of calls that a ${kind} ends`, ["hang", kind], (ends) => {
      expect(ends).toEqual([end]);
    });
  }

  const counts = { "global fetch": 10_000, "custom fetch": 10_000, "half a response": 1_000 };
  for (const [kind, count] of Object.entries(counts)) {
    const what = `keeps no memory of ${count} calls (${kind})`;
    testScenario(what, ["memory", kind, `${count}`], ({ ends, grown }) => {
      expect(ends.sort()).toEqual(kind === "half a response" ? ["http", "ok"] : ["ok"]);
      console.log(`${runtime.name}, ${kind}: ${grown} bytes more`);
      expect(grown).toBeLessThan(2 * MiB);
    });
  }

  for (const kind of ["stream", "bomb", "crumbs"]) {
    const what = `bounds its memory when it reads ${kind} without end`;
    testScenario(what, ["size", kind], ({ error, grown }, { poured }) => {
      console.log(`${runtime.name}, ${kind}: ${Math.round(grown / MiB)} MiB more at the peak`);
      expect(error).toBe("invalid_response");
      expect(grown).toBeLessThan(128 * MiB);
      expect(poured).toBeLessThan(SIZE / 4);
    }, true);
  }
}
