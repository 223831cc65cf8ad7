// Large responses, and what is kept of them in memory on a runtime.
import { expect } from "@std/expect";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";

import { serve } from "../support/server.ts";
import { play, type Runtime } from "./support.ts";

const MiB = 2 ** 20;
const http = ["HttpError"];
const invalid = ["InvalidResponseError"];
const stop = Array(12).fill("stop");

/** The status and the body of responses, the calls that kept.ts makes, and how these end. */
const KINDS: [path: string, kind: string, scenario: string, ends: string[]][] = [
  ["401/text", "untyped", "errors", http],
  ["401/json", "untyped", "errors", http],
  ["503/json", "any", "errors", http], // those of `onRetry`, too
  ["200/text", "any", "errors", invalid],
  ["200/more", "any", "errors", invalid],
  ["200/json", "checked", "errors", invalid],
  ["200/json", "schema", "errors", invalid],
  ["401/none", "large request", "errors", ["ConfigurationError", "HttpError", "TimeoutError"]],
  ["401/none", "large reason", "errors", ["NetworkError"]],
  ["503/packed", "untyped", "waiting", stop],
  ["503/packed", "typed", "waiting", stop],
  ["503/packed", "limited", "waiting", stop],
  ["503/packed", "typed", "held", stop],
];

const text = (size: number) => "x".repeat(size);
const json = (size: number) => JSON.stringify(Array(10).fill(text(size / 10 - 4)));

const BODIES: Record<string, Uint8Array> = {
  none: new Uint8Array(),
  text: Buffer.from(text(10 * MiB)),
  more: Buffer.from(text(11 * MiB)), // than `maxResponseBytes`
  json: Buffer.from(json(10 * MiB)),
  packed: gzipSync(json(8e6)),
};

/** Runs kept.ts, which is bundled, for each kind as a step. */
export async function expectLittleKept(test: Deno.TestContext, runtime: Runtime, program: string) {
  const timeout = 50_000; // less than the wait for a retry
  for (const [path, kind, scenario, ends] of KINDS) {
    await test.step(`${runtime.name} keeps little of ${path} (${kind}, ${scenario})`, async () => {
      await using server = await serve(({ url }, response) => {
        const [, status, name] = url.split("/") as [string, string, string];
        server.requests.length = 0; // which are large
        const again = { "retry-after": "0" };
        const later = { "retry-after": "60", "content-encoding": "gzip" };
        response.writeHead(Number(status), name === "packed" ? later : again).end(BODIES[name]);
      });
      const args = [`${server.url}${path}/`, kind, scenario];
      const result = await play(runtime, program, args, { timeout });
      console.log(`${runtime.name}: ${result.kept} bytes (${path}, ${kind}, ${scenario})`);
      expect(result).toEqual({ kept: expect.any(Number), ends });
      expect(result.kept).toBeLessThan(scenario === "errors" ? 10 * MiB : 12e6);
    });
  }
}
