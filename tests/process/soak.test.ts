import { expect } from "@std/expect";

import { serve } from "../support/server.ts";
import { createFaults, ENDS } from "./faults.ts";
import { bundle, play, runtimes } from "./support.ts";

/** `deno task test:memory` makes more. */
const CALLS = Number(Deno.env.get("MEMORY_CALLS") ?? 500);

const timeout = 50_000 + 10 * CALLS;

Deno.test("calls that meet random faults end as each of them calls for", async (test) => {
  await using program = await bundle("tests/process/soak.ts");
  for (const runtime of runtimes) {
    const { name } = runtime;
    await test.step(name, async () => {
      const respond = createFaults();
      await using server = await serve((request, response, count) => {
        server.requests.length = 0;
        return respond(request, response, count);
      }, timeout);
      const { failures, unhandled, ends, grown, seconds } = await play(
        runtime,
        program.path,
        [server.url, `${CALLS}`],
        { timeout },
      );
      console.log(`${name}: ${CALLS} calls in ${seconds} s, ${grown} bytes more`, ends);
      expect({ failures, unhandled }).toEqual({ failures: [], unhandled: [] });
      expect(Object.keys(ends).sort()).toEqual(ENDS);
      expect(grown).toBeLessThan(2 * 2 ** 20); // 26 bytes for each of 80,000 calls
    });
  }
});
