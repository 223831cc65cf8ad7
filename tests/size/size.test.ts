// What an application's bundle grows by: `deno bundle` drops what the entry does not use.
import { expect } from "@std/expect";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { makeFolder, root } from "../../scripts/support/files.ts";
import { deno, mustRun } from "../../scripts/support/process.ts";
import { apiKeyHeader, operations } from "../../src/generated/operations.ts";

/** The most that `createClient` may add without the generated code, in bytes, minified and gzipped. */
const LIMIT = 12_000;

const SMALLER = "Users download src/: make it smaller, or raise LIMIT in the commit that needs it";
const SHAKEN =
  "Bundlers keep what may have effects: spread nothing in the tables of src/options.ts, and write /* @__PURE__ */ before a call at the top of a module";

/** Bundles exports of the package for browsers, minified. */
async function bundle(names: string, ...flags: string[]): Promise<{ code: string; size: number }> {
  await using folder = await makeFolder();
  const mod = pathToFileURL(`${root}/mod.ts`);
  const entry = await folder.write("entry.ts", `export { ${names} } from "${mod}";`);
  const common = ["--quiet", "--minify", "--platform=browser", "--import-map=import_map.npm.json"];
  const code = await mustRun(deno, ["bundle", ...common, ...flags, entry], { cwd: root });
  return { code, size: gzipSync(code, { level: 9 }).length };
}

Deno.test(`createClient() adds at most ${LIMIT} bytes to the generated code, gzipped`, async () => {
  const { code, size } = await bundle("createClient", "--external=*/generated/operations.ts");
  expect(size, SMALLER).toBeLessThanOrEqual(LIMIT);
  expect(code).not.toContain(apiKeyHeader);
});

Deno.test("createClient() brings the generated code along, and nothing of the sandbox", async () => {
  const { code } = await bundle("createClient");
  for (const part of [apiKeyHeader, ...Object.keys(operations)]) expect(code).toContain(part);
  expect(code).not.toMatch(/sandbox|SCAM_ADDRESS_API_KEY/i);
});

Deno.test("the errors alone bring neither the client nor the generated code along", async () => {
  const { code, size } = await bundle("HttpError");
  expect(size, SHAKEN).toBeLessThanOrEqual(750);
  expect(code).not.toContain(apiKeyHeader);
  expect(code).not.toContain("fetch");
});
