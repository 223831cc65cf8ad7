import { readdir } from "node:fs/promises";
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
