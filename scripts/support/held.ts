import { join } from "node:path";
import { root } from "./files.ts";

/** A package that is not updated. */
export interface Held {
  name: string;
  /** Its version, or how that begins. */
  version: string;
  reason: string;
}

const contributing = await Deno.readTextFile(join(root, "CONTRIBUTING.md"));

/** The rows of a table in CONTRIBUTING.md: name, version, reason. */
export const held: Held[] = [
  ...contributing.matchAll(/^\| `([@\w/-]+)` +\| ([\d.]+) +\| (.*?) +\|$/gm),
].map(([, name = "", version = "", reason = ""]) => ({ name, version, reason }));
