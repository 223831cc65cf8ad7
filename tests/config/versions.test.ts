// The versions of what the project needs: where they are repeated, and which ones are held.
import { expect } from "@std/expect";
import { join } from "node:path";
import config from "../../deno.json" with { type: "json" };
import npmMap from "../../import_map.npm.json" with { type: "json" };
import { root } from "../../scripts/support/files.ts";
import { held } from "../../scripts/support/held.ts";

const read = (file: string) => Deno.readTextFile(join(root, file));
const imports: Record<string, string> = config.imports;

/** What `import_map.npm.json` has from elsewhere, or not at all. */
const fromJsr: Record<string, string | undefined> = {
  "@deno/dnt": undefined,
  "@std/expect": "npm:deno-std@^1.4.0/expect/mod.js",
};

Deno.test("import_map.npm.json binds what deno.json does, to npm alone", () => {
  const jsr = Object.entries(imports).filter(([, target]) => target.startsWith("jsr:"));
  expect(jsr.map(([specifier]) => specifier)).toEqual(Object.keys(fromJsr));
  expect(npmMap.imports).toEqual(JSON.parse(JSON.stringify({ ...imports, ...fromJsr })));
});

Deno.test("commands run the Deno that .dvmrc names", async () => {
  const version = (await read(".dvmrc")).trim();
  const texts = await Promise.all([".ci/run", "CONTRIBUTING.md", "README.md"].map(read));
  const named = texts.join("\n").match(/(?<=\bdeno@)[\d.]*\d/g);
  expect([...new Set(named)]).toEqual([version]);
});

Deno.test("CONTRIBUTING.md says which versions are held", () => {
  expect(held.map(({ name }) => name)).toContain("typescript");
});

for (const { name, version, reason } of held) {
  Deno.test(`${name} is held at ${version}`, () => {
    const [, own = ""] = /@\^?([^@]+)$/.exec(imports[name] ?? "") ?? [];
    const isHeld = `${own}.`.startsWith(`${version}.`);
    expect(isHeld, `deno.json has ${name}@${own}. ${reason}`).toBe(true);
  });
}
