// What the script that runs the other gates with operations added does, where the gates are replaced.
import { expect } from "@std/expect";
import { copyProject } from "../../scripts/support/files.ts";
import { deno, run } from "../../scripts/support/process.ts";

Deno.test("test_overlay adds operations, runs each gate, and fails with it", async () => {
  const parts = ["CONTRIBUTING.md", "import_map.npm.json", "openapi", "scripts", "src", "tests"];
  await using project = await copyProject(parts);
  const tasks = {
    generate: "echo generated > log",
    check: "echo checked >> log",
    test: "cat log openapi/openapi.yaml && exit 7",
  };
  await project.write("deno.json", { tasks });
  const args = ["run", "-A", "--import-map=import_map.npm.json", "scripts/test_overlay.ts"];
  const { code, stdout, stderr } = await run(deno, args, { cwd: project.path });
  expect([code, stdout]).toEqual([1, "ok generate\nok check\n"]);
  expect(stderr).toMatch(/test" exited with 7:\ngenerated\nchecked\n[^]*\/reports\/{id}/);
  expect(stderr).toContain("/fixture-scans/{id}");
});
