/**
 * Holds a description to Redocly's recommended rules: any problem, warnings too, is an error.
 *
 * @module
 */

import process from "node:process";
import { fileURLToPath } from "node:url";
import { lintSpec, SpecError } from "./generate/spec.ts";

const [file = fileURLToPath(new URL("../openapi/openapi.yaml", import.meta.url))] = process.argv
  .slice(2);

try {
  const problems = await lintSpec(file);
  for (const problem of problems) console.error(problem);
  console.log(`${problems.length} problems in ${file}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof SpecError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
