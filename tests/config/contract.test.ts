// What a change of checkKey's contract in the OpenAPI document breaks.
import { expect } from "@std/expect";
import { join } from "node:path";
import { root } from "../../scripts/support/files.ts";
import { mustRun, run } from "../../scripts/support/process.ts";
import { copyProject, folder } from "../generate/support.ts";

/** Edits of the document: what is replaced, and with what. */
const edits: Record<string, [RegExp, string]> = {
  "another path": [/^ {2}\/checkKey:$/m, "  /keys/check:"],
  "another required field": [
    /required: \[apiKey\]\n {6}properties:$/m,
    "required: [apiKey, reason]\n      properties:\n        reason: { type: string }",
  ],
  "a required header": [
    /^ {6}operationId: checkKey$/m,
    "$&\n      parameters:\n" +
    "        - { name: X-Tenant, in: header, required: true, schema: { type: string } }",
  ],
};

Deno.test("a change of checkKey's contract is a compile error in its one place", async (test) => {
  await using project = await folder();
  await copyProject(project.path, ["src", "mod.ts", "deno.json", "import_map.npm.json"]);
  const yaml = await Deno.readTextFile(join(root, "openapi/openapi.yaml"));
  const client = await Deno.readTextFile(join(root, "src/client.ts"));
  const first = client.split("\n").findIndex((line) => line.includes("async checkKey(")) + 1;
  const last = client.split("\n").findIndex((line) => line.includes("async call(")) + 1;

  for (const [kind, [pattern, replacement]] of Object.entries(edits)) {
    await test.step(kind, async () => {
      expect(yaml).toMatch(pattern);
      const spec = await project.write("openapi.yaml", yaml.replace(pattern, replacement));
      const out = join(project.path, "src/generated");
      const map = "--import-map=import_map.npm.json";
      const generate = ["run", "--quiet", "--no-check", "-A", map, "scripts/generate.ts"];
      await mustRun(Deno.execPath(), [...generate, "--spec", spec, "--out", out], { cwd: root });
      const options = { cwd: project.path, env: { NO_COLOR: "1" } };
      const check = ["check", "--quiet", map, "mod.ts", "src/"];
      const { success, output } = await run(Deno.execPath(), check, options);
      expect(success).toBe(false);
      // What is indented further is related to the place of an error.
      const places = [...output.matchAll(/^ {4}at file:\/\/(\S+):(\d+):\d+$/gm)];
      expect(places.length, output).toBeGreaterThan(0);
      for (const [, file, line] of places) {
        expect(file, output).toMatch(/\/src\/client\.ts$/);
        expect(Number(line), output).toBeGreaterThan(first);
        expect(Number(line), output).toBeLessThan(last);
      }
    });
  }
});
