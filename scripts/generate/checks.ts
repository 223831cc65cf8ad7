/** Writes the checks of responses, with @exodus/schemasafe. @module */

import functions from "@exodus/schemasafe/src/scope-functions.js";
import { type Any, partsOf, resolverOf } from "./schemas.ts";
import { chooseBranch } from "./unions.ts";

// schemasafe 1.3.0 escapes "~/" alone in the names of an issue's path, and writes names of the value,
// which may be secret. Both are mended before the rest of it is loaded.
const escape = (name: unknown) => `${name}`.replaceAll("~", "~0").replaceAll("/", "~1");
functions.toPointer = (path: unknown[]) => ["#", ...path.map(escape)].join("/");
functions.pointerPart = Object.assign((name: unknown) => escape(name), {
  [Symbol.for("toJayString")]: '() => "*"', // in the code that it writes
});
const { validator } = await import("@exodus/schemasafe");

/**
 * Writes the check of a schema, which stops at the first problem.
 *
 * @throws If a field of the schema has a wrong value.
 */
export function writeCheck(schema: Any): string {
  const $schemaDefault = "https://json-schema.org/draft/2020-12/schema";
  const options = { mode: "lax", isJSON: true, includeErrors: true, $schemaDefault } as const;
  return validator(schema, options).toModule().replace(/;$/, "")
    // It leaves out a slash: "#/list/"+i+"name/"+j
    .replaceAll(/(?<=\/"\+(?:pointerPart\()?\w+\)?\+")(?!\/)/g, "/");
}

/** A visitor that changes schemas to what responses are checked for. */
export const forChecks = () => ({
  Schema: {
    leave(schema: Any, context: Any) {
      const resolve = resolverOf(context);
      delete schema.format;
      const parts = partsOf(schema, resolve);
      const isRead = (name: string) => !parts.some((part) => part.properties?.[name]?.writeOnly);
      for (const part of parts) part.required &&= part.required.filter(isRead);
      // `oneOf` is checked like `anyOf`: types do not tell them apart, and where a value matches two
      // branches, few documents mean to refuse it.
      for (const field of ["anyOf", "oneOf"]) {
        const { [field]: anyOf, allOf = [], required } = schema;
        if (!anyOf) continue;
        schema.allOf = [...allOf, chooseBranch(anyOf, resolve, required) ?? { anyOf }];
        delete schema[field];
      }
    },
  },
});
