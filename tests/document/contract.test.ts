// What a change of checkKey's contract in the OpenAPI document breaks.
import { parseYaml } from "@redocly/openapi-core";
import { expect } from "@std/expect";
import { join } from "node:path";
import { copyProject } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";

// deno-lint-ignore no-explicit-any -- an OpenAPI document
type Any = any;

/** Edits of the document, given its paths and the operation. */
const edits: Record<string, (paths: Any, operation: Any) => void> = {
  "another path"(paths) {
    paths["/moved"] = paths["/checkKey"];
    delete paths["/checkKey"];
  },
  "another method"(paths) {
    const { post } = paths["/checkKey"];
    paths["/checkKey"] = { put: post };
  },
  "a required parameter"(_paths, operation) {
    operation.parameters = [
      { name: "version", in: "query", required: true, schema: { type: "integer" } },
    ];
  },
  "another required field"(_paths, { requestBody }) {
    const media = requestBody.content["application/json"];
    const properties = { reason: { type: "string" } };
    media.schema = { allOf: [media.schema, { type: "object", required: ["reason"], properties }] };
  },
};

for (const [kind, edit] of Object.entries(edits)) {
  Deno.test(`${kind} of checkKey is a compile error in src/client.ts and nowhere else`, async () => {
    const parts = ["openapi", "scripts", "src", "mod.ts", "deno.json", "import_map.npm.json"];
    await using project = await copyProject(parts);
    const file = join(project.path, "openapi/openapi.yaml");
    const document: Any = parseYaml(await Deno.readTextFile(file));
    edit(document.paths, document.paths["/checkKey"].post);
    await project.write(file, document); // JSON is YAML, too.
    const options = { cwd: project.path };
    await mustRun(deno, ["task", "--quiet", "generate"], options);
    const check = ["check", "--quiet", "mod.ts", "src/"];
    const { success, output } = await run(deno, check, options);
    // What is indented further is related to the place of an error.
    const places = [...output.matchAll(/^ {4}at file:\/\/(\S+):\d+:\d+$/gm)];
    const files = new Set(places.map(([, file]) => file!.replace(/.*\/src\//, "src/")));
    expect([success, [...files]], output).toEqual([false, ["src/client.ts"]]);
  });
}
