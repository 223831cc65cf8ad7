// Numbers that texts repeat are those of the code.
import { expect } from "@std/expect";
import { join } from "node:path";
import { HttpError, TimeoutError } from "../../mod.ts";
import { listFiles, root } from "../../scripts/support/files.ts";
import { isApiKey } from "../../src/api_key.ts";
import { RANGES } from "../../src/checks.ts";
import { EXIT, HELP } from "../../src/cli/arguments.ts";
import { readClientOptions } from "../../src/options.ts";
import { createSandbox, DEMO_KEY } from "../../src/sandbox/service.ts";
import { MAX_ERROR_BODY, Secrets } from "../../src/transport/redact.ts";
import { retryDelay } from "../../src/transport/retry.ts";
import { baseUrl } from "../support/client.ts";

const read = (file: string) => Deno.readTextFile(join(root, file));
const withCommas = (number: number) => number.toLocaleString("en");

/** The first number from 1 on of which something is true. */
function first(isTrue: (number: number) => boolean): number {
  for (let number = 1; number < 10_000; number++) if (isTrue(number)) return number;
  return Infinity;
}

const { maxResponseBytes, retries, timeout } = readClientOptions({ baseUrl });
const oldestTypeScript = /TYPESCRIPT_VERSIONS = \["(\d+\.\d+)/;
const [, typescript] = oldestTypeScript.exec(await read("scripts/test_npm.ts"))!;

const longestKey = first((length) => !isApiKey("k".repeat(length + 1)));
const shortestSecret = first((length) => {
  const secrets = new Secrets();
  secrets.add("k".repeat(length));
  return secrets.redact("k".repeat(64)) !== "k".repeat(64);
});

const errorWith = (status: number, retryAfter = 0) =>
  new HttpError("", { response: { status, headers: new Headers(), body: "" }, retryAfter });
const statuses = Array.from({ length: 200 }, (_, index) => 400 + index);
const temporary = statuses.filter((status) => errorWith(status).isTemporary);

/** The longest wait before a retry, in milliseconds: by default, and if the service asks for it. */
const wait = (attempt: number) => retryDelay(new TimeoutError("", { timeout }), attempt, 1)!;
const askedWait = (seconds: number) => retryDelay(errorWith(503, seconds), 1, 1);
const longestAsked = first((seconds) => askedWait(seconds + 1) === undefined);
const attempts = (retries + 1) * timeout;
const retried = Array.from({ length: retries }, (_, index) => index + 1);
const longestCall = retried.reduce((sum, attempt) => sum + wait(attempt), attempts);
const longestAskedCall = attempts + retries * askedWait(longestAsked)!;

/** Numbers, what sentences about them have, how they stand in these, and which files have them. */
type Fact = [values: unknown[], topic: RegExp, pattern: RegExp, files: string[]];

const facts: Record<string, Fact> = {
  "the length of a key": [
    [withCommas(longestKey)],
    /printable ASCII/,
    /\d[\d,]{3,}/g,
    ["README.md", "SECURITY.md", "src/api.ts"],
  ],
  "the length of a key that is redacted": [
    [shortestSecret],
    /\bkeys?\b/,
    /\d+(?= characters or more)/g,
    ["README.md", "SECURITY.md", "src/errors.ts"],
  ],
  "the size of a body": [
    [maxResponseBytes / 2 ** 20],
    /maxResponseBytes|request body/,
    /\d+(?= MiB)/g,
    ["README.md", "src/sandbox/server.ts"],
  ],
  "what an error keeps": [
    [MAX_ERROR_BODY / 2 ** 10],
    /KiB/,
    /\d+(?= KiB)/g,
    ["README.md", "SECURITY.md", "src/errors.ts"],
  ],
  "the waits before retries": [
    [wait(1) / 1_000, wait(2) / 1_000, wait(100) / 1_000],
    /\b(twice|doubl\w+)\b/,
    /[\d.]+(?= seconds?)/g,
    ["README.md"],
  ],
  "the time of a call": [
    [Math.ceil(longestCall / 1_000), longestAskedCall / 1_000],
    /\bdefaults\b/,
    /(?<=(?:within|most) )\d+(?= seconds)/g,
    ["README.md"],
  ],
  "the longest `Retry-After`": [
    [longestAsked],
    /Retry-After|that header/,
    /(?<=more than )\d+(?= seconds)/g,
    ["README.md", "SECURITY.md"],
  ],
  "what is added to `Retry-After`": [
    [(askedWait(longestAsked)! / longestAsked - 1_000) / 10],
    /Retry-After/,
    /\d+(?= %)/g,
    ["CHANGELOG.md"],
  ],
  "how much of a key is looked for": [
    [/MAX_START = (\d+)/.exec(await read("src/transport/redact.ts"))![1]],
    /characters of a key/,
    /(?<=first )\d+(?= characters)/g,
    ["SECURITY.md"],
  ],
  "the exit status of a key that is not valid": [
    [EXIT.invalid],
    /exit status/,
    /(?<=exit status is )\d(?= for)/g,
    ["CHANGELOG.md"],
  ],
  "the exit statuses with an error": [
    [`${EXIT.usage} or ${EXIT.failed}`],
    /exit status/,
    /(?<=exit status )\d or \d/g,
    ["RECIPES.md"],
  ],
  "the temporary statuses": [
    temporary,
    /\b408\b/,
    /\b[45]\d\d\b/g,
    ["README.md", "src/errors.ts"],
  ],
  "the version of TypeScript": [
    [typescript],
    /TypeScript/,
    /(?<=TypeScript )\d+\.\d+(?= or newer)/g,
    ["README.md"],
  ],
};

/** The sentences, items and rows of a text, or of a module's doc comments, each in one line. */
async function sentencesOf(file: string): Promise<string[]> {
  const text = await read(file);
  const docs = file.endsWith(".ts") ? text.match(/\/\*\*[^]*?\*\//g)!.join("\n\n") : text;
  return docs.replaceAll(/^ *\/?\*+(?= |$)/gm, "")
    .split(/(?<=[.!?])\s+|\n\s*\n|\n\s*[|-]/)
    .map((sentence) => sentence.replaceAll(/\s+/g, " "));
}

const modules = (await listFiles(join(root, "src"))).map((file) => `src/${file}`)
  .filter((file) => /^src\/(\w+|sandbox\/\w+|cli\/main)\.ts$/.test(file));
const texts: Record<string, string[]> = {};
for (
  const file of [
    "README.md",
    "RECIPES.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    ...modules,
  ]
) {
  texts[file] = await sentencesOf(file);
}

for (const [fact, [values, topic, pattern, files]] of Object.entries(facts)) {
  Deno.test(`texts say ${fact} as the code has it`, () => {
    for (const [file, sentences] of Object.entries(texts)) {
      const found = sentences.filter((sentence) => topic.test(sentence))
        .flatMap((sentence) => sentence.match(pattern) ?? []);
      if (found.length === 0 && !files.includes(file)) continue;
      expect([file, ...new Set(found)]).toEqual([file, ...values.map(String)]);
    }
  });
}

Deno.test("the docs of options have the range of each", async () => {
  const api = await read("src/api.ts");
  for (const name of ["timeout", "totalTimeout", "retries"] as const) {
    const pattern = `from ([\\d,]+) to ([\\d,]+)(?:(?!\\*/)[^])*\\*/\\s+${name}\\?:`;
    const [, ...range] = RegExp(pattern).exec(api) ?? [];
    const { min, max } = RANGES[name];
    expect([name, range]).toEqual([name, [withCommas(min), withCommas(max)]]);
  }
});

Deno.test("--help has the defaults", () => {
  expect(HELP).toMatch(RegExp(`--timeout(?:(?!--)[^])* ${timeout / 1_000} seconds\n`));
  expect(HELP).toMatch(RegExp(`--retries .* ${retries} by default\n`));
  expect(HELP).toContain(`"${DEMO_KEY}=${createSandbox().keys.get(DEMO_KEY)}" by`);
});
