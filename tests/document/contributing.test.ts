// The example of CONTRIBUTING.md of a change to the OpenAPI document, step by step as it is printed.
import { expect } from "@std/expect";
import { copyProject, read } from "../../scripts/support/files.ts";
import { deno, mustRun } from "../../scripts/support/process.ts";

const text = (await read("CONTRIBUTING.md")).replaceAll(/^ {3}/gm, "");

/** The example that begins with a text, with spaces before each line. */
function example(start: string, indent = ""): string {
  const blocks = [...text.matchAll(/^```\w+.*\n([^]*?)^```$/gm)].map(([, code]) => code!);
  const found = blocks.find((code) => code.startsWith(start));
  if (found === undefined) {
    throw new Error(`CONTRIBUTING has no example that begins with "${start}"`);
  }
  return found.replaceAll(/^(?=.)/gm, indent);
}

Deno.test("the five steps of CONTRIBUTING add an operation, with its method in use", async () => {
  const config = ["deno.json", "deno.lock", "import_map.npm.json"];
  const folders = ["openapi", "scripts", "src", "tests"];
  await using project = await copyProject([...config, "mod.ts", ...folders]);
  const edit = async (file: string, line: string, added: string) => {
    const before = await Deno.readTextFile(`${project.path}/${file}`);
    const after = before.replace(line, () => `${line}${added}`);
    expect([line, after === before]).toEqual([line, false]);
    await project.write(file, after);
  };
  await edit("openapi/openapi.yaml", "\npaths:\n", example("/example-reports", "  "));
  await edit("openapi/openapi.yaml", "\n  schemas:\n", example("ExampleReport:", "    "));
  const handler = example("getExampleReport:", "  ");
  await edit("src/sandbox/service.ts", "\n  checkKey,\n", handler);
  const used = `Deno.test("the sandbox has a handler", async () => {
    const { createSandbox, DEMO_KEY } = await import("../src/sandbox/service.ts");
    const { fetch } = createSandbox();
    const client = createClient({ baseUrl: "https://service.example/", apiKey: DEMO_KEY, fetch });
    const { data, response } = await client.getExampleReport({ params: { path: { id: 7 } } });
    expect([response.status, data]).toEqual([200, { id: 7 }]);
    // @ts-expect-error: "state" is a text.
    data.state satisfies number | undefined;
  });`;
  const test = "tests/service_documentation.test.ts";
  const before = await Deno.readTextFile(`${project.path}/${test}`);
  await project.write(test, `${before}\n${example("Deno.test(")}\n${used}`);
  const options = { cwd: project.path };
  await mustRun(deno, ["task", "--quiet", "generate"], options);
  const flags = ["--quiet", "-A", "--import-map=import_map.npm.json"];
  expect(await mustRun(deno, ["test", ...flags, test], options)).toMatch(/ \| 0 failed/);
});
