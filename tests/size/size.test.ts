// What an application's bundle grows by: `deno bundle` drops what the entry does not use.
import { expect } from "@std/expect";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = new URL("../../", import.meta.url);

/** Bundles for browsers, minified. */
async function bundle(code: string): Promise<Uint8Array> {
  const entry = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(entry, code.replaceAll("./", root.href));
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "bundle",
        "--quiet",
        "--minify",
        "--platform=browser",
        `--config=${fileURLToPath(new URL("deno.json", root))}`,
        `--import-map=${fileURLToPath(new URL("import_map.npm.json", root))}`,
        entry,
      ],
      cwd: root,
      stderr: "inherit",
    }).output();
    expect(success).toBe(true);
    return stdout;
  } finally {
    await Deno.remove(entry);
  }
}

Deno.test("createClient() adds at most 11,050 bytes, gzipped, and what is generated", async () => {
  const code = await bundle('export { createClient } from "./mod.ts";');
  const generated = await bundle('export * from "./src/generated/operations.ts";');
  const [all = 0, part = 0] = [code, generated].map((each) => gzipSync(each, { level: 9 }).length);
  expect(all - part).toBeLessThanOrEqual(11_050);
  expect(new TextDecoder().decode(code)).not.toMatch(/sandbox|SCAM_ADDRESS_API_KEY/i);
});

Deno.test("the errors alone bring neither the client nor the generated code along", async () => {
  const code = await bundle('export { HttpError } from "./mod.ts";');
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(600);
  expect(new TextDecoder().decode(code)).not.toMatch(/checkKey|fetch/);
});
