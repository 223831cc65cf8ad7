/**
 * Measures the CPU time per call beside openapi-fetch and ky, on Node, Deno and Bun: for responses with
 * and without a `Content-Length`, with a custom `fetch`, with middleware, for a POST that is sent once,
 * and for one call or 32 at a time.
 *
 *     deno task bench
 *
 * Nothing fails for being slow.
 */

import { validKey } from "../tests/support/server.ts";
import { BUN_VERSIONS, installBun } from "./support/npm.ts";
import { bundle, deno, mustRun } from "./support/process.ts";

const RUNTIMES = {
  Node: ["node"],
  Deno: [deno, "run", "-A"],
  Bun: [await installBun(BUN_VERSIONS.at(-1)!)],
};

await using program = await bundle("scripts/bench/measure.ts");
await using server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  async (request) => {
    await request.text();
    const json = JSON.stringify(validKey);
    const body = request.url.includes("/chunked/") ? new Blob([json]).stream() : json;
    return new Response(body, { headers: { "content-type": "application/json" } });
  },
);

console.log("Microseconds of CPU time per call, and the ratio to openapi-fetch's");
for (const [runtime, [command, ...flags]] of Object.entries(RUNTIMES)) {
  for (const kind of ["length", "chunked", "custom fetch", "middleware", "POST once"]) {
    const baseUrl = `http://127.0.0.1:${server.addr.port}/${encodeURIComponent(kind)}/`;
    for (const concurrency of ["1", "32"]) {
      const args = [...flags, program.path, baseUrl, kind, concurrency];
      const costs = JSON.parse(await mustRun(command!, args));
      const cells = Object.entries<number>(costs).map(([name, cost]) =>
        `${name} ${cost.toFixed(0)} (${(cost / costs["openapi-fetch"]).toFixed(2)})`
      );
      console.log(`${runtime}, ${kind}, ${concurrency} at a time: ${cells.join()}`);
    }
  }
}
