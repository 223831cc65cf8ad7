/** What accepted.yaml cannot say of operations, by OpenAPI type. @module */

import { advice } from "./accepted.ts";
import { isJsonType, listOf, objectOf } from "./json.ts";
import type { Check } from "./plugin.ts";
import { isScalar } from "./value_types.ts";

/** Names that openapi-fetch and fetch send, by the place of a parameter. */
const sendable: Record<string, RegExp> = {
  path: /^(?!__proto__$)[\w-][\w.-]*$/,
  query: /^(?!__proto__$)[\w.:$@~[\]-]+$/,
  header: /^[\w!#$%&'*+.^`|~-]+$/,
};

/** Names of headers that fetch or the client sets. */
const reserved =
  /^(accept|accept-(charset|encoding)|connection|content-(length|type)|cookie2?|date|dnt|expect|host|keep-alive|origin|permissions-policy|referer|set-cookie|te|trailer|transfer-encoding|upgrade|via|x-(http-)?method(-override)?|(access-control-request|proxy|sec)-.*)$/i;

/** Checks the name of a parameter, or of the header with the key. */
const checkName: Check = ({ name, in: place }) => {
  const isSent = sendable[`${place}`]?.test(`${name}`) ?? true;
  const letters = "Write letters, digits, `-` and `_`, or leave it out, and also operations that " +
    "require it: the client cannot send this name";
  const isReserved = place === "header" && reserved.test(`${name}`);
  return [
    ["name", !isSent, letters],
    ["name", isReserved, "Leave it out: fetch or the client sets it, or callers in `headers`"],
  ];
};

/** The statuses that openapi-fetch's types know. */
const statuses = [
  ...[200, 201, 202, 203, 204, 206, 207, 304],
  ...[400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417],
  ...[418, 420, 421, 422, 423, 424, 425, 426, 427, 428, 429, 430, 431, 444, 450, 451, 497, 498],
  ...[499, 500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511],
];

/** The header of the key, in lower case. */
let keyHeader = "";

export const rules: Record<string, Check> = {
  Root({ components }, read) { // the root is visited first
    const [scheme] = Object.values(objectOf(objectOf(components).securitySchemes));
    keyHeader = `${read(scheme).name}`.toLowerCase();
    return [];
  },

  Paths(paths) {
    const url = /^(\/|(\/(?!\.\.?(\/|$))([\w~!$&'()*+,;=:@.-]|%[\dA-F]{2}|{[^{}]+})+)+\/?)$/;
    const text = "Write the path as in URLs: percent-encoded, without `.`, `..` and empty segments";
    return Object.keys(paths).map((path) => [path, !url.test(path), extension(path) ?? text]);
  },

  Operation({ requestBody, responses }, _read, pointer) {
    const post = "Write `post` if the service accepts it; if not, leave the body or the " +
      "operation out: fetch sends no body with this method";
    const isSuccess = Object.keys(objectOf(responses)).some((status) => status.startsWith("2"));
    const success = "Add a success response, such as `2XX`, or leave out an operation that has " +
      "none: `default` describes errors";
    return [
      ["requestBody", requestBody && /\/(get|head)$/.test(pointer), post],
      ["responses", !isSuccess, success],
    ];
  },

  Parameter(parameter, read, pointer) {
    const { name, in: place, required, schema } = parameter;
    const isKey = [keyHeader, "authorization"].includes(`${name}`.toLowerCase());
    const { type, items } = read(schema);
    const value = read(place === "query" && type === "array" ? items : schema);
    const scalar = "Write a `type`: string, number, integer or boolean; in a query, also " +
      "`array`, with such a type in `items`. For an object, write a parameter for each property";
    return [
      ...checkName(parameter, read, pointer),
      ["name", place === "header" && isKey, "Leave it out: the client sends the key"],
      ["in", place === "path" && !required, "Write `required: true` beside it"],
      ["schema", schema && !isScalar(value, read), scalar],
    ];
  },

  RequestBody({ content }) {
    const types = Object.keys(objectOf(content));
    const json = "Write only `application/json`, which the client sends; for another JSON type, " +
      'callers give `headers: { "Content-Type": … }` with a call';
    const other = "Write only `application/json` if the service accepts it; if not, leave the " +
      "body or the operation out: the client sends JSON";
    const isSent = types.join() === "application/json";
    return [["content", !isSent, types.some(isJsonType) ? json : other]];
  },

  Responses: (responses, read, pointer) =>
    Object.entries(responses).flatMap(([status, response]) => {
      const isKnown = statuses.includes(Number(status)) || /^(default|[245]XX)$/.test(status);
      const text = /^[13]/.test(status)
        ? "Leave it out: the client never returns this status"
        : "Write `2XX`, `4XX` or `5XX`: types do not have this status";
      const isRead = /^(2|304$)/.test(status);
      const types = isRead ? Object.keys(objectOf(read(response).content)) : [];
      const isEmpty = /04$/.test(status) || pointer.endsWith("/head/responses");
      const isOpen = types.some((type) => type.includes("*"));
      const isMixed = !isOpen && new Set(types.map(isJsonType)).size > 1;
      return [
        [status, !isKnown, extension(status) ?? text],
        [status, isEmpty && types[0], "Leave `content` out: this response has no body"],
        [status, isOpen, "Write a media type without `*`, such as `application/json`"],
        [status, isMixed, "Write either JSON or other types: callers read a response as one"],
      ];
    }),

  Components({ securitySchemes }) {
    const second = Object.keys(objectOf(securitySchemes))[1];
    const text = "Leave all but one out, also where `security` names them: the client sends " +
      "one key, and callers give others in `headers` with a call";
    return [["securitySchemes", second, text]];
  },

  SecurityScheme: checkName,

  SecurityRequirement(requirement) {
    const hasScopes = (name: string) => listOf(requirement[name])[0];
    return Object.keys(requirement).map((
      name,
    ) => [name, hasScopes(name), "Write `[]`: a key has no scopes"]);
  },
};

/** What to write in place of an extension. */
const extension = (name: string) => name.startsWith("x-") ? advice["x-"] : undefined;
