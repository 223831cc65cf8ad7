/**
 * What the OpenAPI document must not contain, because types, requests or checks would be wrong, and
 * what to write instead. CONTRIBUTING.md has the reasons.
 *
 * @module
 */

import type { RawUniversalConfig } from "@redocly/openapi-core";
import { forChecks } from "./checks.ts";
import { type Any, partsOf, resolverOf, typesOf, valuesOf } from "./schemas.ts";

/** A field of a node, whether it is refused (anything truthy), and what to write instead. */
type Verdict = [field: string, isRefused: unknown, advice: string];

const receivesNothing = "Leave it out: the client receives no requests";
const oneServer = "Leave it out: all requests go to `baseUrl`";
const typeBeside = "Write `type: object` or `type: array` beside it";
const oneLimit = "Leave it or the exclusive limit out";
const notNull = "Add another type, or leave it out: types lose what can only be null";
const keyInHeader =
  "Write one scheme with `type: apiKey` and `in: header`: callers give others in `headers`";
const closed =
  "Leave `additionalProperties: false` out of it: it refuses what the other schemas have";
const unusedName = "Write another, such as `getReport`: the client gets a method of this name";
const sendable = "Write a name that fetch can send, and that neither it nor the client sets";

/** Fields that are always refused, by the OpenAPI type of their node. */
const refusedFields: Record<string, Record<string, string>> = {
  Root: { webhooks: receivesNothing },
  PathItem: { servers: oneServer, trace: "Leave it out: fetch does not send TRACE" },
  Operation: { servers: oneServer, callbacks: receivesNothing },
  Parameter: {
    allowReserved: "Leave it out: values are percent-encoded",
    content: "Write `schema: { type: string }`: callers write the text",
  },
  Schema: {
    nullable: 'Write `type: [string, "null"]` or `anyOf: [{ $ref: … }, { type: "null" }]`',
    patternProperties: "Write `additionalProperties`, and in `description` which names there are",
    prefixItems: "Write `items`, with `anyOf` for several kinds",
    $defs: "Write the schemas below `components: schemas:`",
  },
};

/** Paths as they are in URLs, without an empty segment, `.` or `..`. */
const path = /^(\/|(\/(?!\.\.?(\/|$))([\w~!$&'()*+,;=:@.-]|%[\dA-F]{2}|{[^{}]+})+)+\/?)$/;

/** The statuses that openapi-fetch's types have, or that are neither data nor an error. */
const status =
  /^(default|[1-5]XX|20[0-7]|[13]\d\d|4(0\d|1[0-8]|2\d|3[01]|44|5[01]|9[7-9])|5(0[0-8]|1[01]))$/;

/** Names that openapi-fetch and fetch send, by the place of a parameter. */
const names: Record<string, RegExp> = {
  path: /^(?!__proto__$)\w[\w.-]*$/,
  query: /^(?!__proto__$)[\w.:$@~[\]-]+$/,
  header:
    /^(?!(accept|accept-(charset|encoding)|authorization|connection|content-(length|type)|cookie2?|date|dnt|expect|host|keep-alive|origin|referer|te|trailer|transfer-encoding|upgrade|via|(access-control-request|proxy|sec)-.*)$)[\w!#$%&'*+.^`|~-]+$/i,
};

/** Names of methods that the client has already, and of the one that makes a promise of an object. */
const reservedMethods = `GET PUT POST DELETE OPTIONS HEAD PATCH TRACE request use eject
  call checkOwnKey then`.split(/\s+/);

/** What is wrong with a node, by its OpenAPI type. */
const rules: Record<string, (node: Any, context: Any) => Verdict[]> = {
  Paths: (paths) =>
    Object.keys(paths).map((name) => [name, !path.test(name), "Write the path as it is in URLs"]),

  Operation(operation, { key, resolve }) {
    const { "x-idempotent": idempotent, operationId, requestBody, responses = {} } = operation;
    const isMethod = /^[a-z]\w*$/i.test(operationId) && !(operationId in {}) &&
      !reservedMethods.includes(operationId);
    const successes = Object.entries(responses).filter(([name]) => name.startsWith("2"));
    const hasWrongContent = successes.some(([name, response]) =>
      (key === "head" || /^20[45]$/.test(name)) && resolve(response).content
    );
    return [
      ["operationId", operationId && !isMethod, unusedName],
      ["requestBody", requestBody && /get|head/.test(key), "Leave it out, or write `post`"],
      ["responses", successes.length === 0, "Add a success response, such as `2XX`"],
      ["responses", hasWrongContent, "Leave `content` out: HEAD, 204 and 205 have no body"],
      ["x-idempotent", !/boolean|undefined/.test(typeof idempotent), "Write `true` or `false`"],
    ];
  },

  Parameter({ explode, in: place, name, required, schema, style }, { resolve, root }) {
    const [scheme] = Object.values<Any>(root.components?.securitySchemes ?? {});
    const isKey = place === "header" && `${name}`.toLowerCase() === scheme?.name?.toLowerCase();
    const isList = place === "query" && `${typesOf(schema, resolve)}` === "array";
    const types = typesOf(isList ? resolve(schema).items : schema, resolve);
    const isScalar = types.length > 0 && !/null|array|object/.test(`${types}`);
    const isOdd = style && style !== (place === "query" ? "form" : "simple");
    const repeated = "Leave it out: a query repeats the name of a list; or write `type: string`";
    const scalar = "Write a string, number or boolean, or in a query a list of these; for an " +
      "object, write a parameter for each property";
    return [
      ["in", place === "cookie", "Write `in: header`, or leave it out: the client has no cookies"],
      ["name", isKey || names[place]?.test(name) === false, sendable],
      ["required", place === "path" && !required, "Write `required: true`"],
      ["style", isOdd, repeated],
      ["explode", isList && explode === false, repeated],
      ["schema", schema && !isScalar, scalar],
    ];
  },

  RequestBody({ content }) {
    const isJson = `${Object.keys(content)}` === "application/json";
    return [["content", !isJson, "Write `application/json`, or leave the operation out"]];
  },

  Responses: (responses, { resolve }) =>
    Object.entries<Any>(responses).flatMap(([name, response]): Verdict[] => {
      const types = Object.keys(resolve(response).content ?? {});
      const isAny = name.startsWith("2") && types.some((type) => type.includes("*"));
      return [
        [name, !status.test(name), "Write `2XX`, `4XX` or `5XX`: types do not have this status"],
        [name, isAny, "Write a media type, such as `application/json`, in place of one with `*`"],
      ];
    }),

  NamedSecuritySchemes: (schemes) =>
    Object.keys(schemes).map((name, index) => [name, index > 0, keyInHeader]),

  SecurityScheme: ({ type, in: place, name }) => [
    ["type", type !== "apiKey" || place !== "header", keyInHeader],
    ["name", place === "header" && !names.header!.test(name), sendable],
  ],

  Schema(schema, { location: { pointer }, rawNode, resolve }) {
    const { allOf, anyOf, items, oneOf, properties, required, type } = schema;
    const { additionalProperties: others } = schema;
    const isMissing = (name: string) => ![type].flat().includes(name);
    // Other schemas may have the properties that a part of them requires.
    const isPart = allOf || oneOf || /\/(all|any|one)Of\/\d+$/.test(pointer);
    const isTypo = properties && !isPart &&
      required?.some((name: string) => !Object.hasOwn(properties, name));
    const hasBoth = properties && Object.keys(Object(others)).length > 0;
    const parts = partsOf(schema, resolve).filter((part) => part.properties);
    const isClosed = parts.length > 1 && parts.some((part) => part.additionalProperties === false);
    const itemTypes = `${typesOf(items ?? {}, resolve)}`;
    const isLone = ["allOf", "anyOf", "oneOf", "type"].some((name) => items?.[name]?.length === 1);
    const isSlow = schema.uniqueItems && /array|object|^$/.test(itemTypes);
    const hasObject = valuesOf(schema).some((value) => Object(value) === value);
    const isProperty = rawNode === schema && /\/properties\/[^/]+$/.test(pointer);
    const isMarked = !isProperty && (schema.readOnly || schema.writeOnly);
    const isCircular = [allOf, anyOf, oneOf].flat().some((part) =>
      part && partsOf(part, resolve, ["allOf", "anyOf", "oneOf"]).includes(schema)
    );
    return [
      ["properties", properties && isMissing("object"), typeBeside],
      ["required", isTypo, "Write only names that `properties` has"],
      ["additionalProperties", others && isMissing("object"), typeBeside],
      ["additionalProperties", hasBoth, "Write `true`: no type has both kinds of names"],
      ["allOf", isClosed, closed],
      ["items", items && isMissing("array"), typeBeside],
      ["items", itemTypes === "array" && isLone, "Write `type: array` directly in it"],
      ["uniqueItems", isSlow, "Leave it out: only strings, numbers and booleans are compared"],
      ["anyOf", anyOf && (properties || others || allOf), "Write it into a schema in `allOf`"],
      ["type", oneOf && Array.isArray(type), "Leave it out: the schemas in `oneOf` have types"],
      [schema.enum ? "enum" : "const", hasObject, "Write strings, numbers, booleans or null"],
      [schema.readOnly ? "readOnly" : "writeOnly", isMarked, "Write it below `properties: name:`"],
      ["minimum", "minimum" in schema && "exclusiveMinimum" in schema, oneLimit],
      ["maximum", "maximum" in schema && "exclusiveMaximum" in schema, oneLimit],
      ["", isCircular, "Refer to it from `properties`: it is a part of itself"],
    ];
  },

  SchemaProperties: (properties, { resolve }) =>
    Object.entries<Any>(properties).map(
      ([name, property]) => [name, `${typesOf(property, resolve)}` === "null", notNull],
    ),
};

/** Makes the visitor of a document that reports what is refused. */
function refuse() {
  let root: Any;
  return (node: Any, context: Any): void => {
    root ??= node; // which comes first
    if (Object(node) !== node) return; // which `struct` reports
    const { location, report, type: { name: type } } = context;
    const verdicts = Object.entries(refusedFields[type] ?? {})
      .map(([field, advice]): Verdict => [field, node[field], advice]);
    for (const field in node) {
      const isMisspelled = /^x-.*(idem|potent)/i.test(field) &&
        (type !== "Operation" || field !== "x-idempotent");
      verdicts.push(
        [field, isMisspelled, "Write `x-idempotent`, beside `operationId`"],
        [field, field in {}, "Write another name: all objects in JavaScript have this one"],
      );
    }
    try {
      verdicts.push(
        ...rules[type]?.(node, { ...context, resolve: resolverOf(context), root }) ?? [],
      );
    } catch {
      // A field of the node has a wrong type, which `struct` reports.
    }
    for (const [field, isRefused, message] of verdicts) {
      const place = field ? location.child([field]) : location;
      const ruleId = field && !(field in {}) ? field : type;
      if (isRefused) report({ message, location: place.key(), ruleId });
    }
  };
}

/** Reports a reference to anything but a component of its kind, and what types lack beside one. */
function checkReference(node: Any, { location, report, resolve, type }: Any): void {
  const { $ref, readOnly, writeOnly } = node;
  const section = `${type.name[0].toLowerCase()}${type.name.slice(1).replace(/y$/, "ie")}s`;
  const folder = `#/components/${section}/`; // such as "#/components/requestBodies/"
  const [before, name] = $ref.split(/(?<=\/)([^/]*)$/);
  const isKnown = before === folder && /^[\w.-]+$/.test(name) && resolve(node).node !== undefined;
  const message = isKnown
    ? (readOnly || writeOnly) && "Write `allOf: [{ $ref: … }]` in its place"
    : `Write \`${folder}\` and a name that is there, in place of \`${$ref}\``;
  if (message) report({ message, location, ruleId: "$ref" });
  if (!isKnown) node.$ref = "#/nowhere"; // so that nothing in what it names is reported
}

/** Takes out annotations that openapi-typescript would take for paths, statuses or properties. */
function withoutAnnotations() {
  const takeOut = (node: Any) => {
    for (const name in node) if (/^x-|^discriminator$/.test(name)) delete node[name];
  };
  return { Paths: takeOut, Responses: takeOut, Schema: takeOut };
}

/** Redocly's rules, and ours. */
const ruleNames = `struct no-identical-paths operation-operationId
  operation-operationId-unique operation-parameters-unique path-parameters-defined security-defined
  spec-components-invalid-map-name no-enum-type-mismatch no-invalid-media-type-examples
  no-invalid-schema-examples no-invalid-parameter-examples client/refused`.split(/\s+/);

const settings = { severity: "error", allowAdditionalProperties: true } as const; // of examples

/** The configuration of Redocly. */
export const config: RawUniversalConfig = {
  plugins: [{
    id: "client",
    preprocessors: {
      oas3: { references: () => ({ ref: checkReference }), annotations: withoutAnnotations },
    },
    rules: { oas3: { refused: () => ({ any: refuse() }) } },
    decorators: { oas3: { "for-checks": forChecks } },
  }],
  preprocessors: { "client/references": "error", "client/annotations": "on" },
  decorators: { "client/for-checks": "on" },
  rules: Object.fromEntries(ruleNames.map((name) => [name, settings])),
};
