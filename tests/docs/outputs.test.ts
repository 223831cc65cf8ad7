// The comments beside `console.log` in examples have what it prints: `console.log(1 + 1); // 2`.
import { expect } from "@std/expect";
import { pathToFileURL } from "node:url";
import { format } from "node:util";
import { listProject, makeFolder, read } from "../../scripts/support/files.ts";

/** What is printed, and what the comment in its line says. */
const printing = /console\.log\((.* \/\/ (.*))$/gm;

/** The examples of a Markdown file, or of the doc comments of a module, that print something. */
function examplesOf(text: string): string[] {
  const markdown = text.replaceAll(/^ *\* ?/gm, "");
  return [...markdown.matchAll(/^ *```ts\n(.*?)^ *```$/gms)].map(([, code]) => code!)
    .filter((code) => code.match(printing));
}

/** Runs an example; resolves to what each comment says, and what its line printed. */
async function run(example: string): Promise<Map<string, Set<string>>> {
  const outputs = new Map<string, Set<string>>();
  const code = example.replaceAll(printing, (_, rest, said) => {
    outputs.set(said, new Set());
    return `printed(${JSON.stringify(said)}, ${rest}`;
  });
  await using folder = await makeFolder();
  const printed = (said: string, ...values: unknown[]) => outputs.get(said)!.add(format(...values));
  Object.assign(globalThis, { printed });
  await import(pathToFileURL(await folder.write("example.ts", code)).href);
  return outputs;
}

for (const file of ["README.md", "RECIPES.md", "mod.ts", ...await listProject("src")]) {
  const examples = examplesOf(await read(file));
  if (examples.length === 0) continue;
  Deno.test(`the examples of ${file} print what their comments say`, async () => {
    const problems: unknown[] = [];
    for (const example of examples) {
      try {
        for (const [said, printed] of await run(example)) {
          if (!said.includes([...printed].join() || "nothing")) problems.push({ said, printed });
        }
      } catch (error) {
        problems.push({ example, error });
      }
    }
    expect(problems).toEqual([]);
  });
}
