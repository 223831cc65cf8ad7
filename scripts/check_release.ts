/**
 * Refuses a tag that is not ready for release. Otherwise prints npm's dist-tag and the release's notes
 * as JSON, in the form of outputs of a GitHub workflow's step: `notes="### Added …"`.
 *
 *     deno task check:release TAG
 *
 * The task runs `check` and the fast suite first; `publish.yml` runs this script alone, and all suites
 * in a job of their own.
 */

import { mustRun } from "./support/process.ts";

const [tag = ""] = Deno.args;
const { version } = JSON.parse(await Deno.readTextFile("deno.json"));
const sections = (await Deno.readTextFile("CHANGELOG.md")).split(/^## /m);
const section = sections.find((text) => {
  const [, name, date = ""] = /^\[(.+)\] - (\d{4}-\d\d-\d\d)\n/.exec(text) ?? [];
  return name === version && !Number.isNaN(Date.parse(date));
}) ?? "";
// Each entry is one line, because GitHub shows the line breaks of a release's notes.
const notes = section.replace(/^.*/, "").trim().replace(/\n {2}(?![ -])/g, " ");
const changes = await mustRun("git", ["status", "--porcelain"]);

const problems = [
  tag !== `v${version}` && `The tag is "${tag}", but deno.json has the version "${version}"`,
  !notes && `CHANGELOG.md has no entries below a heading "## [${version}] - YYYY-MM-DD"`,
  changes && `There are changes that are not committed:\n${changes}`,
].filter(Boolean);
for (const problem of problems) console.error(`::error::${problem}`);
if (problems.length > 0) Deno.exit(1);

console.log(`dist-tag=${version.includes("-") ? "next" : "latest"}`);
console.log(`notes=${JSON.stringify(notes)}`);
