// What an application's bundle grows by: `deno bundle` drops what the entry does not use.
import { expect } from "@std/expect";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import npmMap from "../../import_map.npm.json" with { type: "json" };
import { makeFolder, root } from "../../scripts/support/files.ts";
import { deno, mustRun } from "../../scripts/support/process.ts";

/** The most that `createClient` may add, in bytes, minified and gzipped. */
const LIMIT = 10_850;

const project = pathToFileURL(`${root}/`).href;

/** Stands in for what is generated, so that the size does not depend on the OpenAPI document. */
const noOperations = 'export const apiKeyHeader = "X-API-Key"; export const operations = {};';

/** Bundles exports of the package for browsers, minified, without generated code. */
async function bundle(names: string): Promise<{ code: string; size: number }> {
  await using folder = await makeFolder();
  const entry = await folder.write("entry.ts", `export { ${names} } from "${project}mod.ts";`);
  const standIn = pathToFileURL(await folder.write("operations.ts", noOperations)).href;
  const imports = { ...npmMap.imports, [`${project}src/generated/operations.ts`]: standIn };
  const map = await folder.write("import_map.json", { imports });
  const flags = ["--quiet", "--minify", "--platform=browser", `--import-map=${map}`];
  const code = await mustRun(deno, ["bundle", ...flags, entry], { cwd: root });
  return { code, size: gzipSync(code, { level: 9 }).length };
}

Deno.test(`createClient() adds at most ${LIMIT} bytes, gzipped, and what is generated`, async () => {
  const { code, size } = await bundle("createClient");

  expect(size).toBeLessThanOrEqual(LIMIT);
  expect(code).toContain("X-API-Key");
  expect(code).not.toMatch(/sandbox|SCAM_ADDRESS_API_KEY/i);
});

Deno.test("the errors alone bring neither the client nor the generated code along", async () => {
  const { code, size } = await bundle("HttpError");
  expect(size).toBeLessThanOrEqual(600);
  expect(code).not.toMatch(/X-API-Key|fetch/);
});
