// Deno's version, which `.dvmrc` has for the workflows, and commands repeat so that they can be pasted.
import { expect } from "@std/expect";
import { join } from "node:path";
import { listFiles, root } from "../../scripts/support/files.ts";

const read = (file: string) => Deno.readTextFile(join(root, file));
const version = (await read(".dvmrc")).trim();

Deno.test("commands run the Deno that .dvmrc names", async () => {
  const texts = await Promise.all([".ci/run", "CONTRIBUTING.md", "README.md"].map(read));
  const named = texts.join("\n").match(/(?<=\bdeno@)[\d.]*\d/g);
  expect([...new Set(named)]).toEqual([version]);
});

Deno.test("the workflows take Deno's version from .dvmrc", async () => {
  for (const file of await listFiles(join(root, ".github/workflows"))) {
    const inputs = (await read(`.github/workflows/${file}`)).match(/deno-version.*/g);
    expect([file, [...new Set(inputs)]]).toEqual([file, ["deno-version-file: .dvmrc"]]);
  }
});
