// What browsers and workers can load.
import denoJson from "../../deno.json" with { type: "json" };
import { root } from "../../scripts/support/files.ts";
import { deno, mustRun } from "../../scripts/support/process.ts";
import { testList } from "../support/lists.ts";

/** The modules of Node's own that an entry point leads to. */
async function nodeModules(entryPoint: string): Promise<string[]> {
  const args = ["info", "--json", "--import-map=import_map.npm.json", entryPoint];
  const { modules } = JSON.parse(await mustRun(deno, args, { cwd: root }));
  const specifiers = modules.map(({ specifier }: { specifier: string }) => specifier);
  return specifiers.filter((specifier: string) => specifier.startsWith("node:"));
}

const { ".": main, "./sandbox": sandbox, ...others } = denoJson.exports;
for (const entryPoint of [main, sandbox]) {
  const rule = `${entryPoint} leads to no module of Node.js: browsers and workers load it`;
  testList(rule, await nodeModules(entryPoint), []);
}
for (const entryPoint of Object.values(others)) {
  const server = (await nodeModules(entryPoint)).filter((module) => module === "node:http");
  testList(`${entryPoint} is found to lead to node:http`, server, ["node:http"]);
}
