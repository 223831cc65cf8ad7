/**
 * What the name of a test ends with that is ignored for a reason. Where the variable
 * `REQUIRE_ALL_TESTS` is set, as in CI, it throws.
 */
export function skip(reason: string): string {
  if (Deno.env.get("REQUIRE_ALL_TESTS")) throw new Error(`A test would be skipped: ${reason}`);
  return `, skipped: ${reason}`;
}
