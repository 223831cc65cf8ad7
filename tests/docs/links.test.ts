import { expect } from "@std/expect";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { listFiles, root } from "../../scripts/support/files.ts";

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

Deno.test("the files and folders that CONTRIBUTING and SECURITY name exist", async () => {
  const folders = ["src", "scripts", "tests", "openapi", ".ci", ".github"];
  const lists = await Promise.all(
    folders.map(async (folder) =>
      (await listFiles(join(root, folder))).map((file) => `/${folder}/${file}`)
    ),
  );
  const files = [...lists.flat(), ...(await readdir(root)).map((name) => `/${name}`)];
  const texts = ["CONTRIBUTING.md", "SECURITY.md"].map((name) =>
    readFile(join(root, name), "utf8")
  );
  const named = (await Promise.all(texts)).join("\n")
    .match(/(?<=[`\s])[\w./-]*\w(?:\/|\.(?:ts|json|lock|md|ya?ml))(?=[`\s])/g)!;
  const isThere = (name: string) =>
    files.some((file) =>
      name.endsWith("/") ? file.includes(`/${name}`) : file.endsWith(`/${name}`)
    );
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});
