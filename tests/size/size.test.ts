// What an application's bundle grows by: `deno bundle` drops what the entry does not use.
import { expect } from "@std/expect";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { makeFolder, root } from "../../scripts/support/files.ts";
import { deno, mustRun } from "../../scripts/support/process.ts";
import { apiKeyHeader } from "../support/internals.ts";

/**
 * The most that `createClient` may have, in bytes, minified and gzipped, with openapi-fetch, but
 * without the generated code, which grows with the document.
 */
const LIMIT = 9_000;
/** The same of an error alone. */
const ERROR_LIMIT = 550;

/** Bundles an export of the package, minified. */
async function bundle(name: string, ...others: string[]): Promise<{ code: string; size: number }> {
  await using folder = await makeFolder();
  const mod = pathToFileURL(`${root}/mod.ts`);
  const entry = await folder.write("entry.ts", `export { ${name} } from "${mod}";`);
  const flags = ["--quiet", "--minify", "--platform=browser", "--import-map=import_map.npm.json"];
  const code = await mustRun(deno, ["bundle", ...flags, ...others, entry], { cwd: root });
  return { code, size: gzipSync(code, { level: 9 }).length };
}

Deno.test(`createClient() has at most ${LIMIT} bytes, and nothing of the sandbox or the command`, async () => {
  const { code, size } = await bundle("createClient", "--external=*/generated/operations.ts");
  expect(size, "Make src/ smaller, or raise LIMIT in the commit that needs it")
    .toBeLessThanOrEqual(LIMIT);
  expect(code).not.toContain(apiKeyHeader);
  expect(code).not.toMatch(/sandbox|SCAM_ADDRESS_API_KEY/i);
});

Deno.test("an error alone brings neither the client nor the generated code along", async () => {
  const { code, size } = await bundle("HttpError");
  expect(size, "Bundlers keep what may have effects: write /* @__PURE__ */ before a call there")
    .toBeLessThanOrEqual(ERROR_LIMIT);
  expect(code).not.toContain(apiKeyHeader);
  expect(code).not.toContain("fetch");
});
