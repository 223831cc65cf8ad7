/**
 * Refuses a release that is not ready, and prints `dist-tag=…` for the one that is, in the form that
 * GitHub's workflows take as an output.
 *
 *     deno task check:release TAG
 *
 * The tag must be `v` and the version in deno.json, `CHANGELOG.md` must have a section for the
 * version, with a date and at least one entry, and the commit must be on the remote's `main`.
 */

import { run } from "./support/process.ts";

/** The entries that the changelog has for a version, or `undefined` when it has no such section. */
function releaseNotes(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).map((section) => section.split(/\r?\n/));
  const section = sections.find(([title]) => title!.startsWith(`[${version}] - `));
  if (!section || !/ - \d{4}-\d{2}-\d{2}$/.test(section[0]!)) return undefined;
  return section.slice(1).filter((line) => /^- \S/.test(line)).join("\n");
}

const [tag = ""] = Deno.args;
const { version } = JSON.parse(await Deno.readTextFile("deno.json"));
const changelog = await Deno.readTextFile("CHANGELOG.md");
const { success: isOnMain, output } = await run("git", [
  "merge-base",
  "--is-ancestor",
  "HEAD",
  "origin/main",
]);

const problems: string[] = [];
if (tag !== `v${version}`) {
  problems.push(`The tag is "${tag}", but deno.json has version "${version}": tag "v${version}"`);
}
if (!releaseNotes(changelog, version)) {
  problems.push(
    `CHANGELOG.md has no entries below a heading "## [${version}] - YYYY-MM-DD": add them`,
  );
}
if (!isOnMain) {
  problems.push(
    `The tagged commit is not on "origin/main": merge it first${output && `; ${output}`}`,
  );
}

for (const problem of problems) console.error(`::error::${problem}`);
if (problems.length) Deno.exit(1);
console.log(`dist-tag=${version.includes("-") ? "next" : "latest"}`);
