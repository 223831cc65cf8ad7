// What browsers and workers can load.
import { expect } from "@std/expect";
import denoJson from "../../deno.json" with { type: "json" };
import { root } from "../../scripts/support/files.ts";
import { deno, mustRun } from "../../scripts/support/process.ts";

/** The modules of Node's own that an entry point leads to. */
async function nodeModules(entryPoint: string): Promise<string[]> {
  const args = ["info", "--json", "--import-map=import_map.npm.json", entryPoint];
  const { modules } = JSON.parse(await mustRun(deno, args, { cwd: root }));
  const specifiers = modules.map(({ specifier }: { specifier: string }) => specifier);
  expect(specifiers.length).toBeGreaterThan(3);
  return specifiers.filter((specifier: string) => specifier.startsWith("node:"));
}

Deno.test("only the command and the sandbox's server import modules of Node", async () => {
  const { ".": main, "./sandbox": sandbox, ...others } = denoJson.exports;
  for (const entryPoint of [main, sandbox]) {
    expect([entryPoint, await nodeModules(entryPoint)]).toEqual([entryPoint, []]);
  }
  for (const entryPoint of Object.values(others)) {
    expect(await nodeModules(entryPoint)).toContain("node:http");
  }
});
