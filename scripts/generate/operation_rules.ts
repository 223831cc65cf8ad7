/** What accepted.yaml cannot say of operations, by OpenAPI type. @module */

import { dereference, isJsonType, objectOf } from "./json.ts";
import { keyHeaderOf } from "./operations.ts";
import type { Check } from "./problems.ts";
import { isScalar } from "./schemas.ts";

/** Names that openapi-fetch and fetch send, by the place of a parameter. */
const sendable: Record<string, RegExp> = {
  path: /^(?!__proto__$)[\w-][\w.-]*$/,
  query: /^(?!__proto__$)[\w.:$@~[\]-]+$/,
  header: /^[\w!#$%&'*+.^`|~-]+$/,
};

/** Names of headers that fetch or the client sets. */
const reserved =
  /^(accept|accept-(charset|encoding)|authorization|connection|content-(length|type)|cookie2?|date|dnt|expect|host|keep-alive|origin|referer|te|trailer|transfer-encoding|upgrade|via|(access-control-request|proxy|sec)-.*)$/i;

/** The statuses that openapi-fetch's types know, except rare ones. */
const statuses = /^(default|[245]XX|20[0-467]|304|4(0\d|1[0-8]|2\d|3[01]|51)|50[0-8])$/;

/** Checks the name of a parameter, or of the header with the key. */
const checkName: Check = ({ name, in: place }) => {
  const isSent = sendable[`${place}`]?.test(`${name}`) ?? true;
  const letters = "Write letters, digits, `-` and `_`: the client cannot send this name";
  const isReserved = place === "header" && reserved.test(`${name}`);
  return [
    ["name", !isSent, letters],
    ["name", isReserved, "Leave it out: fetch or the client sets it, or callers in `headers`"],
  ];
};

/** The checks, by OpenAPI type. */
export const checks: Record<string, Check> = {
  Paths(paths) {
    const url = /^(\/|(\/(?!\.\.?(\/|$))([\w~!$&'()*+,;=:@.-]|%[\dA-F]{2}|{[^{}]+})+)+\/?)$/;
    const text =
      "Write the path as in URLs: after a slash, percent-encoded, no empty segment, `.` or `..`";
    return Object.keys(paths).map((path) => [path, !url.test(path), text]);
  },

  Operation({ requestBody, responses }, _document, pointer) {
    const post = "Write `post`, or leave it out: fetch sends no body with this method";
    const isSuccess = Object.keys(objectOf(responses)).some((status) => status.startsWith("2"));
    const success = "Add a success response, such as `2XX`: `default` describes errors";
    return [
      ["requestBody", requestBody && /\/(get|head)$/.test(pointer), post],
      ["responses", !isSuccess, success],
    ];
  },

  Parameter(parameter, document, pointer) {
    const { in: place, name, schema } = parameter;
    const isKey = place === "header" &&
      `${name}`.toLowerCase() === keyHeaderOf(document).toLowerCase();
    const { type, items } = dereference(document, schema);
    const value = place === "query" && type === "array" ? items : schema;
    const scalar = "Write a `type`: string, number, integer or boolean; in a query, also " +
      "`array`, with such a type in `items`. For an object, write a parameter for each property";
    return [
      ...checkName(parameter, document, pointer),
      ["name", isKey, "Leave it out: the client sends the key"],
      ["in", place === "path" && !("required" in parameter), "Write `required: true` beside it"],
      ["schema", schema && !isScalar(value, document), scalar],
    ];
  },

  RequestBody({ content }) {
    const isSent = Object.keys(objectOf(content)).join() === "application/json";
    const text = "Write only `application/json`; for another type of JSON, callers give " +
      "`Content-Type` in `headers`. Leave out an operation that takes a form or a file: callers " +
      'send it as RECIPES.md says in "Typed methods for other operations"';
    return [["content", !isSent, text]];
  },

  Responses: (responses, document, pointer) =>
    Object.entries(responses).flatMap(([status, response]) => {
      const text = "Write `2XX`, `4XX` or `5XX`, or leave it out: types do not have this status";
      const isRead = /^(2|304$)/.test(status);
      const types = isRead ? Object.keys(objectOf(dereference(document, response).content)) : [];
      const isEmpty = /^[23]04$/.test(status) || pointer.endsWith("/head/responses");
      const hasWildcard = types.some((type) => type.includes("*"));
      const isMixed = !hasWildcard && new Set(types.map(isJsonType)).size > 1;
      return [
        [status, !statuses.test(status), text],
        [status, isEmpty && types[0], "Leave `content` out: this response has no body"],
        [status, hasWildcard, "Write a media type without `*`, such as `application/json`"],
        [status, isMixed, "Write either JSON or other types: callers read a response as one"],
      ];
    }),

  Components({ securitySchemes }) {
    const second = Object.keys(objectOf(securitySchemes))[1];
    const text = "Leave all but one out: the client sends one key; others are for `headers`";
    return [["securitySchemes", second, text]];
  },

  SecurityScheme: checkName,
};
