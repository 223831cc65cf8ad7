import { expect } from "@std/expect";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deno, documentOf, type Finished, folder, generate } from "../generate/support.ts";
import { responding, root, run, script } from "../generate/support.ts";

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
  for (const args of [["--unknown"], ["--out="], ["--spec="]]) {
    const { code, stdout, stderr } = await generate(...args);
    expect([args, code, stdout]).toEqual([args, 2, ""]);
    expect(stderr).toContain("Usage: deno task generate");
  }
});

Deno.test("generate writes files that are formatted, documented, strict and always the same", async () => {
  await using files = await folder();
  const number = { type: "integer", format: "int64", readOnly: true };
  const secret = { type: "string", writeOnly: true };
  const properties = { "a*/b": { pattern: "/" }, number, secret };
  const spec = await files.write("spec.json", responding({ type: "object", properties }));
  const out = join(files.path, "out", "generated");
  const written = await generate("--spec", spec, "--out", out);
  expect(written).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Wrote types\.ts, operations\.ts, validators\.ts in .*\n$/),
    stderr: expect.stringMatching(/^Note: \S+spec\.json:\d+:\d+ note: Numbers beyond 2\^53 .*\n$/),
  });
  const before = await contents(out);
  expect(Object.keys(before)).toEqual(names);
  for (const text of Object.values(before)) {
    expect(text).toMatch(/^\/\/ Made by `deno task generate` from spec\.json\. Do not edit\.\n/);
  }
  expect((await generate("--spec", spec, "--out", out)).stdout).toMatch(/ is up to date\n$/);
  expect(await contents(out)).toEqual(before);

  const types = `export type { components, operations, paths } from "./out/generated/types.ts";\n`;
  const mod = await files.write("mod.ts", `/** All types. @module */\n${types}`);
  const use = await files.write(
    "use.ts",
    `import { operations } from "./out/generated/operations.ts";
import type { paths } from "./mod.ts";
type Value = paths["/value"]["get"]["responses"][200]["content"]["application/json"];
const value: Value = {};
console.log(operations["GET /value"]?.responses["200"]?.(value));`,
  );
  const config = ["--quiet", "--config", join(root, "deno.json")];
  const map = `--import-map=${join(root, "import_map.npm.json")}`;
  const commands = [["fmt", "--check", ...config, out], ["lint", ...config, out]];
  for (const args of [...commands, ["check", map, ...config, use]]) {
    expect([args, await deno(args, root)]).toEqual([args, { code: 0, stdout: "", stderr: "" }]);
  }
  expect(await deno(["doc", "--lint", "--quiet", mod], root)).toMatchObject({ code: 0 });
  expect(await deno(["run", "--no-check", map, ...config, use], files.path)).toEqual(
    { code: 0, stdout: "undefined\n", stderr: "" },
  );
});

Deno.test("generate --check writes nothing, and says what to run when files are stale", async () => {
  await using files = await folder();
  const spec = await files.write("spec.json", responding({ type: "string" }));
  const out = join(files.path, "out");
  const args = ["--spec", spec, "--out", out];
  const advice = `run \`deno task generate --spec ${spec} --out ${out}\`\n`;
  const missing = await generate(...args, "--check");
  expect([missing.code, missing.stdout]).toEqual([1, ""]);
  expect(missing.stderr).toContain(advice);
  expect(await readdir(files.path)).toEqual(["spec.json"]);

  await generate(...args);
  const before = await contents(out);
  expect((await generate(...args, "--check")).code).toBe(0);
  await files.write("spec.json", responding({ type: "integer" }));
  const stale = await generate(...args, "--check");
  expect(stale.code).toBe(1);
  expect(stale.stderr).toContain(`is stale (types.ts, validators.ts); ${advice}`);
  expect(await contents(out)).toEqual(before);
});

Deno.test("generate changes no file and prints no stack trace when it fails", async () => {
  await using files = await folder();
  const spec = await files.write("spec.json", documentOf({}, { security: [] }));
  const out = join(files.path, "out");
  const args = ["--spec", spec, "--out", out];
  expect((await generate(...args)).code).toBe(0);
  const before = await contents(out);
  const fails = async ({ code, stdout, stderr }: Finished, message: string) => {
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining(message)]);
    expect(stderr).not.toMatch(/\n +at /);
    expect(await contents(out)).toEqual(before);
  };
  for (const text of ["openapi: 3.0.3", "openapi: 3.1.0\nx-a: &a { b: *a }", "- 1", ""]) {
    await writeFile(spec, text);
    await fails(await generate(...args), "spec.json");
  }
  await fails(await generate("--out", out, "--spec", join(files.path, "none")), "none:1:1 unread");

  // No file of more than 50 blocks can be written: the types have fewer, the validators have more.
  await files.write("spec.json", responding({ type: "string", pattern: "a".repeat(60_000) }));
  const limited = `trap "" XFSZ; ulimit -f 50; exec "$0" "$@"`;
  const command = [Deno.execPath(), ...script, "scripts/generate.ts", ...args];
  await fails(await run("sh", ["-c", limited, ...command], root), "EFBIG");
});

Deno.test("lint_spec exits with 1 and prints each problem when the document has any", async () => {
  await using files = await folder();
  const lint = async (document: unknown) =>
    deno([...script, "scripts/lint_spec.ts", await files.write("spec.json", document)], root);
  const schemas = { OfWebhook: { type: "string" } };
  const right = documentOf({}, { security: [], components: { schemas } });
  expect(await lint(right)).toMatchObject({ code: 0, stderr: "" });
  const broken = documentOf({}, { servers: [], "x-a": { $ref: "a" } });
  const { code, stdout, stderr } = await lint(broken);
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^1 problems in \S+spec\.json\n$/)]);
  expect(stderr).toMatch(/^\S+spec\.json:\d+:\d+ reference: .*\n$/);
  // Redocly's own rules too, also those that it only recommends.
  expect(await lint(documentOf({}, { security: [], tags: [{ name: "a" }] }))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("tag-description: "),
  });
});
