import { type Folder, makeFolder as folder, root } from "../../scripts/support/files.ts";
import * as process from "../../scripts/support/process.ts";
import { writeOperations } from "../../scripts/generate/operations.ts";
import { readSpec } from "../../scripts/generate/spec.ts";
import { writeValidators } from "../../scripts/generate/validators.ts";
import type { Operation } from "../../src/operation.ts";

export { type Folder, folder, root };

const source = new URL("../../src/operation.ts", import.meta.url).href;

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
  await using files = await folder();
  const spec = await readSpec(await files.write("openapi.json", document));
  const { code: table, responses } = writeOperations(spec.document, source);
  const code = writeValidators(spec, responses, source);
  const checks = `data:application/typescript,${encodeURIComponent(code)}`;
  const module = table.replace("./validators.ts", checks);
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

/** How a process ended and what it printed. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program. */
export async function run(program: string, args: string[], cwd: string): Promise<Finished> {
  const { code, stdout, stderr } = await process.run(program, args, { cwd });
  return { code, stdout, stderr };
}

/** Runs the Deno that runs the tests. */
export function deno(args: string[], cwd: string): Promise<Finished> {
  return run(Deno.execPath(), args, cwd);
}

/** What Deno needs to run a script of the project. */
export const script = ["run", "--quiet", "--no-check", "-A", "--import-map=import_map.npm.json"];

/** Runs the generator. */
export function generate(...args: string[]): Promise<Finished> {
  return deno([...script, "scripts/generate.ts", ...args], root);
}
