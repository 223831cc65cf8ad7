/**
 * Checks the OpenAPI document against Redocly's recommended rules and our own.
 *
 * @module
 */

import process from "node:process";
import { readSpec, show } from "./generate/spec.ts";

const [file = "openapi/openapi.yaml"] = process.argv.slice(2);
const problems = await readSpec(file).then(
  () => [],
  ({ message }: Error) => message.split("\n"),
);
for (const problem of problems) console.error(problem);
console.log(`${problems.length} problems in ${show(file)}`);
process.exitCode = problems.length === 0 ? 0 : 1;
