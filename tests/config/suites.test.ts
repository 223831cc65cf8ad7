// No test is lost: each file with tests is in a suite, and each suite runs all that it has.
import { expect } from "@std/expect";
import config from "../../deno.json" with { type: "json" };
import { listProject, read } from "../../scripts/support/files.ts";
import { testList } from "../support/lists.ts";

const tasks: Record<string, { command?: string; dependencies?: string[] }> = config.tasks;
const files = await listProject("src", "scripts", "tests");
const texts = new Map(
  await Promise.all(files.map(async (file) => [file, await read(file)] as const)),
);

const parallel = "--parallel --sanitize-ops --sanitize-resources";
const withNpm = "--import-map=import_map.npm.json";

/** The command of each suite: with a flag more, or a path less, tests would be lost. */
const suites: Record<string, string> = {
  test:
    `deno test -A --doc ${parallel} ${withNpm} mod.ts src/ README.md RECIPES.md SECURITY.md tests/*.test.ts tests/cli/ tests/config/ tests/docs/ tests/generate/ tests/size/`,
  "test:slow": `deno test -A ${parallel} ${withNpm} tests/document/ tests/process/ tests/publish/`,
  "test:npm": `deno test -A ${withNpm} scripts/test_npm.ts --`,
  "test:runtimes": `deno test -A ${withNpm} scripts/test_runtimes.ts --`,
  "test:overlay": `deno run --quiet -A ${withNpm} scripts/test_overlay.ts`,
};
Deno.test("The commands of suites in deno.json are those in suites.test.ts", () => {
  const names = Object.keys(suites);
  const commands = Object.fromEntries(names.map((name) => [name, tasks[name]?.command]));
  expect(commands).toEqual(suites);
});

/** The files that `deno test` runs for a path: of a folder, those that Deno takes for tests. */
function filesOf(path: string): string[] {
  const isTest = path.endsWith("/") ? /(^|[/._])test\.[cm]?[jt]sx?$/ : /./;
  const pattern = RegExp(`^${path.replaceAll(".", "\\.").replace("*", "[^/]*")}`);
  const excluded = config.exclude as string[];
  return files.filter((file) =>
    pattern.test(file) && isTest.test(file) && !excluded.some((path) => file.startsWith(path))
  );
}

/** What adds tests; what tests share, in folders or files named "support", may have it too. */
const adds = /\bDeno\.test\b|\btest[A-Z]\w*\(/;
const shared = /\/support(\/(?!.*\.test\.ts)|\.ts$)/;
testList(
  "A file with tests is a *.test.ts in a folder that one suite in deno.json names",
  Object.values(suites).flatMap((command) => command.split(" "))
    .filter((word) => /^tests\/|^scripts\/test_(?!overlay)/.test(word)).flatMap(filesOf),
  files.filter((file) => adds.test(texts.get(file)!) && !shared.test(file)),
);

testList(
  "A test runs, except on a system that lacks what it needs: `ignore` has a condition",
  files.filter((file) => /\.(ignore|only)\(|\b(ignore|only): true\b/.test(texts.get(file)!)),
  [],
);

testList(
  "`check` runs each part of it",
  tasks.check!.dependencies!,
  Object.keys(tasks).filter((name) => name.startsWith("check:") && name !== "check:release"),
);
testList(
  "check:types checks each script, except build_npm.ts, whose types are on JSR",
  tasks["check:types"]!.command!.split(" ").filter((word) => /^scripts\/\w+\.ts$/.test(word)),
  files.filter((file) => /^scripts\/(?!build_npm)\w+\.ts$/.test(file)),
);

const jobs = (await read(".github/workflows/publish.yml")).split(/^ {2}(?=\w+:\n)/m);
testList(
  "A job of publish.yml that can publish waits for the reviewers: `environment: release`",
  jobs.filter((job) => job.includes("id-token: write") && !/^ {4}environment: release$/m.test(job))
    .map((job) => job.split(":")[0]!),
  [],
);
