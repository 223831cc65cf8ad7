/**
 * Measures the package against its peers: the CPU time per call, which nobody watches, or middleware,
 * or a custom `fetch`, on Node, Deno and Bun; and the size.
 *
 *     deno task bench [--quick] [RUNTIME…] [CHECKOUT…]
 *
 * With `--quick` the only peers are `fetch` and openapi-fetch. Further checkouts of this project are
 * measured too, by the names of their folders. The peers are installed from npm into the user's
 * cache. Nothing fails for being slow.
 */

import { build } from "esbuild";
import { basename, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import denoJson from "../deno.json" with { type: "json" };
import { type Client, clients, own, type Watcher } from "./bench/clients.ts";
import type { Options } from "./bench/measure.ts";
import { root } from "./support/files.ts";
import { cache, installBun, npm } from "./support/npm.ts";
import { mustRun } from "./support/process.ts";

const PEERS = [
  "ky@2.1.0",
  "openai@7.57.0",
  denoJson.imports["openapi-fetch"].replace("npm:", ""),
];
const WATCHERS: readonly Watcher[] = ["nobody", "middleware", "a custom fetch"];
/** How many calls are under way at a time, and how many rounds are measured. */
const LOADS = [{ concurrency: 1, rounds: 60 }, { concurrency: 32, rounds: 30 }];
const RUNTIMES = [
  { name: "Node", command: () => "node", args: [] },
  { name: "Deno", command: Deno.execPath, args: ["run", "-A"] },
  { name: "Bun", command: installBun, args: [] },
];

const json = JSON.stringify({ apiKeyValid: true, data: { credits: 100 } });
const headers = {
  "content-type": "application/json",
  "cache-control": "no-transform", // otherwise Deno compresses what has no length
};
/** What the server sends, by the base URL's path. */
const BODIES: Record<string, () => BodyInit> = {
  length: () => json,
  chunked: () => ReadableStream.from([new TextEncoder().encode(json)]),
};

const isQuick = Deno.args.includes("--quick");
const chosen = RUNTIMES.filter(({ name }) => Deno.args.includes(name));
const runtimes = chosen.length ? chosen : RUNTIMES;
const isFolder = (arg: string) => arg !== "--quick" && !RUNTIMES.some(({ name }) => name === arg);
const checkouts = Deno.args.filter(isFolder).map((path) => resolve(path));
const names = [
  ...Object.keys(clients).slice(0, isQuick ? 3 : undefined),
  ...checkouts.map((path) => basename(path)),
];
const folder = join(cache, "bench");

/** Installs the peers and bundles the project's TypeScript for every runtime. */
async function prepare(): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  await npm(["install", ...PEERS], folder);
  await build({
    entryPoints: {
      "scam-address": join(root, "mod.ts"),
      measure: join(root, "scripts/bench/measure.ts"),
      ...Object.fromEntries(checkouts.map((path) => [basename(path), join(path, "mod.ts")])),
    },
    outdir: folder,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
  });
}

/** What a client adds to a web page, minified and gzipped. */
async function size({ module, exports }: Client): Promise<string> {
  if (!module) return "0.0 kB";
  const { outputFiles: [bundle] } = await build({
    stdin: { contents: `export { ${exports} } from "${module}"`, resolveDir: folder },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
  });
  return `${(gzipSync(bundle!.contents, { level: 9 }).length / 1_000).toFixed(1)} kB`;
}

const row = (...cells: string[]) => console.log(`| ${cells.join(" | ")} |`);

await prepare();
await using server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  async (request) => {
    await request.text();
    const body = BODIES[new URL(request.url).pathname.split("/")[1]!]!();
    return new Response(body, { headers });
  },
);
console.log(
  "Microseconds of CPU time per call, and the ratio to openapi-fetch's in the same run:\n",
);
row("runtime", "watched by", "body", "at a time", ...names);
row("---", "---", "---", "--:", ...names.map(() => "--:"));
for (const { name, command, args } of runtimes) {
  const executable = await command();
  const version = (await mustRun(executable, ["--version"])).match(/\d+\.\d+\.\d+/)![0];
  for (const watcher of WATCHERS) {
    for (const body of Object.keys(BODIES)) {
      for (const load of LOADS) {
        const baseUrl = `http://127.0.0.1:${server.addr.port}/${body}/`;
        const options: Options = { baseUrl, watcher, ...load, names };
        const measure = [...args, "measure.js", JSON.stringify(options)];
        const costs = JSON.parse(await mustRun(executable, measure, { cwd: folder }));
        const cells = names.map((name) =>
          name in costs
            ? `${costs[name].toFixed(0)} (${(costs[name] / costs["openapi-fetch"]).toFixed(2)})`
            : ""
        );
        row(`${name} ${version}`, watcher, body, `${load.concurrency}`, ...cells);
      }
    }
  }
}
const sizes = names.map((name) => size(clients[name] ?? own(`./${name}.js`)));
row("minified, gzipped", "", "", "", ...await Promise.all(sizes));
