/** A program that a Markdown file prints: a code block whose first line is the name of its file. */
interface Program {
  name: string;
  code: string;
}

/** Lists the programs of Markdown files. */
export function listPrograms(markdown: string): Program[] {
  const blocks = markdown.matchAll(/^```ts.*\n(\/\/ (\S+\.mts)\n[^]*?)^```$/gm);
  return [...blocks].map(([, code, name]) => ({ name: name!, code: code! }));
}
