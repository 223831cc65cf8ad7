// Names and words that texts repeat are those of the code.
import { expect } from "@std/expect";
import { join } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { root } from "../../scripts/support/files.ts";
import { HELP } from "../../src/cli/arguments.ts";
import { serveSandbox } from "../../src/sandbox/server.ts";

/** The text of a file, without line breaks inside of sentences. */
const read = async (file: string) =>
  (await Deno.readTextFile(join(root, file))).replaceAll(/\n *\*? +/g, " ");

const [readme, contributing] = await Promise.all(
  ["README.md", "CONTRIBUTING.md"].map(read),
) as [string, string];

/** All groups of the matches of a pattern. */
const find = (pattern: RegExp, text: string) =>
  [...text.matchAll(pattern)].flatMap(([, ...groups]) => groups as string[]);

Deno.test("texts name tasks that deno.json has", () => {
  const named = find(/\btask ([a-z][\w:]*)/g, readme + contributing);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !(name in config.tasks))).toEqual([]);
});

Deno.test("README has the fields of each error", async () => {
  const errors = await Deno.readTextFile(join(root, "src/errors.ts"));
  const fields = [...errors.matchAll(/<Pick<(\w+), ([^>]+)>/g)]
    .map(([, name, list = ""]) => [name, find(/"(\w+)"/g, list).sort()]);
  const rows = (await Deno.readTextFile(join(root, "README.md"))).split("\n")
    .map((line) => /^\| `(\w+Error)` .* \|([^|]*)\|$/.exec(line))
    .flatMap((row) => row ? [[row[1], find(/`(\w+)`/g, row[2]!).sort()] as const] : []);
  expect(Object.fromEntries(rows))
    .toEqual({ ...Object.fromEntries(fields), NetworkError: ["cause"] });
});

Deno.test("README has the names of objects that callers get", async () => {
  const interfaces = {
    "src/sandbox/service.ts": "SandboxContext",
    "src/sandbox/server.ts": "SandboxServer",
    "src/transport/retry.ts": "RetryEvent",
    "src/errors.ts": "ResponseSnapshot",
  };
  for (const [file, name] of Object.entries(interfaces)) {
    const text = await Deno.readTextFile(join(root, file));
    const [body = ""] = find(RegExp(`interface ${name} \\{([^]*?)\\n\\}`, "g"), text);
    const members = find(/^ {2}(?:readonly )?(\w+)[(:]/gm, body);
    expect(readme).toContain(`{ ${members.join(", ")} }`);
  }
});

Deno.test("the docs of an issue have each rule that is no keyword", async () => {
  const files = ["src/data.ts", "src/operation.ts", "src/transport/attempt.ts"];
  const code = (await Promise.all(files.map(read))).join("");
  const rules = find(/(?:rule[:=] |rule = |problemOf\()"(\w+)"/g, code);
  const [docs = ""] = find(/breaks: ([^]*?)\*\//g, await read("src/errors.ts"));
  expect(new Set(rules).size).toBe(6);
  expect(rules.filter((rule) => !docs.includes(`\`${rule}\``))).toEqual([]);
});

Deno.test("docs say how fetch treats a redirect, and where the sandbox listens", async () => {
  const [redirect] = find(/(redirect: "\w+")/g, await read("src/fetch.ts"));
  expect(find(/`(redirect: "\w+")`/g, await read("src/api.ts"))).toEqual([redirect]);
  await using server = await serveSandbox();
  const { hostname } = new URL(server.url);
  expect(HELP).toMatch(RegExp(`--host HOST +where to listen; ${hostname} by default`));
});
