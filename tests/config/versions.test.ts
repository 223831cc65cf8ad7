// The versions of what the project needs: where they are repeated, and which ones are pinned.
import { expect } from "@std/expect";
import config from "../../deno.json" with { type: "json" };
import pinned from "../../scripts/pinned.json" with { type: "json" };
import npmMap from "../../import_map.npm.json" with { type: "json" };
import { read } from "../../scripts/support/files.ts";
import { testList } from "../support/lists.ts";

const imports = Object.entries(config.imports);

/** The packages of the imports, and their versions. */
const versions = imports.map((entry) =>
  entry.map((text) => text.replace(/\/$/, "").replace(/.+@/, "")) as [name: string, version: string]
);

/** What `import_map.npm.json` has from elsewhere, or not at all. */
const fromJsr: Record<string, string | undefined> = {
  "@deno/dnt": undefined,
  "@std/expect": "npm:deno-std@^1.4.0/expect/mod.js",
};

Deno.test("import_map.npm.json binds what deno.json does, to npm alone", () => {
  const jsr = imports.filter(([, target]) => target.startsWith("jsr:"));
  expect(jsr.map(([specifier]) => specifier)).toEqual(Object.keys(fromJsr));
  expect(npmMap.imports, "Copy the versions in deno.json").toEqual({
    ...config.imports,
    ...fromJsr,
  });
});

const texts = await Promise.all([".ci/run", "CONTRIBUTING.md", "README.md"].map(read));
testList(
  "Commands in .ci/run, CONTRIBUTING and README run the Deno that .dvmrc names",
  [...new Set(texts.join().match(/(?<=\bdeno@)[\d.]*\d/g))],
  [(await read(".dvmrc")).trim()],
);

testList(
  "src/cli/version.ts has the version in deno.json: run `deno task version`",
  (await read("src/cli/version.ts")).match(/(?<=")[\d.]+.*(?=")/g)!,
  [config.version],
);

for (const [name, { at, reason }] of Object.entries(pinned)) {
  const all = versions.filter(([pack]) => pack === name).map(([, version]) => version);
  const others = all.filter((version) => version !== at && !`${version}.`.startsWith(`^${at}.`));
  testList(`${name} is ${at}: ${reason}`, others, []);
}
testList(
  "What has an exact version in deno.json has it in scripts/pinned.json, with the reason",
  [...new Set(versions.filter(([, version]) => /^\d/.test(version)).map(([name]) => name))],
  Object.entries(pinned).filter(([, { at }]) => at.includes(".")).map(([name]) => name),
);
