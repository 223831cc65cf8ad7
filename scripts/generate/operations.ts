/** Writes the table of operations. @module */

import type { Operation } from "../../src/operation.ts";
import { isIdempotent } from "../../src/transport/retry.ts";
import type { Json, JsonObject } from "./json.ts";
import { dereference, isJsonType, listOf, objectOf } from "./json.ts";

/** A success response with JSON. */
export interface ResponseSpec {
  /** Method, path and status: "GET /path/{name} 200". */
  readonly name: string;
  readonly schema: Json;
}

/** An operation of a document. */
interface OperationSpec {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonObject;
  /** The success responses, each with its status. */
  readonly successes: readonly JsonObject[];
}

const methods = ["get", "put", "post", "delete", "head", "patch"];

/** Finds a document's operations. */
export function* operationsOf(document: JsonObject): Generator<OperationSpec> {
  for (const [path, item] of Object.entries(objectOf(document.paths))) {
    const pathItem = dereference(document, item);
    for (const method of methods.filter((method) => method in pathItem)) {
      const operation = objectOf(pathItem[method]);
      const successes = Object.entries(objectOf(operation.responses))
        // "default" is not a success in openapi-fetch's types and in the client.
        .filter(([status]) => status.startsWith("2"))
        .map(([status, response]) => ({ status, ...dereference(document, response) }));
      yield { path, method, operation, successes };
    }
  }
}

/**
 * Writes the table of a document's operations.
 *
 * @param document The document, which has passed the lint.
 * @returns TypeScript, and the responses whose checks it names.
 */
export function writeOperations(document: JsonObject) {
  const entries: string[] = [];
  const responses: ResponseSpec[] = [];
  for (const { path, method, operation, successes } of operationsOf(document)) {
    const endpoint = `${method.toUpperCase()} ${path}`;
    const has404 = ["404", "4XX"].some((status) => status in objectOf(operation.responses));
    const checks = successes.map(({ status, content }) => {
      const media = Object.entries(objectOf(content)).filter(([type]) => isJsonType(type));
      if (media.length === 0) return `"${status}": undefined,`; // so that the check of 2XX is not used
      const name = `${endpoint} ${status}`;
      const schemas = media.map(([, json]) => objectOf(json).schema ?? {});
      const schema = schemas.length > 1 ? { anyOf: schemas } : schemas[0]!;
      responses.push({ name, schema });
      return `"${status}": (value) => issuesOf(schemaChecks[${JSON.stringify(name)}], value),`;
    });
    entries.push(`${JSON.stringify(endpoint)}: {
      operationId: ${JSON.stringify(operation.operationId)},
      apiKey: "${apiKeyOf(listOf(operation.security ?? document.security))}",
      idempotent: ${operation["x-idempotent"] ?? isIdempotent(method.toUpperCase())},
      ${has404 ? "has404: true, " : ""}responses: { ${checks.join("\n")} },
    },`);
  }
  const [scheme] = Object.values(objectOf(objectOf(document.components).securitySchemes));
  const { name = "X-API-Key" } = dereference(document, scheme);
  const code = `
import { issuesOf, type Operation } from "../operation.ts";
import { schemaChecks } from "./validators.ts";

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
