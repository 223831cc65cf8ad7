/**
 * Measures the package against its peers: time per call, size in a browser, time to import.
 *
 *     deno task bench [memory | features [FOLDER|TARBALL]]
 *
 * With `memory` it makes a million calls of the package instead and prints the memory in use. With
 * `features` it prints the README's table, each cell of which is seen or read; rows on the npm
 * package need the one that `deno task build:npm` makes. The peers are installed from npm, once, into
 * the user's cache. Nothing here fails for being slow.
 */

import { join } from "node:path";
import { build } from "esbuild";
import { clients, peers } from "./bench/clients.ts";
import { median } from "./bench/median.ts";
import { installClient, readPackages, readTypes, size } from "./bench/packages.ts";
import { mustRun, npm } from "./npm/command.ts";
import { cache, root, takePackage } from "./npm/package.ts";

const PEERS = {
  "@hey-api/openapi-ts": "0.99.0",
  axios: "1.21.1",
  ky: "2.1.0",
  ofetch: "1.5.1",
  openai: "7.55.0",
  "openapi-fetch": "0.17.0",
  typescript: "5.9.3", // which the generator of hey-api needs
};
const ROUNDS = 21;
const IMPORTS = 11;

const folder = join(cache, "bench");

const runtimes = [
  { name: "Node.js", command: "node", args: ["--expose-gc"] },
  { name: "Deno", command: Deno.execPath(), args: ["run", "-A", "--v8-flags=--expose-gc"] },
];
type Runtime = typeof runtimes[number];

/** Runs a command in the folder, and gives what it printed. */
function run(command: string, args: string[]): Promise<string> {
  return mustRun(command, args, { cwd: folder });
}

/** Installs the peers that are not installed yet. */
async function install(): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const manifest = JSON.stringify({ private: true, type: "module", dependencies: PEERS });
  await Deno.writeTextFile(join(folder, "package.json"), manifest);
  await npm(["install"], folder);
}

/** Makes the JavaScript that every runtime takes from the project's TypeScript. */
async function compile(): Promise<void> {
  const generator = join(folder, "node_modules/.bin/openapi-ts");
  await run(generator, ["-i", join(root, "openapi/openapi.yaml"), "-o", "hey-api", "--silent"]);
  await Deno.writeTextFile(
    join(folder, "hey-api.ts"),
    `export { checkKey } from "./hey-api/sdk.gen.ts";
     export { client } from "./hey-api/client.gen.ts";
     export { createClient, createConfig, formDataBodySerializer } from "./hey-api/client/index.ts";`,
  );
  await build({
    entryPoints: {
      "scam-address": join(root, "mod.ts"),
      "hey-api": join(folder, "hey-api.ts"),
      features: join(root, "scripts/bench/features.ts"),
      measure: join(root, "scripts/bench/measure.ts"),
      memory: join(root, "scripts/bench/memory.ts"),
    },
    outdir: folder,
    bundle: true,
    format: "esm",
    platform: "node",
    supported: { using: false }, // which Node.js 20 does not know
    packages: "external",
  });
}

/** Measures the clients' calls; gives the median time and ratio of each. */
async function measureCalls(
  { command, args }: Runtime,
  concurrency: number,
): Promise<{ time: number; ratio: number }[]> {
  const answer = JSON.stringify({ apiKeyValid: true, data: { credits: 100 } });
  const headers = { "content-type": "application/json" };
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      await request.text();
      return new Response(answer, { headers });
    },
  );
  const baseUrl = `http://127.0.0.1:${server.addr.port}/`;
  const output = await run(command, [
    ...args,
    "measure.js",
    baseUrl,
    `${concurrency}`,
    `${ROUNDS}`,
  ]);
  return JSON.parse(output);
}

/** Measures the time to import each client, in milliseconds, in processes that are new each time. */
async function measureImports({ command, args }: Runtime): Promise<number[]> {
  const file = join(folder, "import.js");
  await Deno.writeTextFile(
    file,
    `Object.values({ fetch, Headers, Request, Response }); // Node loads them when they are named
     const [, , module] = process.argv;
     const start = performance.now();
     if (module) await import(module);
     console.log(performance.now() - start);`,
  );
  const times: number[][] = clients.map(() => []);
  for (let round = 0; round < IMPORTS; round++) {
    for (const [index, { module }] of clients.entries()) {
      times[index]!.push(Number(await run(command, [...args, file, module ?? ""])));
    }
  }
  return times.map((each) => Number(median(each).toFixed(1)));
}

/** Compares the clients by what they do; gives the rows of a table. */
async function compare(): Promise<string[][]> {
  const work = await Deno.makeTempDir({ prefix: "scam-address-bench-" });
  try {
    const own = await takePackage(Deno.args[1], work);
    const installations = [];
    for (const peer of peers) {
      installations.push(await installClient(peer, { own, versions: PEERS, folder, work }));
    }

    const seen: Record<string, string[]>[] = [];
    for (const { command, args } of runtimes) {
      seen.push(JSON.parse(await run(command, [...args, "features.js"])));
    }
    const [onNode = {}, onDeno = {}] = seen;
    const tsc = join(folder, "node_modules/typescript/bin/tsc");
    const typed = await Promise.all(installations.map((each) => readTypes(each, tsc)));
    const sizes = await Promise.all(peers.map((peer) => size(peer, folder)));
    return [
      ["", ...peers.map(({ name }) => name)],
      ["typed from an OpenAPI document", ...typed],
      ...Object.entries(onNode).map(([title, cells]) => [
        title,
        ...cells.map((cell, index) => {
          const other = onDeno[title]?.[index];
          return cell === other ? cell : `${cell}; on Deno: ${other}`;
        }),
      ]),
      ...await readPackages(installations),
      ["minified and gzipped", ...sizes.map((bytes) => `${(bytes / 1_000).toFixed(1)} kB`)],
    ];
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** Writes rows, the first of them the head, as Markdown. */
function table(title: string, [head = [], ...body]: string[][], align = "--:"): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, index) => index ? align : "---");
  return `\n${title}\n\n${[head, rule, ...body].map(line).join("\n")}`;
}

await install();
await compile();

if (Deno.args[0] === "memory") {
  for (const { name, command, args } of runtimes) {
    console.log(`\nMemory on ${name}\n\n${await run(command, [...args, "memory.js"])}`);
  }
  Deno.exit();
}

if (Deno.args[0] === "features") {
  const versions = Object.entries(PEERS).map(([name, version]) => `${name} ${version}`);
  console.log(table(`Seen with ${versions.join(", ")}`, await compare(), "---"));
  Deno.exit();
}

const names = clients.map(({ name }) => name);
for (const runtime of runtimes) {
  const [version] = (await run(runtime.command, ["--version"])).match(/\d+\.\d+\.\d+/)!;
  const results = [await measureCalls(runtime, 1), await measureCalls(runtime, 32)];
  console.log(table(`Time per call on ${runtime.name} ${version}`, [
    ["client", "1 at a time, µs", "ratio to fetch", "32 at a time, µs", "ratio to fetch"],
    ...names.map((name, index) => [
      name,
      ...results.flatMap((result) => {
        const { time, ratio } = result[index]!;
        return [time.toFixed(0), ratio.toFixed(2)];
      }),
    ]),
  ]));
}

const columns = [await Promise.all(clients.map((client) => size(client, folder)))];
for (const runtime of runtimes) columns.push(await measureImports(runtime));
console.log(table("What a client adds to a program", [
  ["client", "minified and gzipped, bytes", ...runtimes.map(({ name }) => `import on ${name}, ms`)],
  ...names.map((name, index) => [name, ...columns.map((column) => `${column[index]}`)]),
]));
