// No test and no check is lost: what the tasks name, and what CI runs. `check` runs this too.
import { expect } from "@std/expect";
import { join } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { listFiles, root } from "../../scripts/support/files.ts";

const { tasks } = config;

/** The test files that an argument of `deno test` stands for. */
function filesOf(argument: string, files: string[]): string[] {
  if (!/^tests\//.test(argument)) return [];
  const pattern = argument.replaceAll(".", "\\.").replace("*", "[^/]*").replace(/\/$/, "/.*");
  return files.filter((file) => RegExp(`^${pattern}$`).test(file));
}

Deno.test("each test file is in one suite", async () => {
  const isTest = /(^|[/._])test\.[cm]?[jt]sx?$/; // Deno's own rule
  const folders = ["src", "scripts", "tests"].map(async (folder) =>
    (await listFiles(join(root, folder))).map((file) => `${folder}/${file}`)
  );
  const files = (await Promise.all(folders)).flat().filter((file) => isTest.test(file));
  const suites = [tasks.test, tasks["test:slow"], tasks["test:runner"]];
  const named = suites.flatMap(({ command }) =>
    command.split(" ").flatMap((argument) => filesOf(argument, files))
  );
  expect(named.sort()).toEqual(files.sort());
});

Deno.test("the examples in the documentation are in the fast suite", () => {
  const needed = ["--doc", "mod.ts", "src/", "README.md", "RECIPES.md", "SECURITY.md"];
  const given = tasks.test.command.split(" ");
  expect(needed.filter((argument) => !given.includes(argument))).toEqual([]);
});

Deno.test("`check` has all its parts", () => {
  const parts = ["versions", "suites", "format", "lint", "types", "spec", "docs", "publish"];
  expect(tasks.check.dependencies).toEqual(parts.map((part) => `check:${part}`));
});

const suites = ["check", "test:runner", "test", "test:slow", "test:overlay"];
const ofPackage = ["build:npm", "test:npm", "test:runtimes"];
const all = [...suites, "bench --quick node", ...ofPackage];

/** The tasks that scripts run, in their order. */
const runs: Record<string, string[]> = {
  ".ci/run": all,
  ".github/workflows/ci.yml": [...all, "check", "test"],
  ".github/workflows/newest.yml": all,
  ".github/workflows/publish.yml": ["build:npm", ...suites, ...ofPackage.slice(1)],
};
for (const [file, expected] of Object.entries(runs)) {
  Deno.test(`${file} runs all checks and suites`, async () => {
    const text = await Deno.readTextFile(join(root, file));
    const lines = text.matchAll(/^ *(?:step|- run: deno) task (.*?)(?: npm\/\*\.tgz| #.*)?$/gm);
    expect([...lines].map(([, task]) => task)).toEqual(expected);
  });
}
