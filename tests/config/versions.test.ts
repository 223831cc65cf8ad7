// The versions of what the project needs: where they are repeated, and which ones are pinned.
import { expect } from "@std/expect";
import { join } from "node:path";
import config from "../../deno.json" with { type: "json" };
import pinned from "../../scripts/pinned.json" with { type: "json" };
import npmMap from "../../import_map.npm.json" with { type: "json" };
import { root } from "../../scripts/support/files.ts";

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
  expect(npmMap.imports).toEqual({ ...imports, ...fromJsr });
});

Deno.test("commands run the Deno that .dvmrc names", async () => {
  const version = (await read(".dvmrc")).trim();
  const texts = await Promise.all([".ci/run", "CONTRIBUTING.md", "README.md"].map(read));
  const named = texts.join("\n").match(/(?<=\bdeno@)[\d.]*\d/g);
  expect([...new Set(named)]).toEqual([version]);
});

Deno.test("the command has the version that deno.json has", async () => {
  const copy = await read("src/cli/version.ts");
  expect(copy, "Run `deno task version`").toContain(`"${config.version}"`);
});

/** Whether an import has a version that is pinned in full, or any of a major version that is pinned. */
function isAt(at: string, target = ""): boolean {
  const [version = ""] = target.match(/(?<=.@)[^@/]+(?=\/?$)/) ?? [];
  return at.includes(".") ? version === at : `${version.replace("^", "")}.`.startsWith(`${at}.`);
}

Deno.test("what scripts/pinned.json pins has that version", () => {
  const others = Object.entries(pinned).filter(([name, { at }]) => {
    const { [name]: target, [`${name}/`]: folder = target } = imports;
    return !isAt(at, target) || !isAt(at, folder);
  });
  expect(others.map(([name, { at, reason }]) => `${name} is not ${at}: ${reason}`)).toEqual([]);
});

Deno.test("what has an exact version is what scripts/pinned.json pins in full", () => {
  const exact = Object.entries(imports).filter(([, target]) => /.@\d[^@]*$/.test(target))
    .map(([specifier]) => specifier.replace(/\/$/, ""));
  const full = Object.entries(pinned).filter(([, { at }]) => at.includes("."));
  expect([...new Set(exact)].sort()).toEqual(full.map(([name]) => name).sort());
});
