// What the script that runs the other suites reports, for tests of a project of their own.
import { expect } from "@std/expect";
import { join } from "node:path";
import { makeFolder, root } from "../../scripts/support/files.ts";
import { deno, run } from "../../scripts/support/process.ts";

Deno.test("run_tests prints dots, why a test failed, and which tests were ignored or did not end", async () => {
  await using project = await makeFolder();
  const tests = (env: Record<string, string>, ...args: string[]) =>
    run(deno, ["run", "-A", "--quiet", join(root, "scripts/run_tests.ts"), ...args], {
      cwd: project.path,
      env: { REQUIRE_ALL_TESTS: "", ...env },
    });
  await project.write("a.test.ts", 'for (const name of "ab") Deno.test(name, () => {});');
  const all = { REQUIRE_ALL_TESTS: "1" };
  const passed = await tests(all);
  expect([passed.code, passed.stdout]).toEqual([0, expect.stringMatching(/^\.\.\nok .*\n\n$/)]);

  await project.write("b.test.ts", 'Deno.test("a failure", () => { throw "a reason" });');
  const failed = await tests({}, "--filter", "a failure");
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining("a reason")]);

  await project.write(
    "b.test.ts",
    `Deno.test.ignore('<"&\\'>', () => {});
    Deno.test("c", async (test) => void await test.step({ name: "d", ignore: true, fn() {} }));`,
  );
  expect((await tests({})).code).toBe(0);
  const ignored = await tests(all);
  expect(ignored.code).toBe(1);
  expect(ignored.stderr.match(/(?<=did not run: ).*/g)).toEqual([`<"&'>`, "c > d"]);

  const failsAndRuns = (code: string) =>
    `Deno.test("fails", () => { throw "a reason" }); Deno.test("has no end", () => { ${code} });`;
  await project.write("b.test.ts", failsAndRuns("while (true);"));
  const stopped = await tests({ TEST_LIMIT: "15" }, "--no-check", "--parallel");
  expect(stopped.code).not.toBe(0);
  expect(stopped.stdout).toContain("\nhas no end =>");
  expect(stopped.stderr).toMatch(/longer than 15 s[^]*\nThis failed: fails\n.*a reason/);

  const interrupt = 'for (const pid of [Deno.ppid, Deno.pid]) Deno.kill(pid, "SIGINT");'; // Ctrl-C
  await project.write(
    "b.test.ts",
    failsAndRuns(`${interrupt} return new Promise((end) => setTimeout(end, 1e6));`),
  );
  const interrupted = await tests({}, "-A", "--no-check");
  expect(interrupted.stdout).toContain("\nhas no end =>");
  expect(interrupted.stderr).toMatch(/This failed: fails\n.*a reason/);
});
