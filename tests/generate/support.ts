import { makeFolder } from "../../scripts/support/files.ts";
import { writeOperations } from "../../scripts/generate/operations.ts";
import { readSpec } from "../../scripts/generate/spec.ts";
import { writeValidators } from "../../scripts/generate/validators.ts";
import type { Operation } from "../../src/operation.ts";

const operation = new URL("../../src/operation.ts", import.meta.url).href;

/** An OpenAPI document; `rest` adds or replaces fields. */
export function documentOf(paths: unknown, rest: Record<string, unknown> = {}): unknown {
  const servers = [{ url: "https://service.example" }];
  return { openapi: "3.1.0", info: { title: "Test", version: "1" }, servers, paths, ...rest };
}

/** The document of an operation, whose response has a schema. */
export function responding(schema: unknown, components: unknown = {}): unknown {
  const responses = { 200: { description: "", content: { "application/json": { schema } } } };
  const get = { operationId: "value", summary: "A value.", security: [], responses };
  return documentOf({ "/value": { get } }, { components });
}

/** What is generated from a document. */
export interface Generated {
  readonly apiKeyHeader: string;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly code: string;
}

/** Generates from a document, and loads the result. */
export async function generated(document: unknown): Promise<Generated> {
  await using files = await makeFolder();
  const spec = await readSpec(await files.write("openapi.json", document));
  const { code: table, responses } = writeOperations(spec);
  const code = writeValidators(spec, responses);
  const checks = `data:application/typescript,${encodeURIComponent(code)}`;
  const module = table.replace("./validators.ts", checks).replace("../operation.ts", operation);
  const { apiKeyHeader, operations } = await import(
    `data:application/typescript,${encodeURIComponent(module)}`
  );
  return { apiKeyHeader, operations, code };
}

/** Compiles the validator of one schema. */
export async function validatorOf(schema: unknown, components?: unknown) {
  const { operations } = await generated(responding(schema, components));
  return operations["GET /value"]!.responses["200"]!;
}
