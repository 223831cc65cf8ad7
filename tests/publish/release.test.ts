// The check that runs before publishing, in repositories made for the test.
import { expect } from "@std/expect";
import { join } from "node:path";
import { makeFolder, root } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";

const NOTES = "## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n### Added\n\n- A thing.\n";

const BREAKING = NOTES.replace("A thing", "**Breaking:** A thing");

interface Repository {
  version?: string;
  changelog?: string;
  readme?: string;
  /** The version in `src/cli/version.ts`. */
  copy?: string;
  /** Whether the remote's `main` has the commit. */
  merged?: boolean;
  /** Another tag. */
  other?: string;
}

/** Runs the check on a tag, in a repository made for it. */
async function check(
  tag: string,
  { version = "1.2.3", changelog = NOTES, readme = "", copy, merged = true, other = "v1.2.2" }:
    Repository,
) {
  await using repository = await makeFolder();
  await repository.write("deno.json", { version });
  await repository.write("CHANGELOG.md", changelog);
  await repository.write("README.md", readme);
  await Deno.mkdir(join(repository.path, "src/cli"), { recursive: true });
  await repository.write("src/cli/version.ts", `export const version = "${copy ?? version}";`);
  const options = { cwd: repository.path };
  const git = (...args: string[]) => mustRun("git", args, options);
  const author = ["-c", "user.name=Test", "-c", "user.email=test@service.example"];
  await git("init", "--quiet");
  await git(...author, "commit", "--quiet", "--allow-empty", "--message=First");
  await git("update-ref", "refs/remotes/origin/main", "HEAD");
  await git("tag", other);
  if (!merged) await git(...author, "commit", "--quiet", "--allow-empty", "--message=Second");
  const script = join(root, "scripts/check_release.ts");
  const args = ["run", "--quiet", "--no-config", "--allow-read", "--allow-run=git", script, tag];
  return await run(deno, args, options);
}

for (const version of ["0.2.0", "2.0.0", "1.0.0-beta.1"]) {
  Deno.test(`check_release accepts what breaks in ${version}`, async () => {
    const changelog = BREAKING.replace("1.2.3", version);
    const { success, output } = await check(`v${version}`, { version, changelog, other: "v0.1.0" });
    expect([success, output]).toEqual([true, expect.stringContaining("**Breaking:**")]);
  });
}

for (const [version, distTag] of Object.entries({ "1.2.3": "latest", "2.0.0-beta.1": "next" })) {
  Deno.test(`check_release prints the dist-tag ${distTag} and the notes of ${version}`, async () => {
    const more = '- `Another`,\n  "more":\n  - Part.\n\n## [1.2.2] - 2026-01-01\n\n- Old.\n';
    const changelog = NOTES.replace("1.2.3", version) + more;
    const repository = { version, changelog, other: "v3.0.0-beta.1" };
    const { stdout, success } = await check(`v${version}`, repository);
    const notes = JSON.stringify('### Added\n\n- A thing.\n- `Another`, "more":\n  - Part.');
    expect([success, stdout]).toEqual([true, `dist-tag=${distTag}\nnotes=${notes}\n`]);
  });
}

const refused: Record<string, [tag: string, repository: Repository, problem: string]> = {
  "a tag that is not the version": ["v1.2.4", {}, 'The tag is "v1.2.4", but deno.json has'],
  "a tag without the v": ["1.2.3", {}, 'The tag is "1.2.3", but deno.json has'],
  "a version that the changelog lacks": [
    "v1.2.3",
    { changelog: NOTES.replace("[1.2.3]", "[1.2.30]") },
    'CHANGELOG.md has no entries below a heading "## [1.2.3] - YYYY-MM-DD"',
  ],
  "a version without a date": [
    "v1.2.3",
    { changelog: NOTES.replace("2026-01-31", "soon") },
    "CHANGELOG.md has no entries",
  ],
  "a day that no month has": [
    "v1.2.3",
    { changelog: NOTES.replace("01-31", "02-30") },
    'CHANGELOG.md has the date "2026-02-30"',
  ],
  "a date without such a month": [
    "v1.2.3",
    { changelog: NOTES.replace("01-31", "13-45") },
    'CHANGELOG.md has the date "2026-13-45"',
  ],
  "entries that are left": [
    "v1.2.3",
    { changelog: NOTES.replace("ed]\n", "ed]\n\n### Fixed\n\n- Another.\n") },
    'CHANGELOG.md has entries below "[Unreleased]": move them to "[1.2.3]"',
  ],
  "what breaks in a minor version": [
    "v1.2.0",
    { version: "1.2.0", changelog: BREAKING.replace("1.2.3", "1.2.0"), other: "v1.1.0" },
    '"1.2.0" has a "**Breaking:**" entry: raise the minor version, from 1.0.0 on the major one',
  ],
  "what breaks in a patch before 1.0.0": [
    "v0.2.1",
    { version: "0.2.1", changelog: BREAKING.replace("1.2.3", "0.2.1"), other: "v0.2.0" },
    '"0.2.1" has a "**Breaking:**" entry',
  ],
  "a stale version of the command": [
    "v1.2.3",
    { copy: "1.2.2" },
    'src/cli/version.ts has another version than "1.2.3": run "deno task version"',
  ],
  "a package that is not published yet": [
    "v1.2.3",
    { readme: "The package is not published yet: wait." },
    'README.md says that the package is "not published yet": remove the paragraph',
  ],
  "a section without entries": [
    "v1.2.3",
    { changelog: NOTES.replace("- A thing.", "") + "\n## [1.2.2] - 2026-01-01\n\n- Old.\n" },
    "CHANGELOG.md has no entries",
  ],
  "a commit that is not on main": ["v1.2.3", { merged: false }, 'not on "origin/main"'],
  "a version older than a tag": ["v1.2.3", { other: "v1.10.0" }, '"v1.10.0" is newer'],
};
for (const [name, [tag, repository, problem]] of Object.entries(refused)) {
  Deno.test(`check_release refuses ${name}`, async () => {
    const { success, stdout, output } = await check(tag, repository);
    expect([success, stdout]).toEqual([false, ""]);
    expect(output).toContain(problem);
    expect(output.match(/::error::/g)).toHaveLength(1);
  });
}
