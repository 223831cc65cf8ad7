/**
 * Loads @exodus/schemasafe, with changes to what it writes. They replace functions and templates of
 * version 1.3.0 before the rest of it is loaded. If another version writes something else, these
 * tests fail first: "validators check what schemas say, and name the place", "a schema has one check,
 * however many responses and schemas refer to it", "the rules accept a long chain of schemas, …".
 *
 * @module
 */

import safeFormat from "@exodus/schemasafe/src/safe-format.js";
import functions from "@exodus/schemasafe/src/scope-functions.js";
import scopeUtils from "@exodus/schemasafe/src/scope-utils.js";
import { type Any, escape } from "./schemas.ts";

/** Makes a function that is written into checks as a text. */
const written = (code: string, call: (name: unknown) => unknown = () => {}) =>
  Object.assign(call, { [Symbol.for("toJayString")]: code });

// The path of a property "a/b": "#/a/b" becomes "#/a~1b".
functions.toPointer = (path: unknown[]) => ["#", ...path.map(escape)].join("/");

// A name in a path, which may be a secret: pointerPart("name") returns "*" in place of "name".
functions.pointerPart = written('() => "*"', (name) => escape(name));

// An issue of a schema that is referred to gets the place of the reference before its own.
functions.errorMerge = written(
  "({ rule, place }, base) => ({ rule, place: base + place.slice(1) })",
);

const { format, safenotor } = safeFormat;

// An enum, which is nested too deeply for parsers if it is long:
// !(data.a === "x" || data.a === "y") becomes !["x","y"].includes(data.a).
safeFormat.safenotor = (...conditions: Any[]) => {
  const isEnum = conditions.length > 1 && conditions.every(({ value }) => value !== undefined);
  if (!isEnum) return safenotor(...conditions);
  return format("!%j.includes(%s)", conditions.map(({ value }) => value), conditions[0].name);
};

/** What is written in place of a template, by the template. */
const templates: Record<string, (...args: Any[]) => unknown> = {
  // The same code, with its parts for the enum above.
  "%s === %j": (name, value) => Object.assign(format("%s === %j", name, value), { name, value }),

  // { keywordLocation: "#/properties/a/type", instanceLocation: "#/a" }
  // becomes { rule: "type", place: "#/a" }.
  "{ keywordLocation: %j, instanceLocation: %s }": (keyword, place) =>
    format("{ rule: %j, place: %s }", keyword.split("/").at(-1), place),

  // errorMerge(suberr0[0], "#/properties/a/$ref", "#/a") becomes errorMerge(suberr0[0], "#/a").
  "validate.errors = [errorMerge(%s[0], %j, %s)]": (error, _keyword, place) =>
    format("validate.errors = [errorMerge(%s[0], %s)]", error, place),

  // "#/list/"+i+"name/"+j becomes "#/list/"+i+"/name/"+j.
  "%s+%j+%s": (start, middle, end) => format("%s+%j+%s", start, middle.replace(/^\/?/, "/"), end),
};
safeFormat.format = (template: string, ...args: unknown[]) =>
  templates[template]?.(...args) ?? format(template, ...args);

const { scopeMethods } = scopeUtils;
const scopes = new WeakSet<Any>();

// A schema that another one refers to is compiled in its turn, as all of them are in the list. At the
// reference, it only gets the name of its function: compiled there, and so on, a long chain of schemas
// would overflow the stack.
scopeUtils.scopeMethods = (scope: Any) => {
  const { getref, genref, ...others } = scopeMethods(scope);
  const isFirst = !scopes.has(scope);
  scopes.add(scope);
  // The loop over the list comes first, and does not compile schemas that have a name: for it, none has.
  if (isFirst) return { getref: () => undefined };
  const nameOf = (schema: Any) => getref(schema) ?? genref(schema);
  return {
    ...others,
    genref: nameOf,
    getref(schema: Any) {
      const name = nameOf(schema);
      scope[name] ??= () => {}; // Its check replaces this in its turn.
      return name;
    },
  };
};

export const { lint, validator } = await import("@exodus/schemasafe");
