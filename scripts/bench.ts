/**
 * Measures the CPU time per call beside openapi-fetch and ky, on Node and Deno: for responses with and
 * without a `Content-Length`, with a custom `fetch`, and for one call or 32 at a time.
 *
 *     deno task bench [--quick] [node|deno]
 *
 * With `--quick` it only shows that every call works. The other clients are installed from npm into the
 * user's cache. Nothing fails for being slow.
 */

import { build } from "esbuild";
import { join } from "node:path";
import denoJson from "../deno.json" with { type: "json" };
import { validKey } from "../tests/support/server.ts";
import { root } from "./support/files.ts";
import { cache, npm } from "./support/npm.ts";
import { mustRun } from "./support/process.ts";

const RUNTIMES: Record<string, [command: string, ...args: string[]]> = {
  node: ["node"],
  deno: [Deno.execPath(), "run", "-A"],
};
const KINDS = ["length", "chunked", "custom fetch"];
/** How many calls are under way at a time. */
const LOADS = [1, 32];

const isQuick = Deno.args.includes("--quick");
const chosen = Deno.args.filter((arg) => arg !== "--quick");
const folder = join(cache, "bench");
await Deno.mkdir(folder, { recursive: true });
await npm(["install", "ky@2.1.0", denoJson.imports["openapi-fetch"].slice("npm:".length)], folder);
await build({
  entryPoints: {
    "scam-address": join(root, "mod.ts"),
    measure: join(root, "scripts/bench/measure.ts"),
  },
  outdir: folder,
  bundle: true,
  format: "esm",
  platform: "node",
  packages: "external",
});

await using server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  async (request) => {
    await request.text();
    const json = JSON.stringify(validKey);
    const body = request.url.includes("/chunked/") ? new Blob([json]).stream() : json;
    return new Response(body, { headers: { "content-type": "application/json" } });
  },
);

if (!isQuick) console.log("Microseconds of CPU time per call, and the ratio to openapi-fetch's");
for (const runtime of chosen.length > 0 ? chosen : Object.keys(RUNTIMES)) {
  if (!RUNTIMES[runtime]) throw new Error(`There is no runtime "${runtime}"`);
  const [command, ...args] = RUNTIMES[runtime];
  for (const kind of KINDS) {
    for (const concurrency of LOADS) {
      const baseUrl = `http://127.0.0.1:${server.addr.port}/${kind === "chunked" ? kind : "api"}/`;
      const measure = ["measure.js", baseUrl, kind, `${concurrency}`, isQuick ? "1" : "50"];
      const costs = JSON.parse(await mustRun(command, [...args, ...measure], { cwd: folder }));
      const cells = Object.entries<number>(costs).map(([name, cost]) =>
        `${name} ${cost.toFixed(0)} (${(cost / costs["openapi-fetch"]).toFixed(2)})`
      );
      console.log(
        `${runtime}, ${kind}, ${concurrency} at a time: ${isQuick ? "ok" : cells.join()}`,
      );
    }
  }
}
