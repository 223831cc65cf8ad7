/**
 * Wraps @exodus/schemasafe, which writes JavaScript that checks values.
 *
 * Its own front does not name the functions that it writes, so its compiler is called here. Its JSON
 * Pointers lack escapes ("a/b" is not written as "a~1b"), and contain names from the value, which may
 * be secret. Two of its functions cause this; they are replaced before the rest is loaded.
 *
 * @module
 */

import functions from "@exodus/schemasafe/src/scope-functions.js";
import { toPointer } from "../../src/json_pointer.ts";
import type { SchemaCheck } from "../../src/operation.ts";
import type { JsonObject } from "./json.ts";

functions.toPointer = (path: string[]) => `#${toPointer(path)}`;
functions.pointerPart = Object.assign((name: string) => toPointer([name]).slice(1), {
  [Symbol.for("toJayString")]: '() => "*"', // written into the JavaScript
});

const { compile } = await import("@exodus/schemasafe/src/compile.js");
const { jaystring } = await import("@exodus/schemasafe/src/javascript.js");
const { buildSchemas } = await import("@exodus/schemasafe/src/pointer.js");

/**
 * Compiles schemas.
 *
 * @param schemas JSON Schema, draft 2020-12, by name.
 * @param definitions What `$ref` in the schemas names.
 * @returns The functions, each of which returns whether a value matches, and has the problems of the
 * last value in `errors`; and the code of an object that has them by name.
 * @throws If a schema is invalid, with the place at the end of the message.
 */
export function compileSchemas(schemas: JsonObject, definitions: JsonObject) {
  const list = Object.values(schemas);
  const $schemaDefault = "https://json-schema.org/draft/2020-12/schema";
  const options = { mode: "lax", isJSON: true, includeErrors: true, $schemaDefault };
  const { scope, refs } = compile(list, { ...options, schemas: buildSchemas(definitions, list) });
  const constants = Object.entries(scope).map(([name, it]) => `const ${name} = ${jaystring(it)};`);
  const fields = Object.keys(schemas).map((name, index) =>
    `${JSON.stringify(name)}: ${refs[index]},`
  );
  const body = `"use strict";\n${constants.join("\n")}\nreturn {\n${fields.join("\n")}\n};`;
  return {
    functions: refs.map((ref: string) => scope[ref]) as SchemaCheck[],
    code: `(function () {\n${body}\n})()`,
  };
}
