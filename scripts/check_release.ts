/**
 * Refuses a release that is not ready. Otherwise prints npm's dist-tag for it and its notes, as JSON,
 * in the form of outputs of a GitHub workflow's step: `dist-tag=latest`, `notes="### Added …"`.
 *
 *     deno task check:release TAG
 *
 * The tag must be `v` and the version in deno.json, `CHANGELOG.md` must have a section for the
 * version, with a date and at least one entry, the commit must be on the remote's `main`, and no
 * newer version may have a tag, because npm's `latest` would go back.
 */

import { run } from "./support/process.ts";

/**
 * The entries of a version's section, which has a date in its heading. Each is one line, because
 * GitHub shows the line breaks of a release's notes.
 */
function releaseNotes(changelog: string, version: string): string | undefined {
  const section = changelog.split(/^## /m).find((text) => text.startsWith(`[${version}] - `));
  const [, notes] = section?.match(/^\S+ - \d{4}-\d{2}-\d{2}\r?\n([^]*\n- \S[^]*)/) ?? [];
  return notes?.trim().replace(/\n {2}(?![ -])/g, " ");
}

const [tag = ""] = Deno.args;
const { version } = JSON.parse(await Deno.readTextFile("deno.json"));
const notes = releaseNotes(await Deno.readTextFile("CHANGELOG.md"), version);
const ancestor = ["merge-base", "--is-ancestor", "HEAD", "origin/main"];
const { success: isOnMain, output } = await run("git", ancestor);

const { stdout: tags } = await run("git", ["tag", "--list", "v*"]);
const { compare } = new Intl.Collator("en", { numeric: true });
const newer = tags.split("\n").find((other) =>
  !other.includes("-") && compare(other, `v${version}`) > 0
);

const problems = [
  tag !== `v${version}` &&
  `The tag is "${tag}", but deno.json has version "${version}": tag "v${version}"`,
  !notes && `CHANGELOG.md has no entries below a heading "## [${version}] - YYYY-MM-DD": add them`,
  !isOnMain &&
  `The tagged commit is not on "origin/main": merge it first${output && `; ${output}`}`,
  newer && `"${newer}" is newer: only the newest version gets releases`,
].filter(Boolean);

for (const problem of problems) console.error(`::error::${problem}`);
if (problems.length) Deno.exit(1);
console.log(`dist-tag=${version.includes("-") ? "next" : "latest"}`);
console.log(`notes=${JSON.stringify(notes)}`);
