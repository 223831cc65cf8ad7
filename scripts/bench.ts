/**
 * Measures the package next to its peers: the CPU time per call, plain, with middleware, and with a
 * custom `fetch`, on Node, Deno and Bun.
 *
 *     deno task bench [--quick] [RUNTIME…]
 *
 * With `--quick` it only shows that every call works. The peers are installed from npm into the
 * user's cache. Nothing fails for being slow.
 */

import { build } from "esbuild";
import { join } from "node:path";
import denoJson from "../deno.json" with { type: "json" };
import { validKey } from "../tests/support/server.ts";
import { root } from "./support/files.ts";
import { cache, installBun, npm } from "./support/npm.ts";
import { mustRun } from "./support/process.ts";

const RUNTIMES: Record<string, { command(): string | Promise<string>; args: string[] }> = {
  node: { command: () => "node", args: [] },
  deno: { command: Deno.execPath, args: ["run", "-A"] },
  bun: { command: installBun, args: [] },
};
const KINDS = ["plain", "middleware", "custom fetch"];
/** How many calls are under way at a time. */
const LOADS = [1, 32];

const isQuick = Deno.args.includes("--quick");
const chosen = Deno.args.filter((arg) => arg !== "--quick").map((arg) => arg.toLowerCase());
const folder = join(cache, "bench");
const own = denoJson.imports["openapi-fetch"].replace("npm:", "");

await Deno.mkdir(folder, { recursive: true });
await npm(["install", "ky@2.1.0", "openai@7.57.0", own], folder);
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
    return Response.json(validKey);
  },
);

console.log("Microseconds of CPU time per call, and the ratio to openapi-fetch's beside it");
for (const runtime of chosen.length > 0 ? chosen : Object.keys(RUNTIMES)) {
  const target = RUNTIMES[runtime];
  if (!target) throw new Error(`"${runtime}" is not one of ${Object.keys(RUNTIMES).join(", ")}`);
  const { command, args } = target;
  const executable = await command();
  for (const kind of KINDS) {
    for (const concurrency of LOADS) {
      const baseUrl = `http://127.0.0.1:${server.addr.port}/`;
      const measure = ["measure.js", baseUrl, kind, `${concurrency}`, isQuick ? "1" : "50"];
      const costs = JSON.parse(await mustRun(executable, [...args, ...measure], { cwd: folder }));
      const cells = Object.entries<number>(costs).map(([name, cost]) =>
        `${name} ${cost.toFixed(0)} (${(cost / costs["openapi-fetch"]).toFixed(2)})`
      );
      console.log(`\n${runtime}, ${kind}, ${concurrency} at a time:`);
      console.log(cells.join(", "));
    }
  }
}
