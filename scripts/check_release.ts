/**
 * Refuses a release that is not ready. Otherwise prints npm's dist-tag for it, in the form of an
 * output of a GitHub workflow's step: `dist-tag=latest`.
 *
 *     deno task check:release TAG
 *
 * The tag must be `v` and the version in deno.json, `CHANGELOG.md` must have a section for the
 * version, with a date and at least one entry, and the commit must be on the remote's `main`.
 */

import { run } from "./support/process.ts";

/** Whether a changelog has a dated section for a version, with at least one entry. */
function hasReleaseNotes(changelog: string, version: string): boolean {
  const section = changelog.split(/^## /m).find((text) => text.startsWith(`[${version}] - `));
  return /^\S+ - \d{4}-\d{2}-\d{2}\r?\n[^]*\n- \S/.test(section ?? "");
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
if (!hasReleaseNotes(changelog, version)) {
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
