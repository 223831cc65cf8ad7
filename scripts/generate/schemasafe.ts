/**
 * Wraps @exodus/schemasafe, which writes JavaScript that checks values.
 *
 * Its JSON Pointers lack escapes ("a/b" is not written as "a~1b"), and contain names from the
 * value, which may be secret. Two of its functions cause this; they are replaced before the rest is
 * loaded.
 *
 * @module
 */

import type { Schema } from "@exodus/schemasafe";
import functions from "@exodus/schemasafe/src/scope-functions.js";
import { type JsonObject, pointerTo } from "./json.ts";

functions.toPointer = (path: string[]) => `#${pointerTo(...path)}`;
functions.pointerPart = Object.assign((name: string) => pointerTo(name).slice(1), {
  [Symbol.for("toJayString")]: '() => "*"', // written into the JavaScript
});

const { validator } = await import("@exodus/schemasafe");

/**
 * Writes a JavaScript expression, an object with a function for each schema. A function returns
 * whether a value matches, and has the problems of the last value in `errors`.
 *
 * @param schemas JSON Schema, draft 2020-12, by name.
 * @param definitions What `$ref` in the schemas names.
 * @throws If a schema is invalid, with the place at the end of the message.
 */
export function compile(
  schemas: ReadonlyMap<string, JsonObject>,
  definitions: ReadonlyMap<string, JsonObject>,
): string {
  const $schemaDefault = "https://json-schema.org/draft/2020-12/schema";
  const options = { mode: "lax", isJSON: true, includeErrors: true, $schemaDefault };
  const several: object = { ...options, multi: true, schemas: definitions };
  const list = [...schemas.values()] as unknown as Schema; // its types allow one schema
  const names = [...schemas.keys()].map((name) => JSON.stringify(name));
  const named = (_: string, functions: string) => {
    const entries = functions.split(",").map((name, index) => `${names[index]}: ${name.trim()},`);
    return `return {\n${names.length > 0 ? entries.join("\n") : ""}\n}})();`;
  };
  return validator(list, several).toModule().replace(/return \(\[([^\]]*)\]\)\}\)\(\);$/, named);
}
