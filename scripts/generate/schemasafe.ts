/**
 * @exodus/schemasafe, which writes a program that checks values.
 *
 * Its pointers lack escapes ("a/b" is not written as "a~1b"), and have the names that it finds in a
 * value, which could be secret. Both come from two of its functions, which are replaced before the
 * rest of it is loaded.
 *
 * @module
 */

import type { Schema } from "@exodus/schemasafe";
import functions from "@exodus/schemasafe/src/scope-functions.js";
import { type JsonObject, pointerTo } from "./json.ts";

functions.toPointer = (path: string[]) => `#${pointerTo(...path)}`;
functions.pointerPart = Object.assign((name: string) => pointerTo(name).slice(1), {
  [Symbol.for("toJayString")]: '() => "*"', // what is written into the program
});

const { validator } = await import("@exodus/schemasafe");

/**
 * Writes a JavaScript expression, an array of functions with one for each schema. A function
 * returns whether a value fits, and has what is wrong with the last value in `errors`.
 *
 * @param schemas JSON Schema, draft 2020-12.
 * @param definitions What `$ref` in the schemas names.
 * @throws If a schema is wrong, with the place at the end of the message.
 */
export function compile(
  schemas: readonly JsonObject[],
  definitions: ReadonlyMap<string, JsonObject>,
): string {
  const $schemaDefault = "https://json-schema.org/draft/2020-12/schema";
  const options = { mode: "lax", isJSON: true, includeErrors: true, $schemaDefault };
  const several: object = { ...options, multi: true, schemas: definitions };
  return validator(schemas as unknown as Schema, several).toModule(); // its types know one schema
}
