/** Rules for the document in addition to Redocly's: a plugin for its lint. @module */

import { createConfig, parseYaml, type RawUniversalConfig } from "@redocly/openapi-core";
import { readFile } from "node:fs/promises";
import { isJsonType, type Json, type JsonObject, listOf, mapValues, objectOf } from "./json.ts";
import { isCircular, isSendable, type Read } from "./schemas.ts";

type Plugin = Exclude<NonNullable<RawUniversalConfig["plugins"]>[number], string>;

/** What a rule can do with a node. */
interface Tools {
  /** Resolves a `$ref`. */
  readonly read: Read;
  /** The place of the node, as a JSON Pointer. */
  readonly pointer: string;
  /** Reports a field of the node, or the node itself (""), if a condition is true. */
  refuse(field: string | string[], isRefused: unknown, message: string): void;
}

type Check = (node: JsonObject, tools: Tools) => void;

const visitors: Record<string, object[]> = {};

/** Adds a check to a rule, of the nodes of an OpenAPI type ("Type"), or of some ("Type in place"). */
function add(rule: string, key: string, check: Check): void {
  const [type = "", place] = key.split(" in ");
  // deno-lint-ignore no-explicit-any
  const visitor = (node: JsonObject, { report, location, resolve }: any): void => {
    if (place && node.in !== place) return;
    check(node, {
      read: (value) => objectOf(resolve(value).node),
      pointer: location.pointer,
      refuse(field, isRefused, message) {
        const place = field === "" ? location : location.child(field);
        if (isRefused) report({ message, location: place.key() });
      },
    });
  };
  (visitors[rule] ??= []).push({ [type]: visitor });
}

/** A row of rules.yaml. */
type Row = { field: string; ignoreCase?: true; refuse?: Json[]; accept?: Json[]; advice: string };

const file = await readFile(new URL("rules.yaml", import.meta.url), "utf8");
const table = parseYaml(file) as Record<string, Record<string, Row[]>>;
for (const [rule, types] of Object.entries(table)) {
  for (const [key, rows] of Object.entries(types)) {
    add(rule, key, (node, { refuse }) => {
      for (const { field, ignoreCase, refuse: refused, accept, advice } of rows) {
        const value = ignoreCase ? `${node[field]}`.toLowerCase() : node[field]!;
        const isRefused = accept ? !accept.includes(value) : refused?.includes(value) ?? true;
        refuse(field, field in node && isRefused, advice);
      }
    });
  }
}

/** The statuses that openapi-fetch's types know. */
const statuses = [
  ...[200, 201, 202, 203, 204, 206, 207, 304],
  ...[400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417],
  ...[418, 420, 421, 422, 423, 424, 425, 426, 427, 428, 429, 430, 431, 444, 450, 451, 497, 498],
  ...[499, 500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511],
];

/** Whether adding, removing or replacing at most `count` letters makes one text of the other. */
function isNear(a: string, b: string, count: number): boolean {
  if (!a || !b || count < 0) return a.length + b.length <= count;
  const [restA, restB] = [a.slice(1), b.slice(1)];
  if (a[0] === b[0]) return isNear(restA, restB, count);
  return [[restA, b], [a, restB], [restA, restB]].some(([a, b]) => isNear(a!, b!, count - 1));
}

/** The settings of Redocly's rules of examples. */
export const examples = { severity: "error", allowAdditionalProperties: true } as const;

add("path", "Paths", (paths, { refuse }) => {
  const url = /^(\/|(\/(?!\.\.?(\/|$))([\w~!$&'()*+,;=:@.-]|%[\dA-F]{2}|{[^{}]+})+)+\/?)$/;
  const message =
    "Write the path as in URLs: percent-encoded, without `.`, `..` and empty segments";
  for (const path of Object.keys(paths)) refuse(path, !url.test(path), message);
});

add("path", "PathItem", (item, { refuse }) => {
  const message = "Write `post` if the service accepts it; if not, leave the body or the " +
    "operation out: fetch sends no body with this method";
  for (const name of ["get", "head"]) refuse(name, objectOf(item[name]).requestBody, message);
});

add("idempotent", "Operation", (operation, { refuse }) => {
  for (const name of Object.keys(operation)) {
    const isMisspelt = name !== "x-idempotent" && isNear(name.toLowerCase(), "x-idempotent", 3);
    refuse(name, isMisspelt, "Unknown extension; did you mean `x-idempotent`?");
  }
});

/** Checks the name of a header, of a parameter or with the key. */
function checkHeader({ name }: JsonObject, { refuse }: Tools): void {
  const isName = /^[\w!#$%&'*+.^`|~-]+$/.test(`${name}`);
  refuse("name", !isName, "Write letters, digits, `-` and `_`");
  const isReserved = /^(access-control-request|proxy|sec)-/i.test(`${name}`);
  refuse("name", isReserved, "Leave this header out: fetch or the client sets it");
}

add("parameter", "Parameter in header", checkHeader);
add("parameter", "Parameter in path", ({ name, required }, { refuse }) => {
  refuse("in", !required, "Write `required: true` next to it");
  const isSent = /^(?!__proto__$)[\w-][\w.-]*$/.test(`${name}`);
  refuse("name", !isSent, "Write letters, digits, `-` and `_`");
});

add("parameter", "Parameter in query", ({ name }, { refuse }) => {
  const message = "Leave the parameter out, or an operation that requires it: the client " +
    "cannot send this name";
  refuse("name", !/^(?!__proto__$)[\w.:$@~[\]-]+$/.test(`${name}`), message);
});

add("parameter", "Parameter", ({ in: place, style, schema }, { refuse, read }) => {
  const kind = style === "deepObject" ? "object" : place === "header" ? "scalar" : "array";
  const isSent = !schema || isSendable(read(schema), kind, read);
  const scalar = "Write `type`: string, number, integer or boolean";
  const advice = {
    scalar,
    array: `${scalar}, or an \`array\` of these; for an object in a query, write a parameter ` +
      "for each property, or `style: deepObject` if the service reads `a[b]`",
    object: "Write `type: object`, and only properties with a scalar `type`, with a name of " +
      "letters, digits, `-` and `_`, and without `readOnly` and `writeOnly`",
  };
  refuse("schema", !isSent, advice[kind]);
});

add("request", "RequestBody", ({ content }, { refuse }) => {
  const types = Object.keys(objectOf(content));
  const message = types.some(isJsonType)
    ? "Write only `application/json`, which the client sends; for another JSON type, callers " +
      'give `headers: { "Content-Type": … }` with a call'
    : "Write only `application/json` if the service accepts it; if not, leave the body or " +
      "the operation out: the client sends JSON";
  refuse("content", types.join() !== "application/json", message);
});

add("response", "Responses", (responses, { refuse, read, pointer }) => {
  for (const status of Object.keys(responses)) {
    const isKnown = statuses.includes(Number(status)) || /^(x-.*|default|[245]XX)$/.test(status);
    const message = /^[13]/.test(status)
      ? "Leave it out: the client never returns this status"
      : "Write `2XX`, `4XX` or `5XX`: types do not have this status";
    refuse(status, !isKnown, message);
  }
  const successes = Object.keys(responses).filter((status) => /^(2|304$)/.test(status));
  for (const status of successes) {
    const types = Object.keys(objectOf(read(responses[status]).content));
    const isEmpty = /04$/.test(status) || pointer.endsWith("/head/responses");
    refuse(status, isEmpty && types[0], "Leave `content` out: this response has no body");
    const isOpen = types.some((type) => type.includes("*"));
    refuse(status, isOpen, "Write a media type without `*`, such as `application/json`");
    const isMixed = !isOpen && new Set(types.map(isJsonType)).size > 1;
    refuse(status, isMixed, "Write either JSON or other types: callers read a response as one");
  }
  const message = "Add a success response, such as `2XX`, or leave out an operation that has " +
    "none: `default` describes errors";
  refuse("", !successes.some((status) => status.startsWith("2")), message);
});

add("schema", "Schema", (schema, { refuse, read, pointer }) => {
  const { type, required, properties, additionalProperties, anyOf } = schema;
  const circle = "The schema is a part of itself; refer to it from `properties`";
  refuse("", isCircular(schema, read), circle);
  const below = "Write it directly below a name in `properties`";
  const parameter = `${below}, or beside the \`schema\` of a parameter`;
  const places = { readOnly: below, writeOnly: below, deprecated: parameter };
  for (const [name, message] of Object.entries(places)) {
    refuse(name, schema[name] && !/\/properties\/[^/]+$/.test(pointer), message);
  }
  const isSlow = schema.uniqueItems && !isSendable(read(schema.items), "scalar", read);
  const scalars = "Leave it out, unless `items` has `type`: string, number, integer or " +
    "boolean; comparing other values takes seconds";
  refuse("uniqueItems", isSlow, scalars);
  const isObject = properties || additionalProperties || schema.patternProperties;
  refuse("", isObject && !type, "Add `type: object`, without which other values match too");
  const isMixed = properties && Object.keys(objectOf(additionalProperties)).length > 0;
  refuse("additionalProperties", isMixed, "Write `true`: no type has both kinds of names");
  const isUnion = anyOf && (isObject || schema.allOf || (type && type !== "object"));
  refuse("anyOf", isUnion, "Write `allOf` with `anyOf` in one schema and the rest in another");
  const isOpen = additionalProperties === true || (additionalProperties === false && !properties);
  const isAny = schema.patternProperties && !isOpen;
  refuse("patternProperties", isAny, "Add `additionalProperties: true`: types lack such names");

  for (const [index, name] of listOf(required).entries()) {
    const isNamed = Object.hasOwn(objectOf(properties), `${name}`) || additionalProperties;
    const message = `\`required\` names \`${name}\`, which is not in \`properties\`; add it`;
    refuse(["required", `${index}`], !isNamed, message);
  }
});

// Redocly's rule of examples judges defaults, too.
const [builtIn] = (await createConfig({})).styleguide.plugins;
// deno-lint-ignore no-explicit-any
const ofExamples: any = builtIn!.rules!.oas3!["no-invalid-schema-examples"]!(examples);
visitors.default = [{
  Schema: {
    // deno-lint-ignore no-explicit-any
    leave(schema: JsonObject, context: any) {
      const location = context.location.child("default");
      const report = ({ message }: { message: string }) =>
        context.report({ message: message.replace("Example", "Default"), location });
      const asExample = { ...schema, example: schema.default, examples: undefined };
      ofExamples.Schema.leave(asExample, { ...context, report });
    },
  },
}];

/** The key's header, in lower case: that of the scheme that the root names, or of the first one. */
let keyHeader = "";
add("security", "Root", ({ components, security }, { read }) => { // the root is visited first
  const schemes = mapValues(objectOf(components).securitySchemes ?? {}, read);
  const named = listOf(security).flatMap((requirement) => Object.keys(objectOf(requirement)));
  const all = [...named.map((name) => schemes[name]), ...Object.values(schemes)].map(objectOf);
  keyHeader = `${all.find(({ in: place }) => place === "header")?.name}`.toLowerCase();
});
add("security", "Parameter in header", ({ name }, { refuse }) => {
  const isKey = `${name}`.toLowerCase() === keyHeader;
  refuse("name", isKey, "Leave the parameter out: the client sends the key");
});
add("security", "SecurityScheme in header", checkHeader);
add("security", "SecurityScheme in header", ({ name }, { refuse }) => {
  const message = "Leave this scheme out, also where `security` names it: the client sends one " +
    `key, in \`${keyHeader}\`, and callers give \`headers: { "${name}": … }\` with a call`;
  refuse("name", `${name}`.toLowerCase() !== keyHeader, message);
});
add("security", "SecurityRequirement", (requirement, { refuse }) => {
  const message = "Write one of them: the client sends one key; callers give others in `headers`";
  refuse("", Object.keys(requirement)[1], message);
});

/** The names of the rules. */
export const names: readonly string[] = Object.keys(visitors);

const rules = Object.entries(visitors).map(([name, list]) => [name, () => list]);
export const plugin: Plugin = { id: "client", rules: { oas3: Object.fromEntries(rules) } };
