// What an application's bundle grows by: `deno bundle` drops what the entry does not use.
import { expect } from "@std/expect";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { makeFolder, root } from "../../scripts/support/files.ts";
import { deno, mustRun } from "../../scripts/support/process.ts";
import { apiKeyHeader, operations } from "../../src/generated/operations.ts";

/** The most that `createClient` may add with `checkKey` alone, in bytes, minified and gzipped. */
const LIMIT = 11_300;

/** The most that each further operation of the OpenAPI document may add. */
const PER_OPERATION = 400;

/** Bundles exports of the package for browsers, minified. */
async function bundle(names: string): Promise<{ code: string; size: number }> {
  await using folder = await makeFolder();
  const mod = pathToFileURL(`${root}/mod.ts`);
  const entry = await folder.write("entry.ts", `export { ${names} } from "${mod}";`);
  const flags = ["--quiet", "--minify", "--platform=browser", "--import-map=import_map.npm.json"];
  const code = await mustRun(deno, ["bundle", ...flags, entry], { cwd: root });
  return { code, size: gzipSync(code, { level: 9 }).length };
}

const limit = LIMIT + PER_OPERATION * (Object.keys(operations).length - 1);

Deno.test(`createClient() adds at most ${limit} bytes, gzipped`, async () => {
  const { code, size } = await bundle("createClient");

  expect(size).toBeLessThanOrEqual(limit);
  expect(await Deno.readTextFile(`${root}/README.md`)).toContain(`are ${LIMIT / 1_000} kB`);
  for (const part of [apiKeyHeader, ...Object.keys(operations)]) expect(code).toContain(part);
  expect(code).not.toMatch(/sandbox|SCAM_ADDRESS_API_KEY/i);
});

Deno.test("the errors alone bring neither the client nor the generated code along", async () => {
  const { code, size } = await bundle("HttpError");
  expect(size).toBeLessThanOrEqual(700);
  expect(code).not.toContain(apiKeyHeader);
  expect(code).not.toContain("fetch");
});
