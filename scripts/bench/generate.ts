/**
 * Measures what a document costs: the time to generate, and the size of the validators, for 20, 100 and
 * 300 operations whose schemas refer to each other.
 *
 *     deno task bench:generate
 *
 * @module
 */

import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { copyProject } from "../support/files.ts";
import { deno, mustRun } from "../support/process.ts";

/** Makes a document of operations, with a third as many schemas, but at least 40. */
function documentOf(operations: number) {
  const count = Math.max(40, operations / 3);
  const ref = (index: number) => ({ $ref: `#/components/schemas/Schema${index % count}` });
  const schemas = Array.from({ length: count }, (_, index) => [`Schema${index}`, {
    type: "object",
    required: ["id", "name"],
    properties: {
      id: { type: "integer", minimum: 0 },
      name: { type: "string", maxLength: 80 },
      state: { enum: ["new", "open", "closed"] },
      next: { anyOf: [ref(index + 1), { type: "null" }] },
      parts: { type: "array", items: ref(index + 7) },
    },
  }]);
  const paths = Array.from({ length: operations }, (_, index) => {
    const content = { "application/json": { schema: ref(index) } };
    const responses = { 200: { description: "", content } };
    return [`/path${index}`, { get: { operationId: `get${index}`, responses } }];
  });
  const components = { schemas: Object.fromEntries(schemas) };
  const root = { openapi: "3.1.0", info: { title: "Benchmark", version: "1" }, security: [] };
  return { ...root, paths: Object.fromEntries(paths), components };
}

for (const operations of [20, 100, 300]) {
  await using project = await copyProject(["deno.json", "deno.lock", "openapi", "scripts", "src"]);
  await project.write("openapi/openapi.yaml", documentOf(operations));
  const start = performance.now();
  await mustRun(deno, ["task", "--quiet", "generate"], { cwd: project.path });
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  const code = await Deno.readFile(join(project.path, "src/generated/validators.ts"));
  const [size, gzipped] = [code, gzipSync(code)].map(({ length }) => Math.round(length / 1_000));
  console.log(`${operations} operations: ${seconds} s, ${size} kB (${gzipped} kB gzipped)`);
}
