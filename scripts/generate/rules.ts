/**
 * What the OpenAPI document must not contain, because a type, a request or a check would silently
 * differ from it, or no call could succeed, and what to write instead.
 *
 * @module
 */

import type { RawUniversalConfig } from "@redocly/openapi-core";
import { keywords } from "./checks.ts";
import { type Any, partsOf, type Resolve, resolverOf, typesOf } from "./schemas.ts";

/** A field of a node or "", whether it is refused (anything truthy), and what to write instead. */
type Verdict = [field: string, isRefused: unknown, advice: string];

/** What is wrong with a node, by its OpenAPI type. */
type Rules = Record<string, (node: Any, context: Any) => Verdict[]>;

const oneServer = "Leave it out: all requests go to `baseUrl`";
const inPath = "Leave it out, and write `;name={name}` or `.{name}` in the path";
const joined = "Leave it out, and write `schema: { type: string }`: callers join the values";
const orNull = 'Leave it out, and add null as a type: `type: [string, "null"]`, or ' +
  '`anyOf: [{ $ref: … }, { type: "null" }]`';
const aScalar = "Write strings, numbers, booleans and null; for others, write a schema in `anyOf`";
const aNumber = "Write the number here, in place of `minimum` or `maximum`";

/** What to write in place of keywords that are not checked, and of what Redocly's rules refuse. */
const insteadOf: Record<string, string> = {
  nullable: orNull,
  discriminator: "Leave it out, and give the union a schema of its own: `oneOf: [{ $ref: … }, …]`",
  "request-mime-type":
    "Write `application/json` (callers set another `Content-Type` in `headers`)" +
    ", or leave the operation out: callers pass the body, such as a `FormData`, to `call`",
};
const checked = `Leave it out, or write it with ${keywords.join(", ")}: nothing else is checked`;

/** Methods that clients have for any document, or that JavaScript calls. */
const taken =
  /^(call|checkOwnKey|eject|request|then|toJSON|use|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT|TRACE)$/;

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

/** Lists the properties that a closed schema refuses, and another one of the same value has. */
function namesShutOut(schema: Any, resolve: Resolve): string[] {
  const { allOf = [], anyOf, oneOf, ...own } = schema;
  const groups: Any[][] = [own, ...allOf, { anyOf }, { oneOf }]
    .map((part) => partsOf(part, resolve, ["allOf", "anyOf", "oneOf"]));
  return groups.flatMap((group) => {
    const others = groups.filter((other) => other !== group).flat();
    const names = others.flatMap(({ properties = {} }) => Object.keys(properties));
    return group.filter(({ additionalProperties }) => additionalProperties === false)
      .flatMap(({ properties = {} }) => names.filter((name) => !Object.hasOwn(properties, name)));
  });
}

/** What the list lacks: these rules come first, so that nodes may have wrong types. */
const listed: Rules = {
  ref({ $ref, ...siblings }, { type }) {
    const component = "Write `#/components/`, its kind and its name: the document is one file";
    const hidden = "Write `allOf: [{ $ref: … }]` in place of the `$ref` beside it, which hides it";
    return [
      ["", type.name === "scalar", "Write the text itself in place of the `$ref`"],
      ["", !/^#\/components\/\w+\/[\w.-]+$/.test($ref), component],
      ...Object.keys(siblings).map((name): Verdict => {
        const isRefused = !annotation.test(name) || /Only$/.test(name);
        return [name, isRefused, name === "nullable" ? orNull : hidden];
      }),
    ];
  },

  Schema: (schema) =>
    Object.entries<Any>(Object(schema)).map(([name, value]) => {
      if (/^exclusive/.test(name)) return [name, value === true, aNumber];
      const isEmpty = /^(anyOf|enum|oneOf|type)$/.test(name) && value?.length === 0;
      if (isEmpty) return [name, true, "Leave it out: without members, it matches nothing"];
      const isKnown = keywords.includes(name) || annotation.test(name);
      return [name, !isKnown, insteadOf[name] ?? checked];
    }),
};

/** What is on the list, but would be wrong as it is combined. */
const combined: Rules = {
  Paths: (paths) =>
    Object.keys(paths).map((path) => [path, !isUrlPath(path), "Write the path as URLs have it"]),

  PathItem: (item) => [
    ["servers", item.servers, oneServer],
    ["x-idempotent", "x-idempotent" in item, "Write it beside `operationId`"],
  ],

  Operation(operation, { key, location: { pointer } }) {
    const { operationId, requestBody, responses = {}, servers } = operation;
    const { "x-idempotent": idempotent = true } = operation;
    const isTaken = operationId in {} || taken.test(operationId);
    const canSucceed = pointer.includes("/callbacks/") || // The service is the one that calls.
      Object.keys(responses).some((status) => status.startsWith("2"));
    return [
      ["", key === "trace", "Leave it out: `fetch` does not allow TRACE"],
      ["servers", servers, oneServer],
      ["operationId", isTaken, "Write another name: clients or JavaScript use this one"],
      ["requestBody", requestBody && /get|head/.test(key), "Leave it out: GET and HEAD have none"],
      ["responses", !canSucceed, "Add a `2XX` response: a status that is not listed is refused"],
      ["x-idempotent", typeof idempotent !== "boolean", "Write `true` or `false`"],
    ];
  },

  Parameter({ explode, in: place, name, schema = {}, style }, { resolve, root }) {
    const [key] = Object.values<Any>(root.components?.securitySchemes ?? {});
    const isSent = place === "header" &&
      [key?.name?.toLowerCase(), ...sentHeaders].includes(name.toLowerCase());
    const isOdd = /path|query/.test(place) && !/^(?![.;])[\w.:$@~[\]-]+$/.test(name);
    const isList = place === "query" && `${typesOf(schema, resolve)}` === "array";
    const types = typesOf(isList ? resolve(schema).items ?? {} : schema, resolve);
    const isScalar = types.length > 0 && !/null|array|object/.test(`${types}`);
    const isUsual = !style || style === (place === "query" ? "form" : "simple");
    const scalar = "Write a `schema` of a string, number or boolean, or in a query of a list of " +
      "these; for an object, write a parameter for each property, such as `filter[name]`";
    return [
      ["in", place === "cookie", "Leave it out: callers set the header `Cookie` in `headers`"],
      ["name", isSent, "Leave it out: the client sends it, or callers set it in `headers`"],
      ["name", isOdd, "Write a name that URLs have as it is"],
      ["style", isScalar && !isUsual, place === "path" ? inPath : joined],
      ["explode", isList && explode === false, joined],
      ["schema", types.includes("null"), "Leave null out: callers leave the parameter out"],
      ["schema", !isScalar, scalar],
    ];
  },

  Responses(responses, { location, resolve }) {
    const successes = Object.keys(responses).filter((status) => status.startsWith("2"));
    return successes.flatMap((status): Verdict[] => {
      const types = Object.keys(resolve(responses[status]).content ?? {});
      const isEmpty = /^20[45]$/.test(status) || location.pointer.endsWith("/head/responses");
      const isJson = types.length < 2 &&
        types.every((type) => /^application\/([^*]+\+)?json(;|$)/.test(type));
      const advice =
        "Write one type of JSON, or leave the operation out: for others, callers pass " +
        "types of their own to `createClient`, and set `parseAs`";
      return [
        [status, !/^2(\d\d|XX)$/.test(status), "Write it like `200` or `2XX`"],
        [status, isEmpty && types.length > 0, "Leave `content` out: HEAD, 204 and 205 have none"],
        [status, !isJson, advice],
      ];
    });
  },

  NamedSecuritySchemes(schemes) {
    const isKey = ({ in: place, type }: Any) => type === "apiKey" && place === "header";
    const key = Object.keys(schemes).find((name) => isKey(schemes[name]));
    const other = "Leave it out, and write `security: []` or a key in a header (`type: apiKey`, " +
      "`in: header`) where it is named: callers set it in `headers`";
    return Object.keys(schemes).map((name) => [name, name !== key, other]);
  },

  Schema(schema, { resolve }) {
    const { additionalProperties: others, allOf, anyOf, items, oneOf, properties } = schema;
    const { required = [], type, uniqueItems } = schema;
    const isPart = (value: unknown) => Object(value) === value;
    const isNullLost = [type].flat().includes("null") && schema.enum?.includes(null) === false;
    const shutOut = [...new Set(namesShutOut(schema, resolve))];
    const closed = "Leave `additionalProperties: false` out of each part and branch, or write " +
      `\`${shutOut}\` below \`properties\` there, too: it refuses what others have`;
    const lost = required.filter((name: string) => !isTyped(name, schema, resolve));
    const typed =
      `Write \`${lost}\` below \`properties\`, too, or \`required\` beside an \`allOf\` ` +
      "with a schema that has it: types lose it here";
    const inherited = Object.keys(properties ?? {}).filter((name) => name in {});
    const itemTypes = `${typesOf(items ?? {}, resolve)}`;
    const isLone = itemTypes === "array" && !items.$ref && items.type !== "array";
    const isSet = uniqueItems && /array|object|^$/.test(itemTypes);
    return [
      ["", !type && (properties ?? others ?? items), "Write its `type`, too"],
      ["properties", inherited.length > 0, `Rename ${inherited}: all objects have this property`],
      ["required", lost.length > 0, typed],
      ["anyOf", anyOf && (properties ?? others ?? allOf), "Write it into a schema in `allOf`"],
      ["", shutOut.length > 0, closed],
      ["enum", schema.enum?.some(isPart), aScalar],
      ["const", isPart(schema.const), aScalar],
      ["enum", isNullLost, "Write null into it, or leave null out of `type`"],
      ["type", oneOf && Array.isArray(type), 'Leave it out, and add `{ type: "null" }` to `oneOf`'],
      ["items", isLone, "Write `type: array` directly in it"],
      ["uniqueItems", isSet, "Leave it out: only strings, numbers and booleans are compared"],
    ];
  },
};

/**
 * Makes the visitor that takes out webhooks, which the service sends, and what openapi-typescript
 * would take for paths, statuses or fields.
 */
function annotated() {
  const takeOut = (node: Any) => {
    for (const name in node) if (name.startsWith("x-")) delete node[name];
  };
  return {
    Root: (root: Any) => void delete root.webhooks,
    Paths: takeOut,
    Responses: takeOut,
    Schema(schema: Any) {
      takeOut(schema);
      if (schema?.oneOf ?? schema?.anyOf) delete schema.discriminator;
    },
  };
}

/** Makes the visitor that reports what some rules refuse. */
function visitorOf(rules: Rules, root: Any) {
  const more = { root, resolve: resolverOf(root) };
  const visit = (rule: Rules[string]) => (node: Any, context: Any): void => {
    for (const [field, isRefused, message] of rule(node, { ...context, ...more })) {
      const location = field ? context.location.child([field]) : context.location;
      if (isRefused) context.report({ message, location, ruleId: field || context.type.name });
    }
  };
  return () => Object.fromEntries(Object.entries(rules).map(([type, rule]) => [type, visit(rule)]));
}

/** Redocly's rules, and ours, in steps: each takes for granted what those before it report. */
const steps = [
  "client/listed",
  "struct no-unresolved-refs",
  `client/combined no-identical-paths operation-operationId operation-operationId-unique
    operation-parameters-unique path-parameters-defined path-not-include-query security-defined
    spec-components-invalid-map-name no-enum-type-mismatch no-invalid-media-type-examples
    no-invalid-schema-examples no-invalid-parameter-examples request-mime-type`,
];

/** What all rules are set to. */
const settings = {
  severity: "error",
  allowAdditionalProperties: true, // Examples may have properties that the schema does not name.
  allowedValues: ["application/json"],
} as const;

/** Returns the configurations of Redocly with which a document is linted one after the other. */
export const redoclyConfigs = (root: Any): RawUniversalConfig[] =>
  steps.map((names) => ({
    plugins: [{
      id: "client",
      preprocessors: { oas3: { annotated } },
      rules: { oas3: { listed: visitorOf(listed, root), combined: visitorOf(combined, root) } },
    }],
    preprocessors: { "client/annotated": "on" },
    rules: Object.fromEntries(
      names.split(/\s+/).map((name) => [name, { ...settings, message: insteadOf[name] ?? "" }]),
    ),
  }));
