import { expect } from "@std/expect";
import { constants, deflateRawSync } from "node:zlib";

import { json, type Responder, serve, validKey } from "../server.ts";
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

// less than the waits and the time-outs of the calls in child.ts
const timeout = 50_000 + 4 * SHARING_CALLS;

for (const runtime of runtimes) {
  const name = `importing the package needs nothing that jest's jsdom lacks: ${runtime.name}`;
  Deno.test(name, { ignore: runtime.ignore }, async () => {
    await using program = await bundle("tests/process/import.ts");
    expect(await play(runtime, program.path, [], { timeout })).toEqual(validKey);
  });
}

for (const runtime of runtimes) {
  const { name, ignore } = runtime;
  const title = `processes end, keep within their memory, and handle all rejections: ${name}`;
  Deno.test(title, { ignore }, async (test) => {
    await using program = await bundle("tests/process/child.ts");
    await test.step(`${name} exits at once when the last call has ended`, async () => {
      await using server = await serve(respond);
      const ended = await play(runtime, program.path, ["exit", server.url], {
        host: new URL(server.url).host,
        timeout,
      });
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
      const seen = await play(runtime, program.path, ["rejections", server.url], {
        host: new URL(server.url).host,
        timeout,
      });
      expect(seen).toEqual({ calls: 12 * 4 * 4 * 4 + 9 * 5, unhandled: [] });
    });

    await test.step(`${name} keeps no memory of calls that share a signal`, async () => {
      await using server = await serve(respond, timeout);
      const grown = await play(runtime, program.path, ["memory", server.url, `${SHARING_CALLS}`], {
        timeout,
      });
      console.log(`${name}: ${grown} bytes more after ${SHARING_CALLS} calls with one signal`);
      expect(grown).toBeLessThan(2 * MiB + 50 * SHARING_CALLS); // a listener each takes far more
    });

    for (const kind of ["stream", "bomb", "crumbs"]) {
      const fn = async () => {
        await using server = await serve(respond);
        const size = ["size", server.url, kind];
        const { error, grown } = await play(runtime, program.path, size, { timeout });
        console.log(`${name}: ${Math.round(grown / MiB)} MiB more at the peak (${kind})`);
        expect(error).toBe("invalid_response");
        expect(grown).toBeLessThan(128 * MiB);
        if (kind === "stream") expect(poured).toBeLessThan(SIZE / 4);
      };
      const ignore = Deno.build.os !== "linux";
      const why = ignore ? ", skipped: the peak is read from Linux's /proc" : "";
      const step = `${name} bounds its memory when it reads ${kind} without end${why}`;
      await test.step({ name: step, ignore, fn });
    }
  });
}
