// The check that runs before publishing, in repositories made for the test.
import { expect } from "@std/expect";
import { join } from "node:path";
import { makeFolder, root } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";

const NOTES = "## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n### Added\n\n- A thing.\n";

interface Repository {
  version?: string;
  changelog?: string;
  /** Whether the remote's `main` has the commit. */
  merged?: boolean;
  /** Another tag. */
  other?: string;
}

/** Runs the check on a tag, in a repository made for it. */
async function check(
  tag: string,
  { version = "1.2.3", changelog = NOTES, merged = true, other = "v1.2.2" }: Repository,
) {
  await using repository = await makeFolder();
  await repository.write("deno.json", { version });
  await repository.write("CHANGELOG.md", changelog);
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
