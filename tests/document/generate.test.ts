import { expect } from "@std/expect";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { copyProject, type Folder, root } from "../../scripts/support/files.ts";
import { deno, type Outcome, run } from "../../scripts/support/process.ts";
import { documentOf, responding } from "../generate/support.ts";

/** Runs the generator in a project. */
const generate = (cwd: string, ...args: string[]): Promise<Outcome> =>
  run(deno, ["task", "--quiet", "generate", ...args], { cwd });

/** Copies what the generator needs, with a document. */
async function copyWith(document: unknown): Promise<Folder> {
  const config = ["deno.json", "deno.lock", "import_map.npm.json"];
  const project = await copyProject([...config, "openapi", "scripts", "src"]);
  await project.write("openapi/openapi.yaml", document);
  return project;
}

/** The generated files, by name. */
async function generated({ path }: Folder): Promise<Record<string, string>> {
  const folder = join(path, "src/generated");
  const names = (await readdir(folder)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return Object.fromEntries(names.map((name, index) => [name, texts[index]!]));
}

Deno.test("generate refuses other arguments, and prints how it is used", async () => {
  for (const args of [["--unknown"], ["file.yaml"], ["--check", "--check"]]) {
    const stderr = "Usage: deno task generate [--check]\n";
    expect(await generate(root, ...args)).toMatchObject({ code: 1, stdout: "", stderr });
  }
});

Deno.test("generate prints what it wrote, and --check what to run", async () => {
  await using project = await copyWith(responding({ type: "integer", format: "int64" }));
  const before = await generated(project);
  const names = "types.ts, operations.ts, validators.ts";
  expect(await generate(project.path, "--check")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      `^src/generated is stale \\(${names}\\); run \`deno task generate\`\n$`,
    ),
  });
  expect(await generated(project)).toEqual(before);

  for (const stdout of [`Wrote ${names} in src/generated\n`, "src/generated is up to date\n"]) {
    expect(await generate(project.path)).toMatchObject({ code: 0, stdout, stderr: "" });
  }
  expect(await generate(project.path, "--check")).toMatchObject({ code: 0 });
  expect(Object.keys(await generated(project))).toEqual(Object.keys(before));
});

Deno.test("generate changes no file and prints no stack trace when it fails", async () => {
  await using project = await copyWith(documentOf({}, { security: [] }));
  const before = await generated(project);
  const fails = async ({ code, stdout, stderr }: Outcome, message: string) => {
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining(message)]);
    expect(stderr).not.toMatch(/\n +at /);
    expect(await generated(project)).toEqual(before);
  };
  const refused: [document: unknown, message: string][] = [
    ["openapi: 3.0.3", 'openapi.yaml:1:1 `openapi: "3.0.3"`: Write OpenAPI 3.1'],
    ["", "openapi.yaml:1:1 "],
  ];
  for (const [document, message] of refused) {
    await project.write("openapi/openapi.yaml", document);
    await fails(await generate(project.path), message);
  }
  await Deno.remove(join(project.path, "openapi/openapi.yaml"));
  await fails(await generate(project.path), 'Cannot generate from "openapi/openapi.yaml": ENOENT');

  // No file of more than 50 blocks can be written: the types have fewer, the validators have more.
  const long = responding({ type: "string", pattern: "a".repeat(60_000) });
  await project.write("openapi/openapi.yaml", long);
  const script = "run --quiet -A --import-map=import_map.npm.json scripts/generate.ts";
  const limited = `trap "" XFSZ; ulimit -f 50; exec "$0" ${script}`;
  await fails(await run("sh", ["-c", limited, deno], { cwd: project.path }), "EFBIG");
});
