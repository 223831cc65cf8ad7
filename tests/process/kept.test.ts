import { expectLittleKept } from "./large.ts";
import { bundle, runtimes } from "./support.ts";

Deno.test("errors and waiting calls keep nothing of large bodies", async (test) => {
  await using program = await bundle("tests/process/kept.ts");
  for (const runtime of runtimes) await expectLittleKept(test, runtime, program.path);
});
