import { copyProject, type Folder } from "../../scripts/support/files.ts";

/** Fields of a node of an OpenAPI document. */
export type Fields = Record<string, unknown>;

/** An OpenAPI document with an operation; `components` are added to its scheme. */
export function documentOf(paths: Fields, components: Fields = {}, root: Fields = {}) {
  const info = { title: "Test", version: "1" };
  const securitySchemes = { Key: { type: "apiKey", in: "header", name: "X-Key" } };
  const all = { securitySchemes, ...components };
  return { openapi: "3.1.0", info, security: [{ Key: [] }], paths, components: all, ...root };
}

/** The content of a JSON body with a schema. */
export const json = (schema: unknown): Fields => ({ "application/json": { schema } });

/** An operation, which has no response body unless `fields` say so. */
export function operationOf(operationId: string, fields: Fields = {}): Fields {
  return { operationId, responses: { 204: { description: "" } }, ...fields };
}

/** An operation whose response has a schema. */
export function responding(operationId: string, schema: unknown): Fields {
  return operationOf(operationId, {
    responses: { 200: { description: "", content: json(schema) } },
  });
}

/** A reference to a schema. */
export const ref = (name: string): Fields => ({ $ref: `#/components/schemas/${name}` });

/** Copies what the generator needs, with a document. */
export async function projectWith(document: unknown): Promise<Folder> {
  const config = ["deno.json", "deno.lock", "import_map.npm.json", "mod.ts"];
  const project = await copyProject([...config, "openapi", "scripts", "src"]);
  await project.write("openapi/openapi.yaml", document);
  return project;
}
