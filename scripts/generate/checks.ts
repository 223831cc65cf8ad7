/** Writes the checks of responses, with @exodus/schemasafe. @module */

import { type Any, partsOf, type Resolve, resolverOf } from "./schemas.ts";
import { lint, validator } from "./schemasafe.ts";
import { chooseBranch } from "./unions.ts";

const settings = { mode: "lax", isJSON: true, includeErrors: true, multi: true };
const $schemaDefault = "https://json-schema.org/draft/2020-12/schema";

/** The options of schemasafe for schemas that may refer to components. */
const optionsOf = ({ schemas = {} }: Any): Any => ({
  ...settings,
  $schemaDefault,
  schemas: Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [`#/components/schemas/${name}`, schema]),
  ),
});

/** A reference to a component, in JSON. */
const reference = /"\$ref":"#\/components\/schemas\/([\w.-]+)"/g;

/**
 * Writes an array of the checks of schemas, each of which stops at the first problem. After them, the
 * array has those of the components that they use.
 */
export function writeChecks(schemas: Any[], components: Any): string {
  const all = new Set(schemas);
  for (const schema of all) { // also for those that are added meanwhile
    for (const [, name] of JSON.stringify(schema).matchAll(reference)) {
      all.add(components.schemas[name!]);
    }
  }
  return validator([...all] as Any, optionsOf(components)).toModule().replace(/;$/, "");
}

/** Copies a schema, and those in its `allOf`, without some names in `required`. */
function withoutRequired(from: Any, names: string[], resolve: Resolve): Any {
  const isListed = (name: string) => names.includes(name);
  if (!partsOf(from, resolve).some((part) => part.required?.some(isListed))) return from;
  const { allOf, required, ...rest } = resolve(from);
  return {
    ...rest,
    ...required && { required: required.filter((name: string) => !isListed(name)) },
    ...allOf && { allOf: allOf.map((part: Any) => withoutRequired(part, names, resolve)) },
  };
}

/** The places of schemas that are no parts of others. */
const whole = /^#\/components\/schemas\/[^/]+$|\/schema$/;

/**
 * Makes the visitor that changes schemas to what responses are checked for, and reports those that
 * schemasafe cannot check.
 */
export function forChecks() {
  let options: Any;
  return {
    Root({ components = {} }: Any) {
      options = optionsOf(components);
    },
    Schema: {
      enter(schema: Any, context: Any) {
        const resolve = resolverOf(context);
        const names = partsOf(schema, resolve).flatMap(({ properties = {} }) =>
          Object.keys(properties).filter((name) => properties[name].writeOnly)
        );
        Object.assign(schema, withoutRequired(schema, names, resolve));
      },
      leave(schema: Any, context: Any) {
        delete schema.format;
        // `oneOf` is checked like `anyOf`: types do not tell them apart, and where a value matches two
        // branches, few documents mean to refuse it.
        for (const field of ["anyOf", "oneOf"]) {
          const { [field]: anyOf, allOf = [], required } = schema;
          if (!anyOf) continue;
          const branch = chooseBranch(anyOf, resolverOf(context), required) ?? { anyOf };
          schema.allOf = [...allOf, branch];
          delete schema[field];
        }
        const { location, report } = context;
        const problems: Any = whole.test(location.pointer) ? lint([schema] as Any, options) : [];
        for (const { keywordLocation, message } of problems) {
          const pointer = location.pointer + keywordLocation.slice(1);
          const advice = `Write another schema: ${message.replace(/ at #.*/, "")}`;
          report({ message: advice, location: { ...location.key(), pointer }, ruleId: "schema" });
        }
      },
    },
  };
}
