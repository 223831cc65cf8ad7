import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Contract, readContract } from "../../scripts/generate/operations.ts";
import { readSpec } from "../../scripts/generate/spec.ts";
import { writeValidators } from "../../scripts/generate/validators.ts";

/** What the generated validators return. */
export type Issues = { path: string; rule: string }[] | undefined;

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
      const file = join(path, name);
      await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
      return file;
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** A description of operations; `rest` adds or replaces fields. */
export function description(paths: unknown, rest: Record<string, unknown> = {}): unknown {
  return { openapi: "3.1.0", info: { title: "Test", version: "1" }, paths, ...rest };
}

/** A description with one operation, whose response has a schema. */
export function answering(schema: unknown, rest: Record<string, unknown> = {}): unknown {
  const responses = { 200: { description: "", content: { "application/json": { schema } } } };
  return description({ "/value": { get: { operationId: "value", responses } } }, rest);
}

/** Reads the contract of a description. */
export async function contractOf(content: unknown): Promise<Contract> {
  await using files = await folder();
  return readContract(await readSpec(await files.write("openapi.json", content))).contract;
}

/** Compiles the validators of a description. */
export async function validatorsOf(
  content: unknown,
): Promise<{ code: string; validators: Record<string, (value: unknown) => Issues> }> {
  const { code } = writeValidators(await contractOf(content));
  const validators = await import(`data:application/typescript,${encodeURIComponent(code)}`);
  return { code, validators };
}

/** Compiles the validator of one schema. */
export async function validatorOf(
  schema: unknown,
  rest?: Record<string, unknown>,
): Promise<(value: unknown) => Issues> {
  const { validators } = await validatorsOf(answering(schema, rest));
  return validators.value200!;
}

/** How a process ended and what it printed. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the Deno that runs the tests. */
export async function deno(args: string[], cwd: string): Promise<Finished> {
  const command = new Deno.Command(Deno.execPath(), { args, cwd, env: { NO_COLOR: "1" } });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
