import { expect } from "@std/expect";
import { copyProject } from "../../scripts/support/files.ts";
import { deno, run } from "../../scripts/support/process.ts";

Deno.test("check runs all its parts and names those that failed, and test prints why", async () => {
  await using project = await copyProject();
  const task = (...args: string[]) =>
    run(deno, ["task", "--quiet", ...args], { cwd: project.path });
  const failing = 'Deno.test("a failure", () => { throw "a reason" }); var unused';
  await project.write("tests/config/failing.test.ts", failing);
  const { code, stdout } = await task("check");
  expect(code).toBe(1);
  expect(stdout.match(/^(ok|FAILED) .*(?= \(\d+ s\)$)/gm)!.sort()).toEqual([
    "FAILED check:format",
    "FAILED check:lint",
    ...["docs", "publish", "spec", "types"].map((part) => `ok     check:${part}`),
  ]);
  expect(stdout).toMatch(/no-var[^]*\nThese failed: check:format, check:lint\n$/);

  const failed = await task("test", "--filter", "a failure");
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining("a reason")]);
  const passed = await task("test", "--filter", "section");
  expect([passed.code, passed.stdout]).toEqual([0, expect.stringMatching(/^\.+\nok .*\n\n$/)]);
});
