/** Writes names of fields and indexes of lists as a JSON Pointer (RFC 6901): `/list/0`. */
export function toPointer(names: readonly PropertyKey[]): string {
  const escaped = names.map((name) => String(name).replaceAll("~", "~0").replaceAll("/", "~1"));
  return escaped.map((name) => `/${name}`).join("");
}
