// Examples print what their comments say, and nothing else: `console.log(1 + 1); // 2`, or, beside what
// leads to it, `await client.checkKey("demo-key"); // prints "…"`.
import { expect } from "@std/expect";
import { pathToFileURL } from "node:url";
import { format } from "node:util";
import { listProject, makeFolder, read } from "../../scripts/support/files.ts";

/** A comment that says what is printed. */
const comment = /(?:\bconsole\.log\(.* \/\/ (.*)|\/\/ prints "(.*)")$/gm;

/** The examples of a Markdown file, or of the doc comments of a module, that say what they print. */
function examplesOf(text: string): string[] {
  const markdown = text.replaceAll(/^ *\* ?/gm, "");
  return [...markdown.matchAll(/^ *```ts\n(.*?)^ *```$/gms)].map(([, code]) => code!)
    .filter((code) => code.match(comment));
}

/** Runs an example; resolves to the lines that it printed. */
async function run(example: string): Promise<string[]> {
  const lines: string[] = [];
  const { log } = console;
  console.log = (...values: unknown[]) => void lines.push(format(...values));
  try {
    await using folder = await makeFolder();
    await import(pathToFileURL(await folder.write("example.ts", example)).href);
    return lines;
  } finally {
    console.log = log;
  }
}

for (const file of ["README.md", "RECIPES.md", "mod.ts", ...await listProject("src")]) {
  const examples = examplesOf(await read(file));
  if (examples.length === 0) continue;
  Deno.test(`the examples of ${file} print what their comments say`, async () => {
    for (const example of examples) {
      const said = [...example.matchAll(comment)].map(([, value, line]) => value ?? line);
      expect([example, (await run(example)).sort()]).toEqual([example, said.sort()]);
    }
  });
}
