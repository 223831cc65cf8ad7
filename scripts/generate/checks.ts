/** Writes the checks of responses, with @exodus/schemasafe. @module */

import safeFormat from "@exodus/schemasafe/src/safe-format.js";
import functions from "@exodus/schemasafe/src/scope-functions.js";
import { type Any, partsOf, type Resolve, resolverOf } from "./schemas.ts";
import { chooseBranch } from "./unions.ts";

// Before the rest of schemasafe 1.3.0 is loaded, some of its functions are replaced. If a new version
// calls others, "validators check what schemas say, and name the place" fails.

// What it escapes in paths: it leaves "~" and "/" in names such as "a/b", and should write "a~1b".
const escape = (name: unknown) => `${name}`.replaceAll("~", "~0").replaceAll("/", "~1");
functions.toPointer = (path: unknown[]) => ["#", ...path.map(escape)].join("/");
// What it writes into checks: names of the value, which may be secret, are "*".
functions.pointerPart = Object.assign((name: unknown) => escape(name), {
  [Symbol.for("toJayString")]: '() => "*"',
});
functions.errorMerge = Object.assign(() => {}, {
  [Symbol.for("toJayString")]:
    "({ rule, place }, base) => ({ rule, place: base + place.slice(1) })",
});

const { format, safenotor } = safeFormat;
const comparisons = new Map<unknown, { name: unknown; value: unknown }>();
// !(data.a === "x" || data.a === "y" || …), which is nested too deeply for parsers if it is long
safeFormat.safenotor = (...conditions: unknown[]) => {
  const found = conditions.flatMap((condition) => comparisons.get(condition) ?? []);
  if (found.length < 2 || found.length < conditions.length) return safenotor(...conditions);
  return format("!%j.includes(%s)", found.map(({ value }) => value), found[0]!.name);
};
/** What it writes in place of some of its templates. */
const templates: Record<string, (...args: Any[]) => unknown> = {
  // { keywordLocation: "#/properties/a/type", instanceLocation: "#/a" }
  "{ keywordLocation: %j, instanceLocation: %s }": (keyword, place) =>
    format("{ rule: %j, place: %s }", keyword.split("/").at(-1), place),
  // errorMerge(suberr0[0], "#/properties/a/$ref", "#/a")
  "validate.errors = [errorMerge(%s[0], %j, %s)]": (error, _keyword, place) =>
    format("validate.errors = [errorMerge(%s[0], %s)]", error, place),
  // data.a === "x", of which there may be many
  "%s === %j": (name, value) => {
    const code = format("%s === %j", name, value);
    comparisons.set(code, { name, value });
    return code;
  },
  // "#/list/"+i+"name/"+j, which lacks a slash before the name
  "%s+%j+%s": (start, middle, end) =>
    format("%s+%j+%s", start, `/${middle.replace(/^\//, "")}`, end),
};
safeFormat.format = (template: string, ...args: unknown[]) =>
  (templates[template] ?? format.bind(null, template))(...args);
const { lint, validator } = await import("@exodus/schemasafe");

/** The options of schemasafe for schemas that may refer to components. */
const optionsOf = ({ schemas = {} }: Any): Any => ({
  ...{ mode: "lax", isJSON: true, includeErrors: true, multi: true },
  $schemaDefault: "https://json-schema.org/draft/2020-12/schema",
  schemas: Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [`#/components/schemas/${name}`, schema]),
  ),
});

/**
 * Writes an array of the checks of schemas, each of which stops at the first problem. All of them use
 * one function for each component.
 */
export function writeChecks(schemas: Any[], components: Any): string {
  return validator(schemas as Any, optionsOf(components)).toModule().replace(/;$/, "");
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

/** Makes the visitor that changes schemas to what responses are checked for, and reports others. */
export function forChecks() {
  const places = new Map<Any, Any>();
  const addSchema = ({ schema }: Any, { location }: Any) => {
    if (schema) places.set(schema, location.child(["schema"]));
  };
  return {
    NamedSchemas(schemas: Any, { location }: Any) {
      for (const name in schemas) places.set(schemas[name], location.child([name]));
    },
    Parameter: addSchema,
    MediaType: addSchema,
    Schema: {
      enter(schema: Any, context: Any) {
        const resolve = resolverOf(context);
        const names = partsOf(schema, resolve).flatMap(({ properties = {} }) =>
          Object.keys(properties).filter((name) => properties[name].writeOnly)
        );
        Object.assign(schema, withoutRequired(schema, names, resolve));
      },
      leave(schema: Any, context: Any) {
        const resolve = resolverOf(context);
        delete schema.format;
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
    Root: {
      leave({ components = {} }: Any, { report }: Any) {
        const problems: Any = lint([...places.keys()] as Any, optionsOf(components));
        for (const { schema, keywordLocation, message } of problems ?? []) {
          const place = places.get(schema).key();
          report({
            message: `Write another one: ${message.replace(/ at #.*/, "")}`,
            location: { ...place, pointer: place.pointer + keywordLocation.slice(1) },
            ruleId: "schema",
          });
        }
      },
    },
  };
}
