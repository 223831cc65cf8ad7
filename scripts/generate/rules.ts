/** Rules for the document in addition to Redocly's: a plugin for its lint. @module */

import { createConfig, parseYaml, type RawUniversalConfig } from "@redocly/openapi-core";
import { readFile } from "node:fs/promises";
import { isJsonType, type Json, type JsonObject, listOf, objectOf } from "./json.ts";
import { isCircular, isSendable, type Read } from "./schemas.ts";

type Plugin = Exclude<NonNullable<RawUniversalConfig["plugins"]>[number], string>;

/** A row of rules.yaml. */
type Row = { name: string; refuse?: string; accept?: string; advice: string };

/** What a rule can do with a node. */
interface Tools {
  /** Resolves a `$ref`. */
  readonly read: Read;
  /** The place of the node, as a JSON Pointer. */
  readonly pointer: string;
  /** Reports a field of the node, or the node itself (""), if a condition is true. */
  refuse(field: string | string[], isRefused: unknown, message: string): void;
}

/** Makes a function that Redocly calls for each node of a type. */
function visit(check: (node: JsonObject, tools: Tools) => void) {
  // deno-lint-ignore no-explicit-any
  return (node: JsonObject, { report, location, resolve }: any): void =>
    check(node, {
      read: (value) => objectOf(resolve(value).node),
      pointer: location.pointer,
      refuse(field, isRefused, message) {
        const place = field === "" ? location : location.child(field);
        if (isRefused) report({ message, location: place.key() });
      },
    });
}

/** Makes a visitor of rows in rules.yaml: "Type", or "Type in place". */
function visitorOf([key, rows]: [key: string, rows: Row[]]): object {
  const [type = "", place] = key.split(" in ");
  const visitor = visit((node, { refuse }) => {
    for (const [field, given] of Object.entries(place && node.in !== place ? {} : node)) {
      const text = typeof given === "object" ? JSON.stringify(given) : `${given}`;
      for (const { name, refuse: refused = ".*", accept, advice } of rows) {
        const isNamed = RegExp(`^(${name})$`, "s").test(field);
        const matches = (values: string) => RegExp(`^(${values})$`, "is").test(text);
        refuse(field, isNamed && (accept ? !matches(accept) : matches(refused)), advice);
      }
    }
  });
  return { [type]: visitor };
}

const typesOf = (response: Json, read: Read) => Object.keys(objectOf(read(response).content));

/** The settings of Redocly's rules of examples. */
export const examples = { severity: "error", allowAdditionalProperties: true } as const;

const [builtIn] = (await createConfig({})).styleguide.plugins;
// deno-lint-ignore no-explicit-any -- Redocly's rule, which judges defaults too
const ofExamples: any = builtIn!.rules!.oas3!["no-invalid-schema-examples"]!(examples);

const visitors: Record<string, () => object> = {
  "parameter": () => ({
    Parameter: visit(({ in: place, style, required, schema }, { refuse, read }) => {
      refuse("in", place === "path" && !required, "Write `required: true` next to it");
      const kind = style === "deepObject" ? "object" : place === "header" ? "scalar" : "array";
      const isSent = !schema || isSendable(read(schema), kind, read);
      const message = "Write `type`: string, number, integer or boolean; an `array` of these " +
        "cannot be in a header, and an `object` only in a query with `style: deepObject`";
      refuse("schema", !isSent, message);
    }),
  }),

  "request": () => ({
    RequestBody: visit(({ content }, { refuse }) => {
      const message = "Write only `application/json`, which the client sends; for another JSON " +
        'type, callers give `headers: { "Content-Type": … }` with a call';
      refuse("content", Object.keys(objectOf(content)).join() !== "application/json", message);
    }),
  }),

  "response": () => ({
    Responses: visit((responses, { refuse, read, pointer }) => {
      const statuses = Object.keys(responses).filter((status) => /^(2|304$)/.test(status));
      for (const status of statuses) {
        const types = typesOf(responses[status]!, read);
        const isEmpty = /04$/.test(status) || pointer.endsWith("/head/responses");
        refuse(status, isEmpty && types[0], "Leave `content` out: this response has no body");
        const isOpen = types.some((type) => type.includes("*"));
        refuse(status, isOpen, "Write a media type without `*`, such as `application/json`");
        const isMixed = !isOpen && new Set(types.map(isJsonType)).size > 1;
        refuse(status, isMixed, "Write either JSON or other types: the client asks for neither");
      }
      const message = "Add a success response, such as `2XX`: `default` describes errors";
      refuse("", !statuses.some((status) => status.startsWith("2")), message);
    }),
  }),

  "schema": () => ({
    Schema: visit((schema, { refuse, read, pointer }) => {
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
      const isOpen = additionalProperties === true ||
        (additionalProperties === false && !properties);
      const isAny = schema.patternProperties && !isOpen;
      refuse("patternProperties", isAny, "Add `additionalProperties: true`: types lack such names");

      for (const [index, name] of listOf(required).entries()) {
        const isNamed = Object.hasOwn(objectOf(properties), `${name}`) || additionalProperties;
        const message = `\`required\` names \`${name}\`, which is not in \`properties\`; add it`;
        refuse(["required", `${index}`], !isNamed, message);
      }
    }),
  }),

  "default": () => ({
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
  }),

  "security": () => {
    let header = "";
    return {
      Root: visit(({ components }, { read }) => {
        const schemes = Object.values(objectOf(objectOf(components).securitySchemes)).map(read);
        header = `${schemes.find(({ in: place }) => place === "header")?.name}`.toLowerCase();
      }),
      Parameter: visit(({ in: place, name }, { refuse }) => {
        const isKey = place === "header" && `${name}`.toLowerCase() === header;
        refuse("name", isKey, "Leave the parameter out: the client sends the key");
      }),
      SecurityScheme: visit(({ in: place, name }, { refuse }) => {
        const isOther = place === "header" && header !== `${name}`.toLowerCase();
        const message = "Leave this scheme out, and also where `security` names it: the client " +
          `sends one credential, and callers give a second one as \`headers: { "${name}": … }\``;
        refuse("name", isOther, message);
      }),
      SecurityRequirement: visit((requirement, { refuse }) => {
        refuse("", Object.keys(requirement)[1], "Write one of them: the client sends one key");
      }),
    };
  },
};

const file = new URL("rules.yaml", import.meta.url);
const table = parseYaml(await readFile(file, "utf8")) as Record<string, Record<string, Row[]>>;

/** The names of the rules. */
export const names: readonly string[] = Object.keys({ ...table, ...visitors });

const rules = names.map((name) => [
  name,
  () => [...Object.entries(table[name] ?? {}).map(visitorOf), visitors[name]?.() ?? {}],
]);
export const plugin: Plugin = { id: "client", rules: { oas3: Object.fromEntries(rules) } };
