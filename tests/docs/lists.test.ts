// Lists in texts are those of the code, in any words.
import { posix } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { listProject, read, root } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";
import { readClientOptions } from "../../src/options.ts";
import { baseUrl } from "../support/client.ts";
import { testList } from "../support/lists.ts";

/** What the group of a pattern matches, each once. */
function find(pattern: RegExp, text = ""): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, group = ""]) => group))];
}

const [readme, contributing] = [await read("README.md"), await read("CONTRIBUTING.md")];

/** The rows of the table in README that has a row for a name: what stands in code marks first, and the row. */
function rowsWith(name: string): Map<string, string> {
  const table = readme.match(/^\|.*\n(?:\|.*\n)*/gm)!.find((rows) =>
    rows.includes(`\n| \`${name}\``)
  );
  if (!table) throw new Error(`README has no table with a row that begins with "| \`${name}\`"`);
  return new Map([...table.matchAll(/^\| `(\w+)`.*$/gm)].map(([row, name]) => [name!, row]));
}

/** What `deno doc` knows of a symbol or a field, as far as it matters here. */
interface Documented {
  name: string;
  isStatic?: boolean;
  jsDoc?: { doc?: string; tags?: { kind: string; value?: string }[] };
  declarations: { def: { properties: Documented[] } }[];
}

const entryPoints = Object.entries(config.exports);
const files = entryPoints.map(([, file]) => file);
const docs = JSON.parse(await mustRun(deno, ["doc", "--json", ...files], { cwd: root }));
/** What each entry point exports. */
const modules = Object.values<{ symbols: Documented[] }>(docs.nodes).map(({ symbols }) => symbols);
const namesOf = (all: Documented[]) => all.map(({ name }) => name);
const fieldsOf = (name: string) =>
  modules.flat().find((symbol) => symbol.name === name)!.declarations[0]!.def.properties;
const docOf = (type: string, field: string) =>
  fieldsOf(type).find(({ name }) => name === field)!.jsDoc!;

const consumer = await read("tests/npm/consumer.ts") + await read("tests/npm/server.ts");
for (const [index, [path]] of entryPoints.entries()) {
  const specifier = posix.join(config.name, path);
  const lists = find(RegExp(`import \\{([^}]*)\\} from "${specifier}"`, "g"), consumer).join();
  testList(
    `tests/npm/consumer.ts, or server.ts, imports and uses each name that ${specifier} exports`,
    find(/(\w+)(?: as \w+)?\s*(?:,|$)/g, lists),
    namesOf(modules[index]!),
  );
}

const options = rowsWith("baseUrl");
const forOpenapiFetch = ["querySerializer", "bodySerializer", "pathSerializer", "Request"];
testList(
  "README has a row for each option of the client, except those of openapi-fetch",
  [...options.keys(), ...forOpenapiFetch],
  namesOf(fieldsOf("ClientOptions")),
);

/** Runs the command; resolves to what it prints. */
const command = async (...args: string[]) => {
  const flags = ["run", "--quiet", "--no-prompt", "--import-map=import_map.npm.json"];
  return (await run(deno, [...flags, "src/cli/main.ts", ...args], { cwd: root })).output;
};

/** What `--help` says about each flag, such as `--port N` and its meaning. */
const help = find(/^ +((?:-\w, )?--\w(?:.|\n {10})*)/gm, await command("--help"));
const refusals = await Promise.all(["check-key", "sandbox"].map((name) => command(name, "--none")));
const flags = find(/the options are ([^;]*);/g, refusals.join()).join(", ").split(", ");
testList(
  "HELP in src/cli/arguments.ts has an entry for each flag",
  help.map((entry) => entry.match(/--[\w-]+/)![0]),
  [...flags, "--help", "--version"],
);

/** How many milliseconds, or bytes, a unit may have. */
const UNITS = [1, 1_000, 60_000, 2 ** 10, 2 ** 20];
/** Whether a text has a value, in any unit, or no digits at all. */
const says = (text: string, value: number) =>
  !/\d/.test(text) ||
  find(/([\d,._]*\d)/g, text).map((digits) => Number(digits.replaceAll(/[,_]/g, "")))
    .some((number) => UNITS.some((unit) => number * unit === value));

const { timeout, retries, maxResponseBytes } = readClientOptions({ baseUrl });
for (const [name, value] of Object.entries({ timeout, retries, maxResponseBytes })) {
  const { tags } = docOf("ClientOptions", name);
  const texts: Record<string, string | undefined> = {
    README: options.get(name),
    "@default in src/api.ts": tags!.find(({ kind }) => kind === "default")?.value,
    "HELP in src/cli/arguments.ts": help.find((entry) => entry.startsWith(`--${name} `)),
  };
  testList(
    `Where the default of ${name} is told, it is ${value}, in any unit`,
    Object.keys(texts).filter((place) => texts[place] && !says(texts[place], value)),
    [],
  );
}

const errors = rowsWith("HttpError");
testList(
  "README has a row for each error",
  [...errors.keys()],
  namesOf(modules[0]!).filter((name) => /.Error$/.test(name) && name !== "ScamAddressError"),
);
testList(
  "README names the fields of each error in its row",
  [...errors].flatMap(([name, row]) =>
    fieldsOf(name).filter((field) => !field.isStatic && field.name !== "name")
      .filter((field) => !row.includes(`\`${field.name}\``))
      .map((field) => `${field.name} of ${name}`)
  ),
  [],
);

const sources = await listProject("src");
const code = (await Promise.all(sources.map(read))).join();
const { doc } = docOf("Issue", "rule");
testList(
  "The doc comment of `rule` in src/errors.ts has each rule that is no keyword of JSON Schema",
  find(/(?:rule[:=] |rule = |problemOf\()"(\w+)"/g, code).filter((rule) => !doc!.includes(rule)),
  [],
);

const rows = contributing.match(/^\|.*$/gm)!.join();
testList(
  "A table in CONTRIBUTING has each file, or folder, of src/",
  find(/src\/(\w+(?:\/|\.ts))/g, sources.join()).filter((part) =>
    !rows.includes(`/${part}\``) && !rows.includes(`\`${part}\``)
  ),
  [],
);

const texts = readme + contributing + await read("RECIPES.md");
testList(
  "Commands name only tasks that deno.json has",
  find(/(?:^|`|deno@[\d.]+ )(?:deno )?task ([a-z][\w:]*)/gm, texts).filter((name) =>
    !(name in config.tasks)
  ),
  [],
);
