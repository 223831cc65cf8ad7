/**
 * Refuses a release that is not ready. Otherwise prints npm's dist-tag for it and its notes, as JSON,
 * in the form of outputs of a GitHub workflow's step: `dist-tag=latest`, `notes="### Added …"`.
 *
 *     deno task check:release TAG
 *
 * The task runs `check` and the fast suite before; `publish.yml` runs this script alone, and all
 * suites in a job of their own.
 */

import { run } from "./support/process.ts";

const [tag = ""] = Deno.args;
const { version } = JSON.parse(await Deno.readTextFile("deno.json"));
const readme = await Deno.readTextFile("README.md");
const sections = (await Deno.readTextFile("CHANGELOG.md")).split(/^## /m);
const section = (heading: string) => sections.find((text) => text.startsWith(heading));

const [, date = "", entries] =
  section(`[${version}] - `)?.match(/^\S+ - (\d{4}-\d{2}-\d{2})\r?\n([^]*\n- \S[^]*)/) ?? [];
// Each entry is one line, because GitHub shows the line breaks of a release's notes.
const notes = entries?.trim().replace(/\n {2}(?![ -])/g, " ");
const latest = new Date(Date.now() + 14 * 3_600_000).toJSON(); // where today begins first, UTC+14
const isDay = JSON.stringify(new Date(date)).includes(date) && date <= latest;
const mayBreak = /^(0\.\d+|\d+\.0)\.0(-|$)/.test(version);

const ancestor = ["merge-base", "--is-ancestor", "HEAD", "origin/main"];
const { success: isOnMain, output } = await run("git", ancestor);

const { stdout: changes } = await run("git", ["status", "--porcelain"]);
const { stdout: tags } = await run("git", ["tag", "--list", "v*"]);
const { compare } = new Intl.Collator("en", { numeric: true });
const newer = tags.split("\n").find((other) =>
  !other.includes("-") && compare(other, `v${version}`) > 0
);

const problems = [
  tag !== `v${version}` &&
  `The tag is "${tag}", but deno.json has version "${version}": tag "v${version}"`,
  !notes && `CHANGELOG.md has no entries below a heading "## [${version}] - YYYY-MM-DD": add them`,
  !isDay && `CHANGELOG.md has the date "${date}" for the version: write the day of the release`,
  section("[Unreleased]")?.match(/^- /m) &&
  `CHANGELOG.md has entries below "[Unreleased]": move them to "[${version}]"`,
  notes?.match(/^- \**Breaking\b/m) && !mayBreak &&
  `"${version}" has a "**Breaking:**" entry: raise the minor version, from 1.0.0 on the major one`,
  /not\s+published\s+yet/i.test(readme) &&
  `README.md says that the package is "not published yet": remove the paragraph`,
  changes && `There are changes that are not committed: commit or undo them\n${changes}`,
  !isOnMain &&
  `The tagged commit is not on "origin/main": merge it first${output && `; ${output}`}`,
  newer && `"${newer}" is newer: only the newest version gets releases`,
].filter(Boolean);

for (const problem of problems) console.error(`::error::${problem}`);
if (problems.length) Deno.exit(1);
console.log(`dist-tag=${version.includes("-") ? "next" : "latest"}`);
console.log(`notes=${JSON.stringify(notes)}`);
