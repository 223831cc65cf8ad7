/**
 * Measures the package against its peers: the time per call, on Node and Deno, and the size.
 *
 *     deno task bench
 *
 * The peers are installed from npm, once, into the user's cache. Nothing fails for being slow.
 */

import { build } from "esbuild";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import denoJson from "../deno.json" with { type: "json" };
import { type Client, clients } from "./bench/clients.ts";
import { root } from "./support/files.ts";
import { cache, npm } from "./support/npm.ts";
import { mustRun } from "./support/process.ts";

const PEERS = { "@hey-api/openapi-ts": "0.99.0", ky: "2.1.0", ofetch: "1.5.1", openai: "7.57.0" };
const { "openapi-fetch": openapiFetch, tinybench, typescript } = denoJson.imports;
const CONCURRENCIES = [1, 32];
const RUNTIMES = [
  { name: "Node", command: "node", args: [] },
  { name: "Deno", command: Deno.execPath(), args: ["run", "-A"] },
];

const folder = join(cache, "bench");

/** Installs the peers and bundles the project's TypeScript for every runtime. */
async function prepare(): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const peers = Object.entries(PEERS).map(([name, version]) => `${name}@${version}`);
  const own = [openapiFetch, tinybench, typescript]; // the last is for hey-api's generator
  await npm(["install", ...peers, ...own.map((target) => target.replace("npm:", ""))], folder);
  const generator = join(folder, "node_modules/.bin/openapi-ts");
  const args = ["-i", join(root, "openapi/openapi.yaml"), "-o", "hey-api", "--silent"];
  await mustRun(generator, args, { cwd: folder });
  await build({
    stdin: {
      contents: `export { checkKey } from "./hey-api/sdk.gen.ts";
                 export { client } from "./hey-api/client.gen.ts";`,
      resolveDir: folder,
    },
    outfile: join(folder, "hey-api.js"),
    bundle: true,
    format: "esm",
  });
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
}

/** Measures a call of each client on a runtime; resolves to microseconds by the clients' names. */
async function measure(
  { command, args }: typeof RUNTIMES[number],
  concurrency: number,
): Promise<Record<string, number>> {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      await request.text();
      return Response.json({ apiKeyValid: true, data: { credits: 100 } });
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}/`;
  const output = await mustRun(command, [...args, "measure.js", url, `${concurrency}`], {
    cwd: folder,
  });
  return JSON.parse(output);
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
const columns = [];
for (const runtime of RUNTIMES) {
  const version = (await mustRun(runtime.command, ["--version"])).match(/\d+\.\d+\.\d+/)![0];
  for (const concurrency of CONCURRENCIES) {
    const times = await measure(runtime, concurrency);
    const ratio = (name: string, base: string) => (times[name]! / times[base]!).toFixed(2);
    columns.push({
      title: `${runtime.name} ${version}, ${concurrency} at a time`,
      cell: (name: string) =>
        `${times[name]!.toFixed(0)} µs, ${ratio(name, "fetch")}, ${ratio(name, "floor")}`,
    });
  }
}

console.log("Time per call, its ratio to fetch, and its ratio to the floor:\n");
console.log(`| client | ${columns.map(({ title }) => title).join(" | ")} | minified, gzipped |`);
console.log(`| --- |${" --: |".repeat(columns.length + 1)}`);
for (const client of clients) {
  const cells = [...columns.map(({ cell }) => cell(client.name)), await size(client)];
  console.log(`| ${client.name} | ${cells.join(" | ")} |`);
}
