// Lists in texts are those of the code. `check` runs this too.
import { posix } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { listProject, read, root } from "../../scripts/support/files.ts";
import { NODE_VERSIONS } from "../../scripts/support/npm.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";
import { RANGES } from "../../src/checks.ts";
import { readClientOptions } from "../../src/options.ts";
import { createSandbox, DEMO_KEY } from "../../src/sandbox/service.ts";
import { baseUrl } from "../support/client.ts";
import { testList } from "../support/lists.ts";

/** What the group of a pattern matches, each once. */
function find(pattern: RegExp, text = ""): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, group = ""]) => group))];
}

/** What stands below a heading. */
const section = (text: string, heading: string) =>
  text.split(`\n## ${heading}\n`)[1]!.split("\n## ")[0]!;

const [readme, contributing] = [await read("README.md"), await read("CONTRIBUTING.md")];
const sources = await listProject("src");

/** The rows of a table in README: the name in the first cell, and the other cells. */
const tableOf = (heading: string) =>
  find(/^\| `(.*) \|$/gm, section(readme, heading)).map((row) => row.split(/`? +\| /));

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
const docOf = (type: string, field: string) => {
  const { jsDoc } = fieldsOf(type).find(({ name }) => name === field)!;
  const value = jsDoc!.tags?.find(({ kind }) => kind === "default")?.value;
  return { text: jsDoc!.doc!, default: value?.replaceAll(/["_]/g, "") };
};

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

const options = new Map(tableOf("Options").map(([name, value]) => [name!, value!]));
const forOpenapiFetch = ["querySerializer", "bodySerializer", "pathSerializer", "Request"];
testList(
  "README, Options, has a row for each option of the client, except those of openapi-fetch",
  [...options.keys(), ...forOpenapiFetch],
  namesOf(fieldsOf("ClientOptions")),
);

const { timeout, retries, maxResponseBytes } = readClientOptions({ baseUrl });
const defaults = {
  timeout: [`${timeout.toLocaleString("en")} ms`, timeout],
  retries: [retries, retries],
  maxResponseBytes: [`${maxResponseBytes / 2 ** 20} MiB`, maxResponseBytes],
};
testList(
  "README, and @default in src/api.ts, have the default of each option",
  Object.keys(defaults).map((name) =>
    `${name}: ${options.get(name)}, ${docOf("ClientOptions", name).default}`
  ),
  Object.entries(defaults).map(([name, both]) => `${name}: ${both.join(", ")}`),
);

const limited = ["timeout", "totalTimeout", "retries"] as const;
testList(
  "The docs in src/api.ts have the range of each option",
  limited.map((name) => {
    const [min, max] = docOf("ClientOptions", name).text.match(/[\d,]*\d/g)!;
    return `${name}: ${min} to ${max}`;
  }),
  limited.map((name) => {
    const { min, max } = RANGES[name];
    return `${name}: ${min.toLocaleString("en")} to ${max.toLocaleString("en")}`;
  }),
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

const helped = Object.entries({
  timeout: timeout / 1_000,
  retries,
  host: docOf("ServeSandboxOptions", "host").default,
  key: `"${DEMO_KEY}=${createSandbox().keys.get(DEMO_KEY)}"`,
}).map(([name, value]) => `--${name} … ${value}`);
testList(
  "HELP in src/cli/arguments.ts has the default of each flag, in digits",
  helped.filter((text) => {
    const [flag, value] = text.split("…");
    return help.some((entry) => entry.startsWith(flag!) && entry.includes(value!));
  }),
  helped,
);

testList(
  "README has a row for each error, with its fields, and with `cause` for a NetworkError",
  tableOf("Errors").map(([name, , fields]) => `${name}: ${find(/`(\w+)`/g, fields).sort()}`),
  namesOf(modules[0]!).filter((name) => /.Error$/.test(name) && name !== "ScamAddressError")
    .map((name) => {
      const fields = fieldsOf(name).filter(({ isStatic }) => !isStatic);
      const own = name === "NetworkError" ? ["cause"] : [];
      return `${name}: ${[...namesOf(fields), ...own].filter((name) => name !== "name").sort()}`;
    }),
);

const code = (await Promise.all(sources.map(read))).join();
testList(
  "The doc comment of `rule` in src/errors.ts has each rule that is no keyword of JSON Schema",
  find(/`(\w+)`/g, docOf("Issue", "rule").text).filter((name) => name !== "call"),
  find(/(?:rule[:=] |rule = |problemOf\()"(\w+)"/g, code),
);

const layout = section(contributing, "Layout");
const parts = find(/src\/(\w+(?:\/|\.ts))/g, sources.join());
testList(
  "CONTRIBUTING, Layout, says what is in each file, or folder, of src/",
  parts.filter((part) => layout.includes(`/${part}\``) || layout.includes(`\`${part}\``)),
  parts,
);

const texts = readme + contributing + await read("RECIPES.md");
testList(
  "Texts name only tasks that deno.json has",
  find(/\bdeno(?:@[\d.]+)? task ([a-z][\w:]*)/g, texts).filter((name) => !(name in config.tasks)),
  [],
);

testList(
  "The oldest Node.js that README names is the first of NODE_VERSIONS in scripts/support/npm.ts",
  find(/Node\.js (?:from |version )*(\d+)/g, readme).sort((a, b) => Number(a) - Number(b)).slice(
    0,
    1,
  ),
  [`${parseInt(NODE_VERSIONS[0])}`],
);
