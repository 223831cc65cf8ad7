// The check that runs before publishing, in repositories made for the test.
import { expect } from "@std/expect";
import { join } from "node:path";
import { makeFolder, root } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";

const NOTES = "## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n### Added\n\n- A thing.\n";
/** When the day of NOTES begins, in the time zone where it begins first. */
const FIRST = "2026-01-30T10:00:00Z";

interface Repository {
  version?: string;
  tag?: string;
  changelog?: string;
  readme?: string;
  /** Whether the remote's `main` has the commit. */
  merged?: boolean;
  /** Whether a file is changed and not committed. */
  changed?: boolean;
  /** Another tag. */
  other?: string;
  /** The time of the check. */
  now?: string;
}

/** Runs the check on a tag, in a repository made for it. */
async function check(
  { version = "1.2.3", tag = `v${version}`, changelog = NOTES, readme = "", ...rest }: Repository,
) {
  const { merged = true, changed = false, other = "v0.1.2", now = FIRST } = rest;
  await using repository = await makeFolder();
  await repository.write("deno.json", { version });
  await repository.write("CHANGELOG.md", changelog);
  await repository.write("README.md", readme);
  const options = { cwd: repository.path };
  const git = (...args: string[]) => mustRun("git", args, options);
  const author = ["-c", "user.name=Test", "-c", "user.email=test@service.example"];
  await git("init", "--quiet");
  await git("add", ".");
  await git(...author, "commit", "--quiet", "--message=First");
  await git("update-ref", "refs/remotes/origin/main", "HEAD");
  await git("tag", other);
  if (changed) await repository.write("README.md", "changed");
  if (!merged) await git(...author, "commit", "--quiet", "--allow-empty", "--message=Second");
  const script = join(root, "scripts/check_release.ts");
  const clock = `--preload=data:text/javascript,Date.now = () => Date.parse("${now}")`;
  const flags = ["--quiet", "--no-config", clock, "--allow-read", "--allow-run=git"];
  return await run(deno, ["run", ...flags, script, tag], options);
}

for (const [version, distTag] of Object.entries({ "1.2.3": "latest", "2.0.0-beta.1": "next" })) {
  Deno.test(`check_release prints the dist-tag ${distTag} and the notes of ${version}`, async () => {
    const more = '- `Another`,\n  "more":\n  - Part.\n\n## [1.2.2] - 2026-01-01\n\n- Old.\n';
    const changelog = NOTES.replace("1.2.3", version) + more;
    const { stdout, success } = await check({ version, changelog, other: "v3.0.0-beta.1" });
    const notes = JSON.stringify('### Added\n\n- A thing.\n- `Another`, "more":\n  - Part.');
    expect([success, stdout]).toEqual([true, `dist-tag=${distTag}\nnotes=${notes}\n`]);
  });
}

/** The changelog of a version that breaks what programs use. */
const breaking = (version: string) =>
  NOTES.replace("A thing", "**Breaking:** A thing").replace("1.2.3", version);

for (const version of ["0.2.0", "2.0.0", "1.0.0-beta.1"]) {
  Deno.test(`check_release accepts what breaks in ${version}`, async () => {
    const { success, stdout } = await check({ version, changelog: breaking(version) });
    expect([success, stdout]).toEqual([true, expect.stringContaining("Breaking")]);
  });
}

const NONE = 'CHANGELOG.md has no entries below a heading "## [1.2.3] - YYYY-MM-DD": add them';
const BREAKS = 'has a "**Breaking:**" entry: raise the minor version, from 1.0.0 on the major one';

const refused: [problem: string, repository: Repository][] = [
  ['The tag is "v1.2.4", but deno.json has version "1.2.3": tag "v1.2.3"', { tag: "v1.2.4" }],
  ['The tag is "1.2.3", but', { tag: "1.2.3" }],
  [NONE, { changelog: NOTES.replace("[1.2.3]", "[1.2.30]") }],
  [NONE, { changelog: NOTES.replace("2026-01-31", "soon") }],
  [NONE, { changelog: NOTES.replace("- A thing.", "") + "\n## [1.2.2] - 2026-01-01\n\n- Old.\n" }],
  ['the date "2026-02-30"', { changelog: NOTES.replace("01-31", "02-30") }],
  ['the date "2026-13-45"', { changelog: NOTES.replace("01-31", "13-45") }],
  ['the date "2026-01-31"', { now: "2026-01-30T09:59:59Z" }],
  [
    'CHANGELOG.md has entries below "[Unreleased]": move them to "[1.2.3]"',
    { changelog: NOTES.replace("ed]\n", "ed]\n\n### Fixed\n\n- Another.\n") },
  ],
  [`"1.2.0" ${BREAKS}`, { version: "1.2.0", changelog: breaking("1.2.0") }],
  [`"0.2.1" ${BREAKS}`, { version: "0.2.1", changelog: breaking("0.2.1") }],
  ['"not published yet": remove the paragraph', { readme: "It is not published yet: wait." }],
  ["There are changes that are not committed: commit or undo them", { changed: true }],
  ['not on "origin/main": merge it first', { merged: false }],
  ['"v1.10.0" is newer', { other: "v1.10.0" }],
];
for (const [problem, repository] of refused) {
  Deno.test(`check_release says ${problem}`, async () => {
    const { success, stdout, output } = await check(repository);
    expect([success, stdout]).toEqual([false, ""]);
    expect(output).toContain(problem);
    expect(output.match(/::error::/g)).toHaveLength(1);
  });
}
