/** JSON values, and JSON Pointers into them. @module */

/** A value that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** A value if it is an object, else an empty one. */
export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

/** A value if it is a list, else an empty one. */
export function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** Maps the values of an object, whose names may be any, "__proto__" among them. */
export function mapValues(object: Json, map: (value: Json, name: string) => Json): JsonObject {
  const entries = Object.entries(objectOf(object));
  return Object.fromEntries(entries.map(([name, value]) => [name, map(value, name)]));
}

/** The JSON Pointer that is made of names. */
export function pointerTo(...names: string[]): string {
  return names.map((name) => `/${`${name}`.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The JSON Pointer in a `$ref`. */
export function pointerOf(ref: Json): string {
  return decodeURIComponent(String(ref).slice("#".length));
}

/** What a `$ref` into the document leads to; the lint has seen to it that it leads somewhere. */
export function follow(document: Json, ref: Json): Json {
  const names = pointerOf(ref).split("/").slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  return names.reduce((value, name) => (value as JsonObject)[name]!, document);
}

/** An object, or the one that its `$ref` leads to. */
export function dereference(document: Json, value: Json | undefined): JsonObject {
  const object = objectOf(value);
  return object.$ref ? dereference(document, follow(document, object.$ref)) : object;
}
