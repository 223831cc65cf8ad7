// The example of CONTRIBUTING.md, "Add an operation", followed in a copy of the project.
import { expect } from "@std/expect";
import { join } from "node:path";
import { copyProject, root } from "../../scripts/support/files.ts";
import { deno, mustRun } from "../../scripts/support/process.ts";

/** The code blocks in a language, without the list's indentation, and with names of their own. */
async function examples(language: string): Promise<string[]> {
  const text = await Deno.readTextFile(join(root, "CONTRIBUTING.md"));
  const blocks = text.matchAll(/^ {3}```(\w+).*\n([^]*?)^ {3}```$/gm);
  return [...blocks].filter(([, name]) => name === language).map(([, , code = ""]) =>
    code.replaceAll(/^ {3}/gm, "").replaceAll("Report", "ExampleReport")
      .replaceAll("/reports", "/example-reports")
  );
}

Deno.test("the operations of CONTRIBUTING.md's example are generated, and its test passes", async () => {
  await using project = await copyProject();
  const options = { cwd: project.path };
  const [paths = "", schemas = ""] = await examples("yaml");
  const [test = ""] = await examples("ts");
  const indent = (text: string, by: string) => text.trimEnd().replaceAll(/^(?=.)/gm, by);
  const yaml = await Deno.readTextFile(join(project.path, "openapi/openapi.yaml"));
  await project.write(
    "openapi/openapi.yaml",
    yaml.replace(/^paths:$/m, (line) => `${line}\n${indent(paths, "  ")}`)
      .replace(/^ {2}schemas:$/m, (line) => `${line}\n${indent(schemas, "    ")}`),
  );
  expect(await mustRun(deno, ["task", "--quiet", "lint:spec"], options)).toMatch(/^0 problems/);
  expect(await mustRun(deno, ["task", "--quiet", "generate"], options)).toBe(
    "Wrote types.ts, operations.ts, validators.ts in src/generated\n",
  );

  const contract = join(project.path, "tests/service.test.ts");
  await Deno.writeTextFile(contract, `\n${test}`, { append: true });
  const [, name = ""] = /^Deno\.test\("(.+)",/.exec(test) ?? [];
  const flags = ["-A", "--import-map=import_map.npm.json", "--filter", name];
  expect(await mustRun(deno, ["test", ...flags, contract], options)).toContain("| 1 passed |");
});
