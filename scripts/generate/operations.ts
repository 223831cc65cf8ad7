/** Writes the table of operations. @module */

import type { Operation } from "../../src/operation.ts";
import { isIdempotent } from "../../src/retry.ts";
import type { Json, JsonObject } from "./json.ts";
import { dereference, isJsonType, listOf, objectOf } from "./json.ts";

const methods = ["get", "put", "post", "delete", "head", "patch"];

/** Lists a document's operations. */
function operationsOf(document: JsonObject) {
  return Object.entries(objectOf(document.paths)).flatMap(([path, item]) => {
    const pathItem = dereference(document, item);
    return methods.filter((name) => name in pathItem)
      .map((name) => ({ method: name.toUpperCase(), path, operation: objectOf(pathItem[name]) }));
  });
}

/**
 * Writes the table of a document's operations.
 *
 * @param document The document, which has passed the lint.
 * @returns TypeScript, and the schemas of the responses whose checks it names, by method, path and
 * status: "GET /path/{name} 200".
 */
export function writeOperations(document: JsonObject) {
  const entries: string[] = [];
  const responses: JsonObject = {};
  for (const { method, path, operation } of operationsOf(document)) {
    const endpoint = `${method} ${path}`;
    const all = Object.entries(objectOf(operation.responses));
    const has404 = all.some(([status]) => ["404", "4XX"].includes(status));
    // "default" is not a success in openapi-fetch's types and in the client.
    const successes = all.filter(([status]) => status.startsWith("2"));
    const checks = successes.map(([status, response]) => {
      const { content } = dereference(document, response);
      const media = Object.entries(objectOf(content)).filter(([type]) => isJsonType(type));
      if (media.length === 0) return `"${status}": undefined,`; // so that the check of 2XX is not used
      const name = `${endpoint} ${status}`;
      const schemas = media.map(([, json]) => objectOf(json).schema ?? {});
      responses[name] = schemas.length > 1 ? { anyOf: schemas } : schemas[0]!;
      return `"${status}": (value) => issuesOf(schemaChecks[${JSON.stringify(name)}], value),`;
    });
    entries.push(`${JSON.stringify(endpoint)}: {
      operationId: ${JSON.stringify(operation.operationId)},
      apiKey: "${apiKeyOf(listOf(operation.security ?? document.security))}",
      idempotent: ${operation["x-idempotent"] ?? isIdempotent(method)},
      ${has404 ? "has404: true, " : ""}responses: { ${checks.join("\n")} },
    },`);
  }
  const code = `
import { issuesOf, type Operation } from "../operation.ts";
import { schemaChecks } from "./validators.ts";

/** The header in which the key is sent. */
export const apiKeyHeader = ${JSON.stringify(keyHeaderOf(document))};

/** The operations by method and path: "GET /path/{name}". */
export const operations: Readonly<Record<string, Operation>> = {
  __proto__: null as never, // without inherited names
  ${entries.join("\n")}
};
`;
  return { code, responses };
}

/** Returns the header in which the key is sent: that of the one security scheme. */
export function keyHeaderOf(document: JsonObject): string {
  const [scheme] = Object.values(objectOf(objectOf(document.components).securitySchemes));
  return `${dereference(document, scheme).name ?? "X-API-Key"}`;
}

/**
 * Tells whether an operation needs the key. Each requirement is an alternative; an empty one makes the
 * key optional.
 */
function apiKeyOf(requirements: Json[]): Operation["apiKey"] {
  const empty = requirements.filter((one) => Object.keys(objectOf(one)).length === 0);
  if (empty.length === requirements.length) return "none";
  return empty.length > 0 ? "optional" : "required";
}
