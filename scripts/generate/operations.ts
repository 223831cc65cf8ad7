/** Writes the table of operations, and the checks of their responses. @module */

import { isIdempotent } from "../../src/http/retry.ts";
import { checkName, writeChecks } from "./checks.ts";
import { type Any, resolverOf } from "./schemas.ts";

const methods = ["get", "put", "post", "delete", "options", "head", "patch"];

/** Lists the operations of a document, with the 2xx responses of each. */
export function operationsOf(document: Any) {
  const { paths = {}, security = [] } = document;
  const resolve = resolverOf(document);
  return Object.entries<Any>(paths).flatMap(([path, item]) => {
    const pathItem = resolve(item);
    return methods.filter((method) => method in pathItem).map((method) => {
      const operation = { security, ...pathItem[method] };
      const successes = Object.entries<Any>(operation.responses ?? {})
        .filter(([status]) => status.startsWith("2"))
        .map(([status, response]) => ({ status, ...resolve(response) }));
      return { method: method.toUpperCase(), path, operation, successes };
    });
  });
}

/** Tells whether an operation needs the key. Each requirement is an alternative to the others. */
function accessOf(requirements: Any[]): "none" | "optional" | "required" {
  const needKey = requirements.map((requirement) => Object.keys(requirement).length > 0);
  if (!needKey.includes(true)) return "none";
  return needKey.includes(false) ? "optional" : "required";
}

/** Writes the table of a document's operations, and the checks of their 2xx responses. */
export function writeOperations(document: Any): { operations: string; validators: string } {
  const [scheme] = Object.values<Any>(document.components?.securitySchemes ?? {});
  const resolve = resolverOf(document);
  /** The schemas that are checked, by the names of their checks. */
  const schemas = new Map<string, Any>();
  const writeResponse = (operationId: string, { status, content = {} }: Any) => {
    const [media] = Object.values<Any>(content);
    if (!media) return `"${status}": undefined,`;
    const { schema = {} } = media;
    const component = schema.$ref?.split("/").at(-1);
    // With an odd number of `$`, it is no component's.
    const name = component ? checkName(component) : `${checkName(operationId)}$${status}`;
    schemas.set(name, resolve(schema));
    return `"${status}": checks.${name},`;
  };
  const entries = operationsOf(document).map(({ method, path, operation, successes }) => {
    const { operationId, security, "x-idempotent": idempotent = isIdempotent(method) } = operation;
    const responses = successes.map((response) => writeResponse(operationId, response));
    return `${JSON.stringify(`${method} ${path}`)}: {
      operationId: ${JSON.stringify(operationId)},
      access: "${accessOf(security)}",
      idempotent: ${JSON.stringify(idempotent)},
      responses: { ${responses.join("\n")} },
    },`;
  });
  const operations = `
import type { Operation } from "../operation.ts";
import * as checks from "./validators.ts";

/** The header in which the key is sent. */
export const apiKeyHeader = ${JSON.stringify(scheme?.name ?? "X-API-Key")};

/** The operations by method and path: "GET /path/{name}". */
export const operations: Readonly<Record<string, Operation>> = {
  __proto__: null as never, // without inherited names
  ${entries.join("\n")}
};
`;
  const validators = `// deno-lint-ignore-file
import { type Check, findInItems, findInOthers, findInPart, has } from "../checks.ts";
import { isObject, issueAt, lengthOf, matchesAny } from "../checks.ts";

${writeChecks(schemas, resolve)}
`;
  return { operations, validators };
}
