/**
 * Measures the package against its peers: the time and the CPU per call, on Node, Deno and Bun, and
 * the size.
 *
 *     deno task bench [--quick] [RUNTIME…]
 *
 * With `--quick` the only peers are `fetch` and openapi-fetch. The variable `BEFORE` may name
 * another checkout of this project, which is measured too. The peers are installed from npm, once,
 * into the user's cache. Nothing fails for being slow.
 */

import { build } from "esbuild";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import denoJson from "../deno.json" with { type: "json" };
import { type Client, clients } from "./bench/clients.ts";
import { root } from "./support/files.ts";
import { cache, installBun, npm } from "./support/npm.ts";
import { mustRun } from "./support/process.ts";

const PEERS = [
  "ky@2.1.0",
  "ofetch@1.5.1",
  "openai@7.57.0",
  denoJson.imports["openapi-fetch"].replace("npm:", ""),
];
const CONCURRENCIES = [1, 32];
const RUNTIMES = [
  { name: "Node", command: () => "node", args: [] },
  { name: "Deno", command: Deno.execPath, args: ["run", "-A"] },
  { name: "Bun", command: installBun, args: [] },
];

const json = JSON.stringify({ apiKeyValid: true, data: { credits: 100 } });
const zipped = gzipSync(json);
/** What the server sends, by the base URL's path; Deno compresses none of it by itself. */
const BODIES: Record<string, () => Response> = {
  length: () => respond(json),
  chunked: () => respond(ReadableStream.from([new TextEncoder().encode(json)])),
  gzip: () => respond(ReadableStream.from([zipped]), { "content-encoding": "gzip" }),
};

function respond(body: BodyInit, headers?: Record<string, string>): Response {
  const all = { "content-type": "application/json", "cache-control": "no-transform", ...headers };
  return new Response(body, { headers: all });
}

const quick = Deno.args.includes("--quick");
const chosen = Deno.args.filter((arg) => arg !== "--quick").map((name) => name.toLowerCase());
const runtimes = RUNTIMES.filter(({ name }) =>
  !chosen.length || chosen.includes(name.toLowerCase())
);
const before = Deno.env.get("BEFORE");
const contenders = clients.filter(({ name }, index) =>
  name === "before" ? before : index < 3 || !quick
);
const folder = join(cache, "bench");

/** Installs the peers and bundles the project's TypeScript for every runtime. */
async function prepare(): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  await npm(["install", ...PEERS], folder);
  await build({
    entryPoints: {
      "scam-address": join(root, "mod.ts"),
      measure: join(root, "scripts/bench/measure.ts"),
      ...before && { before: resolve(before, "mod.ts") },
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

await prepare();
await using server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  async (request) => {
    await request.text();
    return BODIES[new URL(request.url).pathname.split("/")[1]!]!();
  },
);
const names = contenders.map(({ name }) => name);
console.log(
  "Microseconds per call / microseconds of CPU, each with its ratio to openapi-fetch's:\n",
);
console.log(`| runtime | at a time | body | ${names.join(" | ")} |`);
console.log(`| --- | --: | --- |${" --: |".repeat(names.length)}`);
for (const { name, command, args } of runtimes) {
  const executable = await command();
  const version = (await mustRun(executable, ["--version"])).match(/\d+\.\d+\.\d+/)![0];
  for (const concurrency of CONCURRENCIES) {
    for (const body of Object.keys(BODIES)) {
      const url = `http://127.0.0.1:${server.addr.port}/${body}/`;
      const measure = [...args, "measure.js", url, `${concurrency}`, ...names];
      const costs = JSON.parse(await mustRun(executable, measure, { cwd: folder }));
      const cell = (name: string, unit: "time" | "cpu") => {
        const [own, base] = [name, "openapi-fetch"].map((name) => costs[name][unit]);
        return `${own.toFixed(0)} (${(own / base).toFixed(2)})`;
      };
      const cells = names.map((name) => `${cell(name, "time")} / ${cell(name, "cpu")}`);
      console.log(`| ${name} ${version} | ${concurrency} | ${body} | ${cells.join(" | ")} |`);
    }
  }
}
const sizes = await Promise.all(contenders.map(size));
console.log(`| minified, gzipped | | | ${sizes.join(" | ")} |`);
