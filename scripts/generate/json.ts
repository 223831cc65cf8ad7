/** JSON values, and references in them. @module */

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** Tells whether a value is an object, and not a list. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a value if it is an object, otherwise an empty object. */
export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
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

/** The `$ref` in place of one that is refused, so that what it names is not judged. */
export const NOWHERE = "#/refused";

/** Returns the target of a `$ref` in the document, whose names have no escapes, if it exists. */
export function follow(document: Json, ref: Json): Json | undefined {
  const [, ...names] = `${ref}`.split("/");
  return names.reduce<Json | undefined>((value, name) => {
    const object = objectOf(value);
    return Object.hasOwn(object, name) ? object[name] : undefined;
  }, document);
}

/** Returns an object, or the target of its `$ref`. */
export function dereference(document: Json, value: Json | undefined): JsonObject {
  const object = objectOf(value);
  return object.$ref ? dereference(document, follow(document, object.$ref)) : object;
}

/** Tells whether a media type is JSON. */
export function isJsonType(type: string): boolean {
  return /^([^/]+\/[^/]+\+|(application|text)\/)json *(;|$)/i.test(type);
}
