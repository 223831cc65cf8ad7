/** Writes the table of operations. @module */

import type { Operation } from "../../src/operation.ts";
import { isIdempotent } from "../../src/transport/retry.ts";
import type { Json, JsonObject } from "./json.ts";
import { dereference, isJsonType, listOf, objectOf, pointerTo } from "./json.ts";

/** A success response with JSON. */
export interface ResponseSpec {
  /** Method, path and status: "GET /path/{name} 200". */
  readonly name: string;
  readonly schema: Json;
  /** The place of the schema, as a JSON Pointer. */
  readonly pointer: string;
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch"];

/**
 * Writes the table of a document's operations.
 *
 * @param document The document, which has passed the lint.
 * @param source What the table imports `Operation` and `issuesOf` from.
 * @returns TypeScript, and the responses whose checks it names.
 */
export function writeOperations(
  document: JsonObject,
  source: string,
): { code: string; responses: ResponseSpec[] } {
  const entries: string[] = [];
  const responses: ResponseSpec[] = [];
  for (const [path, item] of Object.entries(objectOf(document.paths))) {
    const pathItem = dereference(document, item);
    for (const method of methods.filter((method) => method in pathItem)) {
      const operation = objectOf(pathItem[method]);
      const endpoint = `${method.toUpperCase()} ${path}`;
      const checks: string[] = [];
      for (const [status, response] of Object.entries(objectOf(operation.responses))) {
        // "default" is not a success in openapi-fetch's types and in the client.
        if (!/^2(\d\d|XX)$/.test(status)) continue;
        const content = objectOf(dereference(document, response).content);
        const [type, ...others] = Object.keys(content).filter(isJsonType);
        if (type) {
          const name = `${endpoint} ${status}`;
          const place = [path, method, "responses", status, "content", type, "schema"];
          const schemas = [type, ...others].map((type) => objectOf(content[type]).schema ?? true);
          const schema = others.length > 0 ? { anyOf: schemas } : schemas[0]!;
          responses.push({ name, schema, pointer: pointerTo("paths", ...place) });
          checks.push(`"${status}": (value) => issuesOf(checks[${JSON.stringify(name)}], value),`);
        } else checks.push(`"${status}": undefined,`); // not that of 2XX
      }
      entries.push(`${JSON.stringify(endpoint)}: {
        operationId: ${JSON.stringify(operation.operationId)},
        apiKey: "${apiKeyOf(listOf(operation.security ?? document.security))}",
        idempotent: ${operation["x-idempotent"] ?? isIdempotent(method.toUpperCase())},
        responses: { ${checks.join("\n")} },
      },`);
    }
  }
  const [scheme] = Object.values(objectOf(objectOf(document.components).securitySchemes));
  const { name = "X-API-Key" } = dereference(document, scheme);
  const code = `
import { issuesOf, type Operation } from "${source}";
import { checks } from "./validators.ts";

/** The header in which the key is sent. */
export const apiKeyHeader = ${JSON.stringify(name)};

/** The operations by method and path: "GET /path/{name}". */
export const operations: Readonly<Record<string, Operation>> = {
  __proto__: null as never, // without inherited names
  ${entries.join("\n")}
};
`;
  return { code, responses };
}

/** Each requirement is an alternative; an empty one makes the key optional. */
function apiKeyOf(requirements: Json[]): Operation["apiKey"] {
  const empty = requirements.filter((one) => Object.keys(objectOf(one)).length === 0);
  if (empty.length === requirements.length) return "none";
  return empty.length > 0 ? "optional" : "required";
}
