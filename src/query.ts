import { checkObject, optionError } from "./checks.ts";

/** Writes a query; a list repeats the name; `null` and `undefined` are left out. */
export function toQuery(query: unknown = {}): string {
  checkObject(query, "query");
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query as object)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === null || item === undefined) continue;
      const written = item instanceof Date ? item.toJSON() : item;
      const isPlain = typeof written === "string" || typeof written === "boolean";
      if (!isPlain && !Number.isFinite(written)) {
        const allowed = "a string, a number, a boolean, a Date or a list of these";
        throw optionError("query", `must have ${allowed} as "${name}"`);
      }
      parameters.append(name, `${written}`);
    }
  }
  return parameters.toString();
}
