// What links and texts name exists: headings, files, folders and tasks.
import { expect } from "@std/expect";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { listProject, read, root } from "../../scripts/support/files.ts";

/** What links name the headings of a text. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!.toLowerCase().replaceAll(/[^\w -]/g, "").replaceAll(" ", "-")
  );

const published = config.publish.include;
const names = await readdir(root);

for (const name of names.filter((name) => /\.(md|ts)$/.test(name))) {
  const lost: string[] = [];
  for (const [, link = ""] of (await read(name)).matchAll(/\]\((?!https:)([^)]+)\)/g)) {
    const [path, anchor] = link.split("#");
    const file = path || name;
    const isFound = existsSync(join(root, file)) &&
      (!anchor || anchorsOf(await read(file)).includes(anchor));
    // What is published is read elsewhere too, beside what is published and nothing else.
    const isThere = !path || !published.includes(name) || published.includes(path);
    if (!isFound || !isThere) lost.push(link);
  }
  Deno.test(`The relative links of ${name} lead somewhere`, () => expect(lost).toEqual([]));
}

const files = await listProject("src", "scripts", "tests", "openapi", ".ci", ".github");
const places = files.map((file) => `/${file}`);
const contributing = await read("CONTRIBUTING.md");
const texts = `${contributing}\n${await read("SECURITY.md")}`;
const ofProject =
  /(?<=[`\s])(?:[\w./-]*\w\.ts|(?:src|tests|scripts|openapi|\.github)\/[\w./-]*)(?=[`\s])/g;
Deno.test("The files and folders of the project that CONTRIBUTING and SECURITY name exist", () => {
  const lost = texts.match(ofProject)!.filter((name) =>
    name !== "mod.ts" &&
    !places.some((file) =>
      name.endsWith("/") ? file.includes(`/${name}`) : file.endsWith(`/${name}`)
    )
  );
  expect(lost).toEqual([]);
});

const commands = /(?:^|`|deno@[\d.]+ )(?:deno )?task ([a-z][\w:]*)/gm;
const tasks = `${contributing}\n${await read("README.md")}\n${await read("RECIPES.md")}`;
Deno.test("The tasks that CONTRIBUTING, README and RECIPES name exist", () => {
  const named = [...tasks.matchAll(commands)].map(([, name]) => name!);
  expect(named.filter((name) => !(name in config.tasks))).toEqual([]);
});
