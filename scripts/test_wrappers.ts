/**
 * Tests the npm package with packages that wrap the global `fetch`, each in a project of its own.
 *
 *     deno task test:wrappers [--newest] [FOLDER|TARBALL]
 *
 * Without a folder or tarball it is `npm/`, which `deno task build:npm` makes. The versions in
 * `tests/wrappers/versions.json` run on every supported Node.js. With `--newest`, the newest versions
 * are installed, which may need the newest Node.js.
 */

import { join } from "node:path";
import versions from "../tests/wrappers/versions.json" with { type: "json" };
import { listFiles, makeFolder, root } from "./support/files.ts";
import { installPackage, takePackage } from "./support/npm.ts";
import { mustRun } from "./support/process.ts";

const args = Deno.args.filter((argument) => argument !== "--newest");
const newest = args.length < Deno.args.length;

const work = await makeFolder();
Deno.test.afterAll(() => work[Symbol.asyncDispose]());
const { tarball } = await takePackage(work.path, args);

for (const [name, pinned] of Object.entries(versions)) {
  const wrapper = `${name}@${newest ? "latest" : pinned}`;
  Deno.test(`requests arrive with ${wrapper}`, async () => {
    const project = join(work.path, name.replace("/", "+"));
    await installPackage(tarball, project, wrapper);
    for (const file of await listFiles(join(root, "tests/wrappers"))) {
      await Deno.copyFile(join(root, "tests/wrappers", file), join(project, file));
    }
    await mustRun("node", ["program.mjs", name], { cwd: project });
  });
}
