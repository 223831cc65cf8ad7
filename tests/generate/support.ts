import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { writeOperations } from "../../scripts/generate/operations.ts";
import { readSpec } from "../../scripts/generate/spec.ts";
import { writeValidators } from "../../scripts/generate/validators.ts";
import type { Operation } from "../../src/operation.ts";

/** The project's folder. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

const source = new URL("../../src/operation.ts", import.meta.url).href;

/** A folder that is removed at the end of its scope. */
export interface Folder extends AsyncDisposable {
  readonly path: string;
  write(name: string, content: unknown): Promise<string>;
}

/** Makes an empty folder; `await using` removes it. */
export async function folder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), "generate-"));
  return {
    path,
    async write(name, content) {
      const file = resolve(path, name);
      await writeFile(
        file,
        typeof content === "string" ? content : JSON.stringify(content, null, 2),
      );
      return file;
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

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
  const command = new Deno.Command(program, { args, cwd, env: { NO_COLOR: "1" } });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
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

/** Copies parts of the project into an empty folder. */
export async function copyProject(to: string, parts: readonly string[]): Promise<void> {
  for (const name of parts) await cp(join(root, name), join(to, name), { recursive: true });
}

/** The code blocks of CONTRIBUTING.md's example in a language, without the list's indentation. */
async function exampleBlocks(language: string): Promise<string[]> {
  const text = await readFile(join(root, "CONTRIBUTING.md"), "utf8");
  const blocks = text.matchAll(/^ {3}```(\w+).*\n([^]*?)^ {3}```$/gm);
  return [...blocks].filter(([, name]) => name === language)
    .map(([, , code = ""]) => code.replaceAll(/^ {3}/gm, ""));
}

/** Makes a function that gives an operation and schemas other names than the example's. */
export function renamed(word: string): (text: string) => string {
  return (text) =>
    text.replaceAll("Report", `${word}Report`)
      .replaceAll("/reports", `/${word.toLowerCase()}-reports`);
}

/** Adds operations and schemas to the OpenAPI document in a folder. */
export async function addOperations(
  folder: string,
  [paths, schemas]: readonly string[],
  components = "",
): Promise<void> {
  const file = join(folder, "openapi/openapi.yaml");
  const indent = (text = "", by: string) => text.trimEnd().replaceAll(/^(?=.)/gm, by);
  const text = (await readFile(file, "utf8"))
    .replace(/\npaths:\n/, (line) => `${line}${indent(paths, "  ")}\n\n`)
    .replace(/\ncomponents:\n/, (line) => line + components)
    .replace(/\n {2}schemas:\n/, (line) => `${line}${indent(schemas, "    ")}\n\n`);
  await writeFile(file, text);
}

/** Adds the operation of CONTRIBUTING.md's example. Returns the test that it adds. */
export async function addExample(folder: string, edit = (yaml: string) => yaml): Promise<string> {
  await addOperations(folder, (await exampleBlocks("yaml")).map(edit));
  return (await exampleBlocks("ts")).at(-1)!;
}

/** Adds an operation without a key, that has a body and responds with an array. */
export function addSecondExample(folder: string, edit = (yaml: string) => yaml): Promise<void> {
  const paths = `/reports:
  post:
    operationId: findReports
    summary: The reports on an address.
    security: []
    requestBody:
      required: true
      content:
        application/json:
          schema: { $ref: "#/components/schemas/ReportQuery" }
    responses:
      "200":
        description: The reports.
        content:
          application/json:
            schema:
              type: array
              items: { $ref: "#/components/schemas/Report" }`;
  const schemas = `ReportQuery:
  type: object
  required: [address]
  properties:
    address: { type: string }
    limit: { type: integer }`;
  return addOperations(folder, [paths, schemas].map(edit));
}
