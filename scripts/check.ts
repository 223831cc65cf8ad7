/**
 * Runs the parts of `deno task check` side by side, all of them even when one fails.
 *
 *     deno run -A scripts/check.ts TASK…
 *
 * @module
 */

import { runTask } from "./support/process.ts";

const failed: string[] = [];
await Promise.all(Deno.args.map(async (task) => await runTask(task) || failed.push(task)));
if (failed.length > 0) console.log(`\nThese failed: ${failed.sort().join(", ")}`);
Deno.exitCode = failed.length > 0 ? 1 : 0;
