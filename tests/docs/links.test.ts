import { expect } from "@std/expect";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../../scripts/support/files.ts";

/** What links name the headings of a text. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!.toLowerCase().replaceAll(/[^\w -]/g, "").replaceAll(" ", "-")
  );

for (const name of (await readdir(root)).filter((name) => name.endsWith(".md"))) {
  Deno.test(`the relative links of ${name} lead somewhere`, async () => {
    const lost: string[] = [];
    const links = (await readFile(join(root, name), "utf8")).matchAll(/\]\((?!https:)([^)]+)\)/g);
    for (const [, link = ""] of links) {
      const [path, anchor] = link.split("#");
      const file = join(root, path || name);
      const isFound = existsSync(file) &&
        (!anchor || anchorsOf(await readFile(file, "utf8")).includes(anchor));
      // README is shown elsewhere too, without the files beside it.
      if (!isFound || (path && name === "README.md")) lost.push(link);
    }
    expect(lost).toEqual([]);
  });
}
