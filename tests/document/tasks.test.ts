// What the scripts behind `deno task check` and `deno task test` print, for tasks and tests of a
// project of their own.
import { expect } from "@std/expect";
import { join } from "node:path";
import { makeFolder, root } from "../../scripts/support/files.ts";
import { deno, run } from "../../scripts/support/process.ts";

Deno.test("check runs all its parts, and names those that failed", async () => {
  await using project = await makeFolder();
  const fails = "echo a reason && exit 3";
  await project.write("deno.json", { tasks: { a: fails, b: "sleep 1", c: `sleep 1 && ${fails}` } });
  const args = ["run", "-A", "--quiet", join(root, "scripts/check.ts"), "a", "b", "c"];
  const { code, stdout } = await run(deno, args, { cwd: project.path });
  expect(code).toBe(1);
  const lines = stdout.replaceAll(/ \(\d+ s\)$/gm, "").trim().split("\n");
  const parts = ["FAILED a", "FAILED c", "a reason", "a reason", "ok     b"];
  expect(lines.slice(0, -2).sort()).toEqual(parts);
  expect(lines.slice(-2)).toEqual(["", "These failed: a, c"]);
});

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
