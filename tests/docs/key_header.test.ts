// Texts name the header of the key, which only the OpenAPI document chooses.
import { expect } from "@std/expect";
import { join } from "node:path";
import { listFiles, root } from "../../scripts/support/files.ts";
import { apiKeyHeader } from "../../src/generated/operations.ts";

/** Names of other headers that texts may have. */
const others = /^(Access-Control-|Content-|Location$|Retry-After$)/;

/** The names in a text that are written like a header's, `Some-Name`, or called one. */
function headersIn(text: string): string[] {
  const names = text.match(
    /(?<=[`"])[A-Z]\w*(-[A-Z]\w*)+(?=[`":])|(?<=[`"])[\w-]+(?=[`"] header)/g,
  );
  return (names ?? []).filter((name) => !others.test(name));
}

Deno.test("the key's header has its name in README, the docs and the descriptions", async () => {
  const sources = (await listFiles(join(root, "src")))
    .filter((file) => file.endsWith(".ts") && !file.startsWith("generated/"));
  const files = ["README.md", "SECURITY.md", "mod.ts", "openapi/openapi.yaml"]
    .concat(sources.map((file) => `src/${file}`));
  const named = await Promise.all(files.map(async (file) => {
    const names = headersIn(await Deno.readTextFile(join(root, file)));
    return names.map((name) => ({ file, name }));
  }));
  expect(named.flat().filter(({ name }) => name !== apiKeyHeader)).toEqual([]);
  expect(named.flat().length).toBeGreaterThan(0);
});
