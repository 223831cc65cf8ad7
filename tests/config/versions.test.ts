// The versions of what the project needs, where they are repeated.
import { expect } from "@std/expect";
import config from "../../deno.json" with { type: "json" };
import npmMap from "../../import_map.npm.json" with { type: "json" };
import { read } from "../../scripts/support/files.ts";
import { version } from "../support/internals.ts";

Deno.test("import_map.npm.json binds what deno.json does, to npm alone", () => {
  const { "@deno/dnt": _dnt, "@std/expect": _expect, ...imports } = config.imports;
  const expected = { ...imports, "@std/expect": "npm:deno-std@^1.4.0/expect/mod.js" };
  expect(npmMap.imports, "Copy the versions in deno.json").toEqual(expected);
});

for (const file of [".ci/run", "CONTRIBUTING.md", "README.md", "RECIPES.md"]) {
  Deno.test(`commands in ${file} run the Deno that .dvmrc names`, async () => {
    const deno = (await read(".dvmrc")).trim();
    const others = (await read(file)).match(/\bdeno@[\d.]*\d/g) ?? [];
    expect(others.filter((name) => name !== `deno@${deno}`)).toEqual([]);
  });
}

Deno.test("src/cli/version.ts has the version in deno.json: run `deno task version`", () => {
  expect(version).toBe(config.version);
});
