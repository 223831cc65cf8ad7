/** Rules for the document in addition to Redocly's: a plugin for its lint. @module */

import type { LocationObject, RawUniversalConfig } from "@redocly/openapi-core";
import { isJsonType, type Json, type JsonObject, listOf, objectOf } from "./json.ts";
import { isCircular, isSendable, type Read } from "./schemas.ts";
import unsupported from "./unsupported.json" with { type: "json" };

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

/** Makes a function that Redocly calls for each node of a type. */
function visit(check: (node: JsonObject, tools: Tools) => void) {
  // deno-lint-ignore no-explicit-any
  return (node: JsonObject, { report, location, resolve }: any): void =>
    check(node, {
      read: (value) => objectOf(resolve(value).node),
      pointer: location.pointer,
      refuse(field, isRefused, message) {
        const place = field === "" ? location : location.child(field);
        if (isRefused) report({ message, location: place.key() as LocationObject });
      },
    });
}

/** Paths that are the same in a URL. */
const urlPath = /^\/$|^(\/(?!\.\.?(\/|$))([\w~!$&'()*+,;=:@.-]|%[\dA-F]{2}|\{[^{}]+\})+)+$/;
/** Statuses that openapi-fetch's types have. */
const knownStatus =
  /^(x-.*|default|[245]XX|20[0-467]|4(0\d|1[0-8]|2\d|3[01]|44|5[01]|9[7-9])|50[0-8]|51[01])$/;
/** Names of parameters that openapi-fetch sends as they are, by place. */
const sendable: Record<string, RegExp> = {
  path: /^[\w-][\w.-]*$/,
  query: /^[\w.:$@~[\]-]+$/,
  header: /^[\w!#$%&'*+.^`|~-]+$/,
};
/** Headers that fetch forbids, and those of media types. */
const reserved = new RegExp(
  "^(accept(-charset|-encoding)?|access-control-request-.*|connection|content-(length|type)|date|" +
    "cookie2?|dnt|expect|host|keep-alive|origin|permissions-policy|proxy-.*|referer|sec-.*|te|" +
    "set-cookie|trailer|transfer-encoding|upgrade|via|x-(http-)?method(-override)?)$",
  "i",
);
/** What may be next to `$ref`. */
const annotation = /^(\$comment|default|deprecated|description|examples?|summary|title|x-.*)$/;

const rules: Record<string, () => object> = {
  "unsupported": () => {
    const visitor = (fields: Record<string, string>) =>
      visit((node, { refuse }) => {
        for (const [name, advice] of Object.entries(fields)) {
          refuse(name, node[name], `\`${name}\` is not supported; ${advice}`);
        }
      });
    const types = Object.entries(unsupported);
    return Object.fromEntries(types.map(([type, fields]) => [type, visitor(fields)]));
  },

  "path": () => ({
    Paths: visit((paths, { refuse }) => {
      const message = "Write the path as URLs have it, without `.`, `..` and empty segments";
      for (const path of Object.keys(paths)) refuse(path, !urlPath.test(path), message);
    }),
  }),

  "idempotent": () => ({
    Operation: visit((operation, { refuse }) => {
      for (
        const name of Object.keys(operation).filter((name) => /^x-.*(idem|potent)/i.test(name))
      ) {
        const isKnown = name === "x-idempotent";
        refuse(name, !isKnown, `Unknown extension \`${name}\`; did you mean \`x-idempotent\`?`);
        const isWrong = isKnown && typeof operation[name] !== "boolean";
        refuse(name, isWrong, "Expected `true` or `false`");
      }
    }),
  }),

  "parameter": () => ({
    Parameter: visit((parameter, { refuse, read }) => {
      const { in: place, name, style, explode, required, schema } = parameter;
      refuse("in", place === "cookie", "Write `header`: the client sends no cookies");
      refuse("in", place === "path" && !required, "Write `required: true` next to it");
      const isName = sendable[`${place}`]?.test(`${name}`) ?? true;
      refuse("name", !isName, "Write letters, digits, `-` and `_`: this name cannot be sent");
      const isHeader = place === "header" && /^authorization$/i.test(`${name}`);
      refuse("name", isHeader, "Leave the parameter out: the client does not send this header");
      const usual = place === "query" ? "form" : "simple";
      const isDeep = place === "query" && style === "deepObject";
      const isStyle = isDeep || (style ?? usual) === usual;
      refuse("style", !isStyle, "Leave it out, or write `deepObject` for an object in a query");
      const isExploded = (explode ?? place === "query") === (place === "query");
      refuse("explode", !isExploded, "Leave it out: lists in a query are repeated names");
      const kind = isDeep ? "object" : place === "header" ? "scalar" : "array";
      const isSent = !schema || isSendable(read(schema), kind, sendable.query!, read);
      const message = "Write `type`: string, number, integer or boolean; an `array` of these is " +
        "not for headers, an `object` is only for queries with `style: deepObject`";
      refuse("schema", !isSent, message);
    }),
  }),

  "request": () => ({
    PathItem: visit(({ get, head }, { refuse }) => {
      const message = "Write `post`, or parameters: fetch sends no body with this method";
      refuse("get", objectOf(get).requestBody, message);
      refuse("head", objectOf(head).requestBody, message);
    }),
    RequestBody: visit(({ content }, { refuse }) => {
      const isJson = Object.keys(objectOf(content)).join() === "application/json";
      refuse("content", !isJson, "Write only `application/json`, which the client sends");
    }),
  }),

  "response": () => ({
    PathItem: visit(({ head }, { refuse, read }) => {
      const responses = Object.values(objectOf(objectOf(head).responses));
      const hasContent = responses.some((response) => read(response).content);
      refuse("head", hasContent, "Leave `content` out: a response to HEAD has no body");
    }),
    Responses: visit((responses, { refuse, read }) => {
      for (const [status, response] of Object.entries(responses)) {
        const isUnseen = /^[13]/.test(status);
        refuse(status, isUnseen, "Leave it out: the client never returns this status");
        const isKnown = isUnseen || knownStatus.test(status);
        refuse(status, !isKnown, `Write \`${status[0]}XX\`: the types do not have \`${status}\``);
        if (!status.startsWith("2")) continue;
        const types = Object.keys(objectOf(read(response).content));
        refuse(status, status === "204" && types[0], "Leave `content` out: a 204 has no body");
        const isOpen = types.some((type) => type.includes("*"));
        refuse(status, isOpen, "Write a media type without `*`, such as `application/json`");
        const isMixed = !isOpen && new Set(types.map(isJsonType)).size > 1;
        refuse(status, isMixed, "Write JSON or other types: the client does not ask for one");
      }
      const isError = !Object.keys(responses).some((status) => status.startsWith("2"));
      refuse("", isError, "Add a success response, such as `2XX`: `default` describes errors");
    }),
  }),

  "note": () => ({
    Responses: visit((responses, { refuse, read }) => {
      for (const [status, response] of Object.entries(responses)) {
        const types = Object.keys(objectOf(read(response).content)).join(" or ");
        const isOther = /^2/.test(status) && types && !isJsonType(types);
        const message = `Callers must set \`parseAs\` to read ${types}, or the call rejects`;
        refuse(status, isOther, message);
      }
    }),
    Schema: visit(({ format }, { refuse }) => {
      const isLarge = format === "int64" || format === "uint64";
      refuse("format", isLarge, "Numbers beyond 2^53 lose digits in JSON.parse");
    }),
  }),

  "reference": () => ({
    // deno-lint-ignore no-explicit-any
    ref: (reference: JsonObject, context: any, { node, error }: any) =>
      visit(({ $ref, ...others }, { refuse }) => {
        const isLocal = `${$ref}`.startsWith("#/");
        refuse("$ref", !isLocal, `Write the target of \`${$ref}\` below \`components\``);
        const reason = error ? `: ${error.message}` : "";
        refuse("$ref", isLocal && node === undefined, `Cannot resolve \`${$ref}\`${reason}`);
        for (const name of Object.keys(others)) {
          const message = `\`${name}\` next to \`$ref\` is not read; write \`allOf\` with both`;
          refuse(name, !annotation.test(name), message);
        }
      })(reference, context),
  }),

  "schema": () => ({
    Schema: visit((schema, { refuse, read, pointer }) => {
      const { type, required, properties, additionalProperties, anyOf } = schema;
      const isCircle = isCircular(schema, read);
      refuse("", isCircle, "The schema is a part of itself; use `properties` or `items` between");
      for (const name of ["readOnly", "writeOnly"]) {
        const isElsewhere = schema[name] && !/\/properties\/[^/]+$/.test(pointer);
        refuse(name, isElsewhere, "Write it directly below a name in `properties`");
      }
      const isUntyped = (properties || additionalProperties) && !type;
      refuse("", isUntyped, "Add `type: object`, without which other values match too");
      const names = Object.keys(objectOf(additionalProperties));
      const isMixed = properties && names.length > 0;
      refuse("additionalProperties", isMixed, "Write `true`: no type has both kinds of names");
      const isMore = properties || additionalProperties || schema.allOf;
      const isUnion = anyOf && (isMore || (type && type !== "object"));
      refuse("anyOf", isUnion, "Write `allOf` with `anyOf` and the rest in it, as types read it");

      const isObject = properties === undefined || properties === objectOf(properties);
      for (const [index, name] of listOf(required).entries()) {
        const isNamed = Object.hasOwn(objectOf(properties), `${name}`) || additionalProperties;
        const message = `\`required\` names \`${name}\`, which is not in \`properties\``;
        refuse(["required", `${index}`], isObject && !isNamed, message);
      }
    }),
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
        const isReserved = place === "header" && reserved.test(`${name}`);
        refuse("name", isReserved, "Leave the parameter out: callers cannot set this header");
      }),
      SecurityScheme: visit(({ type, in: place, name, scheme }, { refuse }) => {
        const kind = [type, scheme, place && `in ${place}`].filter(Boolean).join(" ");
        const isKey = kind === "apiKey in header";
        const message = `The client sends an API key in a header, not ${kind}; ` +
          "write `type: apiKey`, `in: header` and `name`";
        refuse("type", !isKey, message);
        const isName = sendable.header!.test(`${name}`) && !reserved.test(`${name}`);
        refuse("name", isKey && !isName, "Write another name: fetch does not send this header");
        const isOther = isKey && header !== `${name}`.toLowerCase();
        refuse("name", isOther, `The client has one header for the key, not \`${name}\` too`);
      }),
      SecurityRequirement: visit((requirement, { refuse }) => {
        const names = Object.keys(requirement);
        refuse("", names[1], `The client sends one API key, not ${names.join(" and ")}`);
      }),
    };
  },
};

export const plugin: Plugin = { id: "client", rules: { oas3: rules as never } };
