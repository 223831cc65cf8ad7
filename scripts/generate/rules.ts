/**
 * What the OpenAPI document must not contain, because types, requests or checks would be wrong, and
 * what to write instead. CONTRIBUTING.md lists it.
 *
 * @module
 */

import type { RawUniversalConfig } from "@redocly/openapi-core";
import { forChecks } from "./checks.ts";
import { type Any, isCircular, partsOf, resolverOf, typeOf, typesOf, valuesOf } from "./schemas.ts";

/** A field of a node or "", whether it is refused (anything truthy), and what to write instead. */
type Verdict = [field: string, isRefused: unknown, advice: string];

const receivesNothing = "Leave it out: the client receives no requests";
const oneServer = "Leave it out: all requests go to `baseUrl`";
const besideOperationId = "Write `x-idempotent`, beside `operationId`";

/** What to write in place of fields that are always refused, by the OpenAPI type of their node. */
const refusedFields: Record<string, string> = {
  "Root webhooks": receivesNothing,
  "Root x-idempotent": besideOperationId,
  "PathItem servers": oneServer,
  "PathItem trace": "Leave it out: fetch does not send TRACE",
  "PathItem x-idempotent": besideOperationId,
  "Operation servers": oneServer,
  "Operation callbacks": receivesNothing,
  "Parameter allowReserved": "Leave it out: values are percent-encoded",
  "Parameter content": "Write `schema: { type: string }`: callers write the text",
  "Example externalValue": "Write `value`",
  "Schema nullable": 'Write `type: [string, "null"]` or `anyOf: [{ $ref: … }, { type: "null" }]`',
  "Schema patternProperties": "Write `additionalProperties`, and the names in `description`",
  "Schema prefixItems": "Write `items`, with `anyOf` for several kinds",
  "Schema $defs": "Write the schemas below `components: schemas:`",
};

/** Paths as they are in URLs, without an empty segment, `.` or `..`. */
const path = /^(\/|(\/(?!\.\.?(\/|$))([\w~!$&'()*+,;=:@.-]|%[\dA-F]{2}|{[^{}]+})+)+\/?)$/;

/** Names of methods that the client has already, and of the one that makes a promise of an object. */
const reservedMethods = `GET PUT POST DELETE OPTIONS HEAD PATCH TRACE request use eject
  call checkOwnKey then`.split(/\s+/);

/** Names such as `x-idempotant`. */
const misspelled = /^x-?(?!idempotent$)i[demn]{2,4}p\w{3,6}$/i;

const ofData = "2XX|20[0-7]";
const ofErrors = "[45]XX|4(0\\d|1[0-8]|2\\d|3[01]|44|5[01]|9[7-9])|5(0[0-8]|1[01])";
const ofNeither = "default|[13](XX|\\d\\d)";
/** The statuses that openapi-fetch's types have, or that are neither data nor an error. */
const status = new RegExp(`^(${ofData}|${ofErrors}|${ofNeither})$`);

/** Names that openapi-fetch and fetch send, by the place of a parameter. */
const names: Record<string, RegExp> = {
  path: /^(?!__proto__$)\w[\w.-]*$/,
  query: /^(?!__proto__$)[\w.:$@~[\]-]+$/,
  header: /^[\w!#$%&'*+.^`|~-]+$/,
};

/** Headers that the client, fetch or callers send. */
const sentHeaders = `accept authorization connection content-length content-type cookie expect host
  keep-alive te trailer transfer-encoding upgrade`.split(/\s+/);

const joined = "Leave it out, and write `schema: { type: string }`: callers join the values";
/** What to write in place of a style of parameters. */
const styles: Record<string, string> = {
  matrix: "Leave it out, and write `;name={name}` in the path",
  label: "Leave it out, and write `.{name}` in the path",
  pipeDelimited: joined,
  spaceDelimited: joined,
  deepObject: "Leave it out, and write a parameter for each property, such as `filter[name]`",
};

/** Tells whether values have other types than those that are named, or not all of them. */
function haveOtherTypes(values: Any[], named: string[]): boolean {
  const types = new Set(named.map((type) => type.replace("integer", "number")));
  return types.symmetricDifference(new Set(values.map(typeOf))).size > 0;
}

/** Tells whether `required` has a name that `properties` lacks, in a schema that stands alone. */
function hasUnknownName({ allOf, oneOf, properties, required }: Any, pointer: string): boolean {
  const isPart = allOf || oneOf || /\/(all|any|one)Of\/\d+$/.test(pointer);
  return properties && !isPart &&
    required?.some((name: string) => !Object.hasOwn(properties, name));
}

/** What is wrong with a node, by its OpenAPI type. */
const rules: Record<string, (node: Any, context: Any) => Verdict[]> = {
  Paths: (paths) =>
    Object.keys(paths).map((name) => [name, !path.test(name), "Write the path as it is in URLs"]),

  Operation(operation, { key, resolve }) {
    const { "x-idempotent": idempotent, operationId, requestBody, responses } = operation;
    const isMethod = /^[a-z]\w*$/i.test(operationId) && !(operationId in {}) &&
      !reservedMethods.includes(operationId);
    const successes = Object.entries(Object(responses)).filter(([name]) => name.startsWith("2"));
    const hasWrongContent = successes.some(([name, response]) =>
      (key === "head" || /^20[45]$/.test(name)) && resolve(response).content
    );
    const methodName = "Write another, such as `getReport`: the client gets a method of this name";
    return [
      ["operationId", operationId && !isMethod, methodName],
      ["requestBody", requestBody && /get|head/.test(key), "Leave it out, or write `post`"],
      ["responses", successes.length === 0, "Add a success response, such as `2XX`"],
      ["responses", hasWrongContent, "Leave `content` out: HEAD, 204 and 205 have no body"],
      ["x-idempotent", !/boolean|undefined/.test(typeof idempotent), "Write `true` or `false`"],
    ];
  },

  Parameter({ explode, in: place, name, required, schema, style }, { resolve, root }) {
    const [key] = Object.values<Any>(root.components?.securitySchemes ?? {});
    const isSent = place === "header" &&
      [...sentHeaders, key?.name?.toLowerCase()].includes(name.toLowerCase());
    const isList = place === "query" && `${typesOf(schema, resolve)}` === "array";
    const types = typesOf(isList ? resolve(schema).items : schema, resolve);
    const isScalar = types.length > 0 && !/null|array|object/.test(`${types}`);
    const sent = "Leave it out: the client sends it, or callers set it in `headers`";
    const scalar = "Write a string, number or boolean, or in a query a list of these, or a " +
      "parameter for each property, such as `filter[name]`";
    return [
      ["in", place === "cookie", "Write `in: header`, or leave it out: the client has no cookies"],
      ["name", isSent, sent],
      ["name", names[place]?.test(name) === false, "Write a name that fetch can send"],
      ["required", place === "path" && !required, "Write `required: true`"],
      ["style", styles[style], styles[style]!],
      ["explode", isList && explode === false, joined],
      ["schema", schema && !isScalar, scalar],
    ];
  },

  RequestBody({ content }) {
    const isOther = `${Object.keys(content)}` !== "application/json";
    const others = "Leave all but `application/json` out, or the operation: `call` can send others";
    return [["content", isOther, others]];
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

  NamedSecuritySchemes(schemes) {
    const isKey = ({ in: place, name, type }: Any) =>
      type === "apiKey" && place === "header" && names.header!.test(name) &&
      !sentHeaders.includes(name.toLowerCase());
    const key = Object.keys(schemes).find((name) => isKey(schemes[name]));
    const other = "Leave it out, and write `security: []` or a key in a header (`type: apiKey`, " +
      "`in: header`, a `name` that fetch can send) where it is named: callers set it in `headers`";
    return Object.keys(schemes).map((name) => [name, name !== key, other]);
  },

  Schema(schema, { location: { pointer }, resolve, root }) {
    const { additionalProperties: others, allOf, anyOf, items, oneOf, properties, type } = schema;
    const { readOnly, uniqueItems, writeOnly } = schema;
    const types = [type].flat();
    const values = valuesOf(schema);
    const hasObject = values.some((value) => Object(value) === value);
    const isOther = type && values.length > 0 && haveOtherTypes(values, types);
    const hasBoth = properties && Object.keys(Object(others)).length > 0;
    const itemTypes = `${typesOf(items ?? {}, resolve)}`;
    const isLone = ["allOf", "anyOf", "oneOf", "type"].some((name) => items?.[name]?.length === 1);
    const isSlow = uniqueItems && /array|object|^$/.test(itemTypes);
    const isProperty = /\/properties\/[^/]+$/.test(pointer);
    const isNull = isProperty && `${typesOf(schema, resolve)}` === "null";
    const isMarked = !isProperty && (readOnly || writeOnly);
    const parts = partsOf(schema, resolve).filter((part) => part.properties);
    const closed = parts.length > 1 && parts.find((part) => part.additionalProperties === false);
    const [closedName = "it"] = Object.entries(root.components?.schemas ?? {})
      .find(([, component]) => component === closed) ?? [];
    const open = `Leave \`additionalProperties: false\` out of ${closedName}: others have more`;
    const typeBeside = "Write `type: object` or `type: array` beside it";
    const oneLimit = "Leave it or the exclusive limit out";
    return [
      // Mistakes
      ["required", hasUnknownName(schema, pointer), "Write only names that `properties` has"],
      ["allOf", closed, open],
      // What openapi-typescript types differently
      ["", isCircular(schema, resolve), "Write a property in between: it is a part of itself"],
      ["properties", properties && !types.includes("object"), typeBeside],
      ["additionalProperties", others && !types.includes("object"), typeBeside],
      ["additionalProperties", hasBoth, "Write `true`: no type has both kinds of names"],
      ["items", items && !types.includes("array"), typeBeside],
      ["items", itemTypes === "array" && isLone, "Write `type: array` directly in it"],
      ["anyOf", anyOf && (properties || others || allOf), "Write it into a schema in `allOf`"],
      ["type", oneOf && Array.isArray(type), "Leave it out: the schemas in `oneOf` have types"],
      ["type", isOther, "Write the types that the values have, and no others"],
      ["", isNull, "Add another type, or leave it out: types lose what can only be null"],
      [schema.enum ? "enum" : "const", hasObject, "Write strings, numbers, booleans or null"],
      [readOnly ? "readOnly" : "writeOnly", isMarked, "Write it below `properties: name:`"],
      // What is checked wrongly or slowly
      ["uniqueItems", isSlow, "Leave it out: only strings, numbers and booleans are compared"],
      ["minimum", "minimum" in schema && "exclusiveMinimum" in schema, oneLimit],
      ["maximum", "maximum" in schema && "exclusiveMaximum" in schema, oneLimit],
    ];
  },
};

/** Makes the visitor of all nodes, which reports what `refusedFields` and `rules` refuse. */
function checkNodes() {
  let root: Any;
  return (node: Any, context: Any): void => {
    root ??= node; // The root comes first.
    const { location, report, type: { name: type } } = context;
    const anyObject = "Write another name: all objects in JavaScript have this one";
    if (type === "Schema" && node === true) {
      report({
        message: "Write `{}`: it allows any value",
        location: location.key(),
        ruleId: type,
      });
    }
    try {
      const verdicts = [
        ...Object.keys(node).flatMap((field): Verdict[] => {
          const advice = refusedFields[`${type} ${field}`];
          const isMisspelled = /^(Operation|PathItem|Root)$/.test(type) && misspelled.test(field);
          return [
            [field, field in {}, anyObject],
            [field, isMisspelled, besideOperationId],
            [field, advice && node[field], advice!],
          ];
        }),
        ...rules[type]?.(node, { ...context, resolve: resolverOf(context), root }) ?? [],
      ];
      for (const [field, isRefused, message] of verdicts) {
        const place = field ? location.child([field]) : location;
        const ruleId = field && !(field in {}) ? field : type;
        if (isRefused) report({ message, location: place.key(), ruleId });
      }
    } catch {
      // The node, or a field of it, has a wrong type, which `struct` reports.
    }
  };
}

/** Fields that may stand beside a reference. */
const annotation = /^(summary|description|title|default|deprecated|examples?|externalDocs|x-.*)$/;

/** Reports a reference to anything but a component of its kind, and what is not read beside one. */
function checkReference(node: Any, { location, report, resolve, type }: Any): void {
  const { $ref, ...siblings } = node;
  const section = `${type.name[0].toLowerCase()}${type.name.slice(1).replace(/y$/, "ie")}s`;
  const folder = `#/components/${section}/`; // such as "#/components/requestBodies/"
  const [before, name] = $ref.split(/(?<=\/)([^/]*)$/);
  const isKnown = before === folder && /^[\w.-]+$/.test(name) && resolve(node).node !== undefined;
  if (!isKnown) {
    const message = `Write \`${folder}\` and a name that is there, in place of \`${$ref}\``;
    report({ message, location, ruleId: "$ref" });
    node.$ref = "#/nowhere"; // Otherwise, what it names would be reported, too.
  }
  const message = type.name === "Schema"
    ? "Write `allOf: [{ $ref: … }]` in place of the `$ref` beside it, which hides it"
    : "Leave it out: the `$ref` beside it hides it";
  for (const ruleId of Object.keys(siblings).filter((field) => !annotation.test(field))) {
    report({ message, location: location.child([ruleId]).key(), ruleId });
  }
}

/** The most references in a chain. Redocly follows them, and has no stack for twice as many. */
const longestChain = 250;

/** Makes the visitor of references, which throws an error with a location where a chain is too long. */
function checkReferences() {
  let length = 0;
  return {
    ref: {
      enter(node: Any, context: Any) {
        const advice = `Write \`{}\`, or fewer schemas: more than ${longestChain} are in a chain`;
        const { location } = context;
        if (++length > longestChain) throw Object.assign(new Error(advice), { location });
        checkReference(node, context);
      },
      leave: () => void length--,
    },
  };
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
  spec-components-invalid-map-name no-invalid-media-type-examples
  no-invalid-schema-examples no-invalid-parameter-examples client/refused`.split(/\s+/);

/** What all rules are set to. Those about examples allow properties that the schema does not name. */
const settings = { severity: "error", allowAdditionalProperties: true } as const;

/** The configuration of Redocly. */
export const redoclyConfig: RawUniversalConfig = {
  plugins: [{
    id: "client",
    preprocessors: { oas3: { references: checkReferences, annotations: withoutAnnotations } },
    rules: { oas3: { refused: () => ({ any: checkNodes() }) } },
    decorators: { oas3: { "for-checks": forChecks } },
  }],
  preprocessors: { "client/references": "error", "client/annotations": "on" },
  decorators: { "client/for-checks": "on" },
  rules: Object.fromEntries(ruleNames.map((name) => [name, settings])),
};
