import { expect } from "@std/expect";
import { copyFile, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { deno, documentOf, folder, generate, responding, root } from "./support.ts";

const names = ["operations.ts", "types.ts", "validators.ts"];

async function contents(path: string): Promise<Record<string, string>> {
  const names = (await readdir(path)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), "utf8")));
  return Object.fromEntries(names.map((name, index) => [name, texts[index]!]));
}

Deno.test("generate exits with 2 on wrong usage and prints its usage with --help", async () => {
  const { code, stdout } = await generate("--help");
  expect(code).toBe(0);
  for (const option of ["--spec FILE", "--out FOLDER", "--check"]) expect(stdout).toContain(option);
  for (const args of [["--unknown"], ["--out="], ["file.yaml"]]) {
    const { code, stdout, stderr } = await generate(...args);
    expect([args, code, stdout]).toEqual([args, 2, ""]);
    expect(stderr).toContain("Usage: deno task generate");
  }
});

Deno.test("generate writes files that are formatted, linted, strict and always the same", async () => {
  await using files = await folder();
  const schema = { type: "object", properties: { "a*/b": { pattern: "/" } } };
  const spec = await files.write("spec.json", responding(schema));
  const out = join(files.path, "out", "generated");
  const written = await generate("--spec", spec, "--out", out);
  expect([written.code, written.stderr]).toEqual([0, ""]);
  expect(written.stdout).toMatch(/^Wrote types\.ts, operations\.ts, validators\.ts in .*\n$/);
  const before = await contents(out);
  expect(Object.keys(before)).toEqual(names);
  for (const text of Object.values(before)) {
    expect(text).toMatch(/^\/\/ Made by `deno task generate` from spec\.json\. Do not edit\.\n/);
  }
  expect((await generate("--spec", spec, "--out", out)).stdout).toMatch(/ is up to date\n$/);
  expect(await contents(out)).toEqual(before);

  const config = ["--quiet", "--config", join(root, "deno.json")];
  const use = await files.write(
    "use.ts",
    `import { operations } from "./out/generated/operations.ts";
import type { paths } from "./out/generated/types.ts";
type Value = paths["/value"]["get"]["responses"][200]["content"]["application/json"];
const value: Value = {};
console.log(operations["GET /value"]?.responses?.["200"]?.(value));`,
  );
  for (const args of [["fmt", "--check", ...config, out], ["lint", ...config, out]]) {
    expect([args, await deno(args, root)]).toEqual([args, { code: 0, stdout: "", stderr: "" }]);
  }
  const map = `--import-map=${join(root, "import_map.npm.json")}`;
  expect(await deno(["run", "--check", map, ...config, use], files.path)).toEqual(
    { code: 0, stdout: "undefined\n", stderr: "" },
  );
});

Deno.test("generate --check writes nothing, and says what to run when files are stale", async () => {
  await using files = await folder();
  const spec = await files.write("spec.json", responding({ type: "string" }));
  const out = join(files.path, "out");
  const args = ["--spec", spec, "--out", out];
  const run = `run \`deno task generate --spec ${spec} --out ${out}\`\n`;
  const missing = await generate(...args, "--check");
  expect([missing.code, missing.stdout]).toEqual([1, ""]);
  expect(missing.stderr).toContain(run);
  expect(await readdir(files.path)).toEqual(["spec.json"]);

  await generate(...args);
  const before = await contents(out);
  expect((await generate(...args, "--check")).code).toBe(0);
  await files.write("spec.json", responding({ type: "integer" }));
  const stale = await generate(...args, "--check");
  expect(stale.code).toBe(1);
  expect(stale.stderr).toContain(`is stale (types.ts, validators.ts); ${run}`);
  expect(await contents(out)).toEqual(before);
});

Deno.test("generate changes no file and prints no stack trace when it refuses the document", async () => {
  await using files = await folder();
  const spec = await files.write("spec.json", documentOf({}, { security: [] }));
  const args = ["--spec", spec, "--out", join(files.path, "out")];
  expect((await generate(...args)).code).toBe(0);
  const before = await contents(join(files.path, "out"));
  const broken = ["openapi: 3.0.3", "openapi: 3.1.0\nx-a: &a { b: *a }", "- 1", "text", ""];
  for (const text of broken) {
    await files.write("spec.json", text);
    const { code, stdout, stderr } = await generate(...args);
    expect([text, code, stdout]).toEqual([text, 1, ""]);
    expect(stderr).toContain("spec.json");
    expect(stderr).not.toMatch(/\n +at /);
    expect(await contents(join(files.path, "out"))).toEqual(before);
  }
});

Deno.test("a merge that lost a validator does not compile", async () => {
  await using files = await folder();
  const get = (responding({ type: "string" }) as { paths: { "/value": unknown } }).paths["/value"];
  const other = JSON.parse(JSON.stringify(get).replace('"value"', '"other"'));
  for (const paths of [{ "/value": get }, { "/value": get, "/other": other }]) {
    const count = Object.keys(paths).length;
    const spec = await files.write("spec.json", documentOf(paths, { security: [] }));
    const { code } = await generate("--spec", spec, "--out", join(files.path, `${count}`));
    expect(code).toBe(0);
  }
  const check = ["check", "--quiet", join(files.path, "2", "operations.ts")];
  expect(await deno(check, root)).toMatchObject({ code: 0 });
  await copyFile(join(files.path, "1", "validators.ts"), join(files.path, "2", "validators.ts"));
  const { code, stderr } = await deno(check, root);
  expect([code, stderr]).toEqual([1, expect.stringContaining("'GET /other 200' does not exist")]);
});
