import { expect } from "@std/expect";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { root } from "../../scripts/support/files.ts";

/** What links name the headings of a text. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!.toLowerCase().replaceAll(/[^\w -]/g, "").replaceAll(" ", "-")
  );

const published = config.publish.include;

for (const name of (await readdir(root)).filter((name) => /\.(md|ts)$/.test(name))) {
  Deno.test(`the relative links of ${name} lead somewhere`, async () => {
    const lost: string[] = [];
    const links = (await readFile(join(root, name), "utf8")).matchAll(/\]\((?!https:)([^)]+)\)/g);
    for (const [, link = ""] of links) {
      const [path, anchor] = link.split("#");
      const file = join(root, path || name);
      const isFound = existsSync(file) &&
        (!anchor || anchorsOf(await readFile(file, "utf8")).includes(anchor));
      // What is published is read elsewhere too, beside what is published and nothing else.
      const isThere = !path || !published.includes(name) || published.includes(path);
      if (!isFound || !isThere) lost.push(link);
    }
    expect(lost).toEqual([]);
  });
}
