/**
 * Copies the version in `deno.json` to `src/cli/version.ts`: not every package has `deno.json` itself.
 */
import denoJson from "../deno.json" with { type: "json" };

await Deno.writeTextFile(
  new URL("../src/cli/version.ts", import.meta.url),
  `/** The package's version: a copy of deno.json's, written by \`deno task version\`. */
export const version = "${denoJson.version}";
`,
);
