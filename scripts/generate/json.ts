/** JSON values, and JSON Pointers into them. @module */

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** Reads an object, or the target of its `$ref`. */
export type Read = (value: Json | undefined) => JsonObject;

/** Returns a value if it is an object, otherwise an empty object. */
export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

/** Returns a value if it is a list, otherwise an empty list. */
export function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** Maps the values of an object. */
export function mapValues(object: Json, map: (value: Json, name: string) => Json): JsonObject {
  const entries = Object.entries(objectOf(object));
  return Object.fromEntries(entries.map(([name, value]) => [name, map(value, name)]));
}

/** Makes a JSON Pointer from names. */
export function pointerTo(...names: string[]): string {
  return names.map((name) => `/${`${name}`.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Returns the JSON Pointer in a `$ref`. */
export function pointerOf(ref: Json): string {
  return decodeURIComponent(String(ref).slice("#".length));
}

/** Returns the target of a `$ref` in the document; the lint makes sure that it exists. */
export function follow(document: Json, ref: Json): Json {
  const names = pointerOf(ref).split("/").slice(1); // without escapes, as names of components are
  return names.reduce((value, name) => (value as JsonObject | undefined)?.[name]!, document);
}

/** Returns an object, or the target of its `$ref`. */
export function dereference(document: Json, value: Json | undefined): JsonObject {
  const object = objectOf(value);
  return object.$ref ? dereference(document, follow(document, object.$ref)) : object;
}

/** Whether a media type is JSON. */
export function isJsonType(type: string): boolean {
  return /^([^/]+\/[^/]+\+|(application|text)\/)json *(;|$)/i.test(type);
}
