/** Writes the table of operations, and the checks of their responses. @module */

import { isIdempotent } from "../../src/retry.ts";
import { isJsonType } from "../../src/serialize.ts";
import { writeChecks } from "./checks.ts";
import type { Any } from "./schemas.ts";

const methods = ["get", "put", "post", "delete", "options", "head", "patch"];

/** Returns a node, or the component that its `$ref` names. */
function resolve(node: Any, components: Any): Any {
  const [, , section, name] = node.$ref?.split("/") ?? [];
  return section ? resolve(components[section][name], components) : node;
}

/** Lists the operations of a document, with the 2xx responses of each. */
export function operationsOf({ components, paths = {}, security = [] }: Any) {
  return Object.entries<Any>(paths).flatMap(([path, item]) => {
    const pathItem = resolve(item, components);
    return methods.filter((method) => method in pathItem).map((method) => {
      const operation = { security, ...pathItem[method] };
      const successes = Object.entries<Any>(operation.responses)
        .filter(([status]) => status.startsWith("2"))
        .map(([status, response]) => ({ status, content: {}, ...resolve(response, components) }));
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
  const { components = {} } = document;
  const [scheme] = Object.values<Any>(components.securitySchemes ?? {});
  /** The schemas that are checked. */
  const schemas: Any[] = [];
  /** Writes what the table has of a response: how it is checked, its media type or nothing. */
  const writeResponse = ({ status, content }: Any) => {
    const media = Object.entries<Any>(content).filter(([type]) => isJsonType(type));
    if (media.length === 0) return `"${status}": ${JSON.stringify(Object.keys(content)[0])},`;
    const anyOf = media.map(([, { schema = {} }]) => schema);
    const schema = anyOf.length > 1 ? { anyOf } : resolve(anyOf[0], components);
    if (!schemas.includes(schema)) schemas.push(schema);
    return `"${status}": (value) => issuesOf(schemaChecks[${schemas.indexOf(schema)}]!, value),`;
  };
  const entries = operationsOf(document).map(({ method, path, operation, successes }) => {
    const endpoint = `${method} ${path}`;
    const has404 = "404" in operation.responses || "4XX" in operation.responses;
    return `${JSON.stringify(endpoint)}: {
      operationId: ${JSON.stringify(operation.operationId)},
      access: "${accessOf(operation.security)}", ${has404 ? "has404: true," : ""}
      idempotent: ${operation["x-idempotent"] ?? isIdempotent(method)},
      responses: { ${successes.map(writeResponse).join("\n")} },
    },`;
  });
  const operations = `
import { issuesOf, type Operation } from "../operation.ts";
import { schemaChecks } from "./validators.ts";

/** The header in which the key is sent. */
export const apiKeyHeader = ${JSON.stringify(scheme?.name ?? "X-API-Key")};

/** The operations by method and path: "GET /path/{name}". */
export const operations: Readonly<Record<string, Operation>> = {
  __proto__: null as never, // without inherited names
  ${entries.join("\n")}
};
`;
  const validators = `// deno-lint-ignore-file
// @ts-nocheck: it is JavaScript that @exodus/schemasafe wrote

import type { SchemaCheck } from "../operation.ts";

/** Check whether a value matches the schema of a response. */
export const schemaChecks: readonly SchemaCheck[] = /* @__PURE__ */ ${
    writeChecks(schemas, components)
  };
`;
  return { operations, validators };
}
