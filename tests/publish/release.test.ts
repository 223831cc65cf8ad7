// The check that runs before publishing, in repositories made for the test.
import { expect } from "@std/expect";
import { join } from "node:path";
import { makeFolder, root } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";

/** Runs the check on a tag, in a repository of a version; the others are files that are not committed. */
async function check(version: string, tag: string, changelog: string, ...others: string[]) {
  await using repository = await makeFolder();
  const options = { cwd: repository.path };
  await repository.write("deno.json", { version });
  await repository.write("CHANGELOG.md", changelog);
  const author = ["-c", "user.name=Test", "-c", "user.email=test@service.example"];
  await mustRun("git", ["init", "--quiet"], options);
  await mustRun("git", ["add", "."], options);
  await mustRun("git", [...author, "commit", "--quiet", "--message=First"], options);
  for (const name of others) await repository.write(name, "");
  const script = join(root, "scripts/check_release.ts");
  const flags = ["--quiet", "--no-config", "--allow-read", "--allow-run=git"];
  return await run(deno, ["run", ...flags, script, tag], options);
}

/** A changelog with a version, and an older one. */
const changelogOf = (version: string) =>
  `# Changelog

## [Unreleased]

## [${version}] - 2026-01-31

### Added

- \`One\`,
  "more":
  - Part.

## [1.2.2] - 2026-01-01

- Old.
`;

for (const [version, distTag] of Object.entries({ "1.2.3": "latest", "2.0.0-beta.1": "next" })) {
  Deno.test(`check_release prints the dist-tag ${distTag} and the notes of ${version}`, async () => {
    const { success, stdout } = await check(version, `v${version}`, changelogOf(version));
    const notes = JSON.stringify('### Added\n\n- `One`, "more":\n  - Part.');
    expect([success, stdout]).toEqual([true, `dist-tag=${distTag}\nnotes=${notes}\n`]);
  });
}

const good = changelogOf("1.2.3");
const empty = "# Changelog\n\n## [1.2.3] - 2026-01-31\n\n## [1.2.2] - 2026-01-01\n\n- Old.\n";
const refused: [problem: string, tag: string, changelog: string, ...others: string[]][] = [
  ['The tag is "v1.2.4", but deno.json has the version "1.2.3"', "v1.2.4", good],
  ['The tag is "1.2.3", but', "1.2.3", good],
  ["CHANGELOG.md has no entries below a heading", "v1.2.3", changelogOf("1.2.30")],
  ["CHANGELOG.md has no entries", "v1.2.3", empty],
  ["CHANGELOG.md has no entries", "v1.2.3", good.replace("2026-01-31", "someday")],
  ["CHANGELOG.md has no entries", "v1.2.3", good.replace("2026-01-31", "2026-13-01")],
  ["There are changes that are not committed:\n?? new.ts", "v1.2.3", good, "new.ts"],
];
for (const [problem, ...args] of refused) {
  Deno.test(`check_release says "${problem}"`, async () => {
    const { success, stdout, stderr } = await check("1.2.3", ...args);
    expect([success, stdout]).toEqual([false, ""]);
    expect(stderr).toContain(`::error::${problem}`);
  });
}
