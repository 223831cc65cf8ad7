/**
 * Measures the package against its peers: the time per call, on Node, Deno and Bun, and the size.
 *
 *     deno task bench [--quick] [RUNTIME…]
 *
 * With `--quick` the only peers are `fetch`, the floor and openapi-fetch. The peers are installed
 * from npm, once, into the user's cache. Nothing fails for being slow.
 */

import { build } from "esbuild";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import denoJson from "../deno.json" with { type: "json" };
import { type Client, clients } from "./bench/clients.ts";
import { root } from "./support/files.ts";
import { cache, installBun, npm } from "./support/npm.ts";
import { mustRun } from "./support/process.ts";

const PEERS = { "@hey-api/openapi-ts": "0.99.0", ky: "2.1.0", ofetch: "1.5.1", openai: "7.57.0" };
const { "openapi-fetch": openapiFetch, typescript } = denoJson.imports;
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
const contenders = quick ? clients.slice(0, 4) : clients;
const folder = join(cache, "bench");

/** Installs the peers and bundles the project's TypeScript for every runtime. */
async function prepare(): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const peers = Object.entries(PEERS).map(([name, version]) => `${name}@${version}`);
  const own = [openapiFetch, typescript]; // the last is for hey-api's generator
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
console.log("Microseconds per call, their ratio to fetch, and their ratio to openapi-fetch:\n");
console.log(`| runtime | at a time | body | ${names.join(" | ")} |`);
console.log(`| --- | --: | --- |${" --: |".repeat(names.length)}`);
for (const { name, command, args } of runtimes) {
  const executable = await command();
  const version = (await mustRun(executable, ["--version"])).match(/\d+\.\d+\.\d+/)![0];
  for (const concurrency of CONCURRENCIES) {
    for (const body of Object.keys(BODIES)) {
      const url = `http://127.0.0.1:${server.addr.port}/${body}/`;
      const measure = [...args, "measure.js", url, `${concurrency}`, ...names];
      const times = JSON.parse(await mustRun(executable, measure, { cwd: folder }));
      const cells = names.map((name) =>
        [
          times[name].toFixed(0),
          ...["fetch", "openapi-fetch"].map((base) => (times[name] / times[base]).toFixed(2)),
        ].join(" / ")
      );
      console.log(`| ${name} ${version} | ${concurrency} | ${body} | ${cells.join(" | ")} |`);
    }
  }
}
const sizes = await Promise.all(contenders.map(size));
console.log(`| minified, gzipped | | | ${sizes.join(" | ")} |`);
