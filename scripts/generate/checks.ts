/** Writes the checks of responses, with @exodus/schemasafe. @module */

import functions from "@exodus/schemasafe/src/scope-functions.js";
import { type Any, partsOf, resolverOf } from "./schemas.ts";
import { chooseBranch } from "./unions.ts";

// In the path of an issue, schemasafe 1.3.0 does not escape every "~" and "/", and writes names of the
// value, which may be secret. Both functions are replaced before the rest of it is loaded.
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

/** Says what is wrong with a schema, without its place in it; `undefined` if it can be checked. */
export function problemOf(schema: Any): string | undefined {
  try {
    writeCheck(schema);
  } catch (error) {
    return (error as Error).message.replace(/ at #.*/, "");
  }
}

/** Makes the visitor that changes schemas to what responses are checked for, and reports others. */
export function forChecks() {
  let components: Any;
  return {
    Root(root: Any) {
      components = root.components;
    },
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
    MediaType: {
      leave({ schema = {} }: Any, { location, report }: Any) {
        const problem = problemOf({ anyOf: [schema], components });
        const message = `Write another one: ${problem}`;
        const place = location.child(["schema"]).key();
        if (problem) report({ message, location: place, ruleId: "schema" });
      },
    },
  };
}
