import { expect } from "@std/expect";
import { constants, deflateRawSync } from "node:zlib";

import { json, serve, serveBytes, validKey } from "../support/server.ts";
import { bundle, play, runtimes } from "./support.ts";

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

// less than the waits and the time-outs of the calls in child.ts
const timeout = 50_000 + 4 * SHARING_CALLS;

Deno.test("processes end after responses that announce content where there is none", async (test) => {
  await using program = await bundle("tests/process/child.ts");
  const statuses = [204, 304, 205];
  for (const runtime of runtimes) {
    // Since version 26, Node.js keeps a connection with a 205 open, whatever its caller does.
    const ends = runtime.major < 26 ? ["ok", "http", "ok"] : ["ok", "http"];
    for (const header of ["Content-Length: 500", "Transfer-Encoding: chunked"]) {
      await test.step(`${runtime.name}, ${header}`, async () => {
        await using server = await serveBytes((socket, count) => {
          socket.write(`HTTP/1.1 ${statuses[count - 1]} OK\r\n${header}\r\n\r\n`);
        });
        const args = ["announced", server.url, ends.join()];
        expect(await play(runtime, program.path, args, { timeout })).toEqual(ends);
      });
    }
  }
});

/** How `exit` ends the calls of each path. */
const ENDS: Record<string, string> = {
  missing: "http",
  half: "http",
  redirect: "redirect",
  html: "invalid_response",
  reset: "network",
  flaky: "ok",
  large: "invalid_response",
};

Deno.test("processes end, keep within their memory, and handle all rejections", async (test) => {
  await using program = await bundle("tests/process/child.ts");
  for (const runtime of runtimes) {
    const { name } = runtime;

    /** Runs a scenario as a step, with a server of its own. */
    const step = (
      what: string,
      [scenario, ...args]: [string, ...string[]],
      // deno-lint-ignore no-explicit-any
      check: (result: any, seen: Awaited<ReturnType<typeof serveFaults>>["seen"]) => void,
      ignore = false,
    ) =>
      test.step({
        name: `${name} ${what}`,
        ignore,
        async fn() {
          await using server = await serveFaults(timeout);
          const host = /size|retries/.test(scenario) ? {} : { host: new URL(server.url).host };
          const all = [scenario, server.url, ...args];
          check(await play(runtime, program.path, all, { timeout, ...host }), server.seen);
        },
      });

    await step(
      "exits when the last call has ended",
      ["exit", Object.keys(ENDS).join()],
      (ended) => {
        const last = [...Array(3).fill("timeout"), ...Array(4).fill("stop")];
        expect(ended).toEqual([...Object.values(ENDS), ...last]);
      },
    );

    for (const [kind, end] of [["timeout", "timeout"], ["signal", "stop"]] as const) {
      await step(`closes the connections of calls that a ${kind} ends`, ["hang", kind], (ends) => {
        expect(ends).toEqual([end]);
      });
    }

    await step("handles every rejection", ["rejections"], (seen) => {
      expect(seen).toEqual({ calls: 4 * 10 * 4 * 4, unhandled: [] });
    });

    for (const [kind, calls] of [["shared", SHARING_CALLS], ["half", 1_000]] as const) {
      await step(`keeps no memory (${kind})`, ["memory", kind, `${calls}`], (grown) => {
        console.log(`${name}: ${grown} bytes more after ${calls} calls (${kind})`);
        expect(grown).toBeLessThan(2 * MiB + 50 * calls); // a listener each takes far more
      });
    }

    const sends = "keeps nothing of attempts that have ended (needs Linux's /proc)";
    await step(sends, ["retries"], ({ grown, kept }) => {
      console.log(`${name}: ${Math.round(grown / MiB)} MiB more at the peak (retries)`);
      expect(kept).toBeLessThan(8 * MiB); // The errors would take some 40 MiB.
      expect(grown).toBeLessThan(400 * MiB); // of 81 bodies of 8 MiB, some of them garbage
    }, Deno.build.os !== "linux");

    for (const kind of ["stream", "bomb", "crumbs"]) {
      const what = `bounds its memory when it reads ${kind} without end (needs Linux's /proc)`;
      await step(what, ["size", kind], ({ error, grown }, { poured }) => {
        console.log(`${name}: ${Math.round(grown / MiB)} MiB more at the peak (${kind})`);
        expect(error).toBe("invalid_response");
        expect(grown).toBeLessThan(128 * MiB);
        expect(poured).toBeLessThan(SIZE / 4);
      }, Deno.build.os !== "linux");
    }
  }
});
