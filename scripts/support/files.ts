import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";

/** The project's folder. */
export const root: string = resolve(import.meta.dirname!, "../..");

/** Lists the files below a folder, relative to it, with slashes and sorted. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort();
}

/** Lists the files below folders of the project, by their paths in it. */
export async function listProject(...folders: string[]): Promise<string[]> {
  const lists = await Promise.all(folders.map((folder) => listFiles(join(root, folder))));
  return lists.flatMap((files, index) => files.map((file) => `${folders[index]}/${file}`));
}

/** Reads a file of the project. */
export const read = (file: string): Promise<string> => readFile(join(root, file), "utf8");

/** Makes an empty folder; `await using` removes it. */
export async function makeFolder() {
  const path = await mkdtemp(join(tmpdir(), "scam-address-"));
  return {
    path,
    /** Writes a file, as text or else as JSON; resolves to its path. */
    async write(name: string, content: unknown) {
      const file = resolve(path, name);
      const text = typeof content === "string" ? content : JSON.stringify(content, undefined, 2);
      await writeFile(file, text);
      return file;
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** A folder that is removed at the end of its scope. */
export type Folder = Awaited<ReturnType<typeof makeFolder>>;

/** Copies files and folders of the project into a new folder; `await using` removes it. */
export async function copyProject(names: readonly string[]) {
  const folder = await makeFolder();
  for (const name of names) {
    await cp(join(root, name), join(folder.path, name), { recursive: true });
  }
  return folder;
}
