// What the script behind `deno task test` prints, for tests of a project of their own.
import { expect } from "@std/expect";
import { join } from "node:path";
import { makeFolder, root } from "../../scripts/support/files.ts";
import { deno, run } from "../../scripts/support/process.ts";

Deno.test("test prints dots, why a test failed, and which tests did not end", async () => {
  await using project = await makeFolder();
  const tests = (limit: string, ...args: string[]) =>
    run(deno, ["run", "-A", "--quiet", join(root, "scripts/run_tests.ts"), ...args], {
      cwd: project.path,
      env: { TEST_LIMIT: limit },
    });
  await project.write("a.test.ts", 'for (const name of "ab") Deno.test(name, () => {});');
  const passed = await tests("60");
  expect([passed.code, passed.stdout]).toEqual([0, expect.stringMatching(/^\.\.\nok .*\n\n$/)]);

  await project.write("b.test.ts", 'Deno.test("a failure", () => { throw "a reason" });');
  const failed = await tests("60", "--filter", "a failure");
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining("a reason")]);

  await project.write("b.test.ts", 'Deno.test("has no end", () => { while (true); });');
  const stopped = await tests("15", "--no-check", "--parallel");
  expect(stopped.code).not.toBe(0);
  expect(stopped.stdout).toContain("\nhas no end =>");
  expect(stopped.stderr).toContain("longer than 15 s");
});
