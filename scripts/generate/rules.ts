/**
 * What the OpenAPI document must not contain, because a type, a request or a check would silently
 * differ from it, and what to write instead.
 *
 * @module
 */

import type { RawUniversalConfig } from "@redocly/openapi-core";
import { keywords } from "./checks.ts";
import { type Any, type Resolve, resolverOf, typesOf, valuesOf } from "./schemas.ts";

/** A field of a node or "", whether it is refused (anything truthy), and what to write instead. */
type Verdict = [field: string, isRefused: unknown, advice: string];

const noMethod = "Leave it out: the client cannot have its methods, which types would have";
const oneServer = "Leave it out: all requests go to `baseUrl`";
const onlyJson = "Leave all but `application/json` out, or the operation: `call` sends others";
const joined = "Leave it out, and write `schema: { type: string }`: callers join the values";
const each = "Write a parameter for each property, such as `filter[name]`";
const orNull = "Leave it out, and add null as a type: `type: [string, 'null']`, or " +
  "`anyOf: [{ $ref: … }, { type: 'null' }]`";

/** What to write in place of keywords that are not checked, and of others that are not listed here. */
const insteadOf: Record<string, string> = {
  nullable: orNull,
  discriminator: "Leave it out, and give the union a schema of its own: `oneOf: [{ $ref: … }, …]`",
};
const checked = `Leave it out, or write it with ${keywords.join(", ")}: nothing else is checked`;

/** Headers that the client or fetch sends, whatever a call says, and those that callers set. */
const sentHeaders = `accept authorization content-length content-type host transfer-encoding`
  .split(" ");

/** Fields that change neither types nor checks, or whose types openapi-typescript writes. */
const annotation = new RegExp(
  "^(x-.*|[$]comment|content(Encoding|MediaType)|default|deprecated|description|examples?|" +
    "externalDocs|format|readOnly|summary|title|writeOnly|xml)$",
);

/** Tells whether the URL parser reads a path as it is. */
function isUrlPath(path: string): boolean {
  const plain = path.replaceAll(/{[^{}]+}/g, "x");
  const { pathname, search } = new URL(`http://host${plain}`);
  return pathname + search === plain;
}

/** Tells whether types have a name in `required`; they lose one that is only in a union, for example. */
function isTyped(name: string, { allOf = [], properties = {} }: Any, resolve: Resolve): boolean {
  return Object.hasOwn(properties, name) ||
    allOf.some((part: Any) =>
      part.$ref ? Object.hasOwn(resolve(part).properties ?? {}, name) : isTyped(name, part, resolve)
    );
}

/** Refuses other names and places of `x-idempotent`. */
const misplaced = (node: Any): Verdict[] =>
  Object.keys(node).filter((name) => /^x-idemp\w*$/i.test(name))
    .map((name) => [name, true, "Write `x-idempotent` beside `operationId`"]);

/** What is wrong with a node, by its OpenAPI type. */
const rules: Record<string, (node: Any, context: Any) => Verdict[]> = {
  Paths: (paths) =>
    Object.keys(paths).map((path) => [path, !isUrlPath(path), "Write the path as URLs have it"]),

  Root: ({ webhooks }) => [["webhooks", webhooks, noMethod]],

  PathItem: (item) => [
    ["servers", item.servers, oneServer],
    ["trace", item.trace, noMethod],
    ...misplaced(item),
  ],

  Operation({ "x-idempotent": _, ...operation }) {
    const { callbacks, operationId, servers } = operation;
    const hasMeaning = operationId in {} || /^(then|toJSON)$/.test(operationId);
    return [
      ["callbacks", callbacks, noMethod],
      ["servers", servers, oneServer],
      ["operationId", hasMeaning, "Write another name: JavaScript itself calls this method"],
      ...misplaced(operation),
    ];
  },

  Parameter({ content, explode, in: place, name, schema = {}, style }, { keyName, resolve }) {
    const isSent = place === "header" && [keyName, ...sentHeaders].includes(name.toLowerCase());
    const isOdd = /path|query/.test(place) && !/^(?![.;])[\w.:$@~[\]-]+$/.test(name);
    const isList = place === "query" && `${typesOf(schema, resolve)}` === "array";
    const types = typesOf(isList ? resolve(schema).items ?? {} : schema, resolve);
    const isScalar = types.length > 0 && !/null|array|object/.test(`${types}`);
    const isUsual = !style || style === (place === "query" ? "form" : "simple");
    const scalar = "Write a string, number or boolean, or in a query a list of these";
    const inPath = "Leave it out, and write `;name={name}` or `.{name}` in the path";
    return [
      ["in", place === "cookie", "Leave it out: callers set the header `Cookie` in `headers`"],
      ["name", isSent, "Leave it out: the client sends it, or callers set it in `headers`"],
      ["name", isOdd, "Write a name that URLs have as it is"],
      ["content", content, "Write `schema: { type: string }`: callers write the text"],
      ["style", !isUsual, place === "path" ? inPath : style === "deepObject" ? each : joined],
      ["explode", isList && explode === false, joined],
      ["schema", types.includes("null"), "Leave null out: callers leave the parameter out"],
      ["schema", types.includes("object"), each],
      ["schema", !content && !isScalar, scalar],
    ];
  },

  Responses: (responses, { resolve }) =>
    Object.entries<Any>(responses).map(([status, response]) => {
      const types = Object.keys(resolve(response).content ?? {});
      const isJson = types.length < 2 &&
        types.every((type) => /^application\/([^*]+\+)?json(;|$)/.test(type));
      const advice =
        "Write one type of JSON, or leave the operation out: for others, callers pass " +
        "types of their own to `createClient`, and set `parseAs`";
      return [status, status.startsWith("2") && !isJson, advice];
    }),

  NamedSecuritySchemes(schemes) {
    const isKey = ({ in: place, type }: Any) => type === "apiKey" && place === "header";
    const key = Object.keys(schemes).find((name) => isKey(schemes[name]));
    const other = "Leave it out, and write `security: []` or a key in a header (`type: apiKey`, " +
      "`in: header`) where it is named: callers set it in `headers`";
    return Object.keys(schemes).map((name) => [name, name !== key, other]);
  },

  SchemaProperties(properties) {
    const inherited = Object.keys(properties).filter((name) => name in {});
    return [[
      "",
      inherited.length > 0,
      `Write another name than ${inherited}: all objects have it`,
    ]];
  },

  Schema(schema, { location: { pointer }, resolve }) {
    const { additionalProperties: others, allOf, anyOf, items, oneOf } = schema;
    const { exclusiveMaximum, exclusiveMinimum, properties, readOnly, required = [] } = schema;
    const { type, uniqueItems, writeOnly } = schema;
    const unchecked = Object.keys(schema)
      .filter((name) => !keywords.includes(name) && !annotation.test(name));
    const lost = required.filter((name: string) => !isTyped(name, schema, resolve));
    const typed =
      `Write \`${lost}\` below \`properties\`, too, or \`required\` beside an \`allOf\` ` +
      "with a schema that has it: types lose it here";
    const hasBoth = properties && Object.keys(Object(others)).length > 0;
    const itemTypes = `${typesOf(items ?? {}, resolve)}`;
    const isLone = itemTypes === "array" && !items.$ref && items.type !== "array";
    const isSet = uniqueItems && /array|object|^$/.test(itemTypes);
    const hasObject = valuesOf(schema).some((value) => Object(value) === value);
    const isMarked = !/\/properties\/[^/]+$/.test(pointer) && (readOnly || writeOnly);
    return [
      ...unchecked.map((name): Verdict => [name, true, insteadOf[name] ?? checked]),
      ["exclusiveMinimum", exclusiveMinimum === true, "Write the number in place of `minimum`"],
      ["exclusiveMaximum", exclusiveMaximum === true, "Write the number in place of `maximum`"],
      ["", !type && (properties ?? others ?? items), "Write its `type`, too"],
      ["required", lost.length > 0, typed],
      ["additionalProperties", hasBoth, "Write `true`: types have no names of both kinds"],
      ["anyOf", anyOf && (properties ?? others ?? allOf), "Write it into a schema in `allOf`"],
      ["type", oneOf && Array.isArray(type), "Leave it out, and add `{ type: 'null' }` to `oneOf`"],
      ["items", isLone, "Write `type: array` directly in it"],
      ["uniqueItems", isSet, "Leave it out: only strings, numbers and booleans are compared"],
      [schema.enum ? "enum" : "const", hasObject, "Write strings, numbers, booleans or null"],
      [readOnly ? "readOnly" : "writeOnly", isMarked, "Write it below `properties: name:`"],
    ];
  },
};

/** Marks that a rule has failed. */
export const BUG = "bug";

/** What is wrong with a reference. */
function problemsOf({ $ref, ...siblings }: Any, { type }: Any): Verdict[] {
  const component = "Write `#/components/`, its kind and its name: the document is one file";
  const hidden = "Write `allOf: [{ $ref: … }]` in place of the `$ref` beside it, which hides it";
  return [
    ["", type.name === "scalar", "Write the text itself in place of the `$ref`"],
    ["", !/^#\/components\/\w+\/[\w.-]+$/.test($ref), component],
    ...Object.keys(siblings).filter((name) => !annotation.test(name) || /Only$/.test(name))
      .map((name): Verdict => [name, true, name === "nullable" ? orNull : hidden]),
  ];
}

/** Makes the visitor that reports what is refused. */
function refused() {
  let root: Any;
  const reportAll = (verdicts: Verdict[], { location, report, type }: Any) => {
    for (const [field, isRefused, message] of verdicts) {
      const place = field ? location.child([field]) : location;
      if (isRefused) report({ message, location: place, ruleId: field || type.name });
    }
  };
  return {
    ref: (node: Any, context: Any) => reportAll(problemsOf(node, context), context),
    any(node: Any, context: Any): void {
      root ??= node; // The root comes first.
      try {
        const [key] = Object.values<Any>(root.components?.securitySchemes ?? {});
        const more = { resolve: resolverOf(root), keyName: key?.name?.toLowerCase() };
        reportAll(rules[context.type.name]?.(node, { ...context, ...more }) ?? [], context);
      } catch (error) {
        context.report({ message: `${error}`, ruleId: BUG });
      }
    },
  };
}

/** Makes the visitor that takes out what openapi-typescript would take for paths, statuses or fields. */
function annotated() {
  const takeOut = (node: Any) => {
    for (const name in node) if (name.startsWith("x-")) delete node[name];
  };
  return {
    Paths: takeOut,
    Responses: takeOut,
    Schema(schema: Any) {
      takeOut(schema);
      if (schema?.oneOf ?? schema?.anyOf) delete schema.discriminator;
    },
  };
}

/** Redocly's rules, and ours. */
const ruleNames = `client/refused struct no-unresolved-refs no-identical-paths operation-operationId
  operation-operationId-unique operation-parameters-unique path-parameters-defined
  path-not-include-query security-defined spec-components-invalid-map-name
  no-enum-type-mismatch no-invalid-media-type-examples no-invalid-schema-examples
  no-invalid-parameter-examples`.split(/\s+/);

/** What all rules are set to. */
const settings = {
  severity: "error",
  allowAdditionalProperties: true, // Examples may have properties that the schema does not name.
} as const;

/** The configuration of Redocly. */
export const redoclyConfig: RawUniversalConfig = {
  plugins: [{
    id: "client",
    preprocessors: { oas3: { annotated } },
    rules: { oas3: { refused } },
  }],
  preprocessors: { "client/annotated": "on" },
  rules: {
    ...Object.fromEntries(ruleNames.map((name) => [name, settings])),
    "request-mime-type": { ...settings, allowedValues: ["application/json"], message: onlyJson },
  },
};
