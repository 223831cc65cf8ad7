import { expect } from "@std/expect";
import config from "../../deno.json" with { type: "json" };
import npmMap from "../../import_map.npm.json" with { type: "json" };

const imports: Record<string, string> = config.imports;
const npmImports: Record<string, string> = npmMap.imports;

/** What only JSR has. */
const jsrOnly = ["@deno/dnt"];

Deno.test("import_map.npm.json binds what deno.json does, except what only JSR has", () => {
  expect(Object.keys(npmImports).concat(jsrOnly).sort()).toEqual(Object.keys(imports).sort());
});

Deno.test("import_map.npm.json needs only npm, and agrees with deno.json on what comes from there", () => {
  for (const [specifier, target] of Object.entries(npmImports)) {
    expect(target).toMatch(/^npm:/);
    if (!imports[specifier]!.startsWith("jsr:")) {
      expect([specifier, target]).toEqual([specifier, imports[specifier]]);
    }
  }
});

Deno.test("deno.json takes only Deno's own packages from JSR", () => {
  const fromJsr = Object.entries(imports).filter(([, target]) => target.startsWith("jsr:"));
  expect(fromJsr.map(([specifier]) => specifier)).toEqual(["@deno/dnt", "@std/expect"]);
});
