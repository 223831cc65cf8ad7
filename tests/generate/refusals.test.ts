import { expect } from "@std/expect";
import { rm } from "node:fs/promises";
import { readSpec, SpecError } from "../../scripts/generate/spec.ts";
import { writeOperations } from "../../scripts/generate/operations.ts";
import { writeTypes } from "../../scripts/generate/types.ts";
import { writeValidators } from "../../scripts/generate/validators.ts";
import { folder } from "./support.ts";

const pets = `openapi: 3.1.0
info: { title: Pets, version: "1" }
servers: [{ url: https://pets.example }]
security: [{ Key: [] }]
components:
  securitySchemes:
    Key: { type: apiKey, in: header, name: X-Pets }
    Other: { type: apiKey, in: header, name: x-pets }
  schemas:
    Pet:
      type: object
      required: [name]
      properties:
        name: { type: [string, "null"] }
paths:
  /pets/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: string } }
    get:
      operationId: getPet
      summary: A pet.
      responses:
        "200":
          description: The pet.
          content:
            application/json: { schema: { $ref: "#/components/schemas/Pet" } }
    delete:
      operationId: deletePet
      summary: No more pet.
      responses:
        "204": { description: Done. }
`;

/** Returns the message about a document after one change. */
async function refusal(from: string, to: string): Promise<string> {
  expect(pets).toContain(from);
  await using files = await folder();
  const file = await files.write("pets.yaml", pets.replace(from, to));
  try {
    const spec = await readSpec(file);
    await writeTypes(spec.document);
    const { responses } = writeOperations(spec.document, "./operation.ts");
    writeValidators(spec, responses, "./operation.ts");
    return spec.warnings.join("\n") || "nothing refused";
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    return error.message.replaceAll(/\S+\/pets\.yaml/g, "pets.yaml");
  }
}

const cases: Record<string, [from: string, to: string, message: string | RegExp]> = {
  "nothing in a correct document": ["Pets", "Pets", "nothing refused"],
  "an x-idempotent that is not a boolean": [
    "operationId: getPet",
    'x-idempotent: "yes"\n      operationId: getPet',
    "pets.yaml:20:7 idempotent: Expected `true` or `false`",
  ],
  "an extension that is nearly x-idempotent": [
    "operationId: getPet",
    "x-idempotant: true\n      operationId: getPet",
    "pets.yaml:20:7 idempotent: Unknown extension; did you mean `x-idempotent`?",
  ],
  "a required property that the schema does not have": [
    "required: [name]",
    "required: [name, nmae]",
    "pets.yaml:12:24 schema: `required` names `nmae`, which is not in `properties`; add it",
  ],
  "two operations with one operationId": [
    "deletePet",
    "getPet",
    /^pets\.yaml:28:7 operation-operationId-unique: /,
  ],
  "an operation without an operationId": [
    "operationId: getPet\n",
    "deprecated: true\n",
    /^pets\.yaml:19:5 operation-operationId: /,
  ],
  "a key outside of a header": [
    "in: header",
    "in: query",
    "pets.yaml:7:26 security: Delete it, or write `type: apiKey`, `in: header` and `name`: the client " +
    "sends one key",
  ],
  "another kind of security": [
    "type: apiKey, in: header, name: X-Pets",
    "type: http, scheme: bearer",
    "pets.yaml:7:12 security: Delete it, or write `type: apiKey`, `in: header` and `name`: the client " +
    "sends one key",
  ],
  "two headers for the key": [
    "name: x-pets",
    "name: X-Other",
    "pets.yaml:8:40 security: The client has one header for the key, not `X-Other` too",
  ],
  "two keys together": [
    "security: [{ Key: [] }]",
    "security: [{ Key: [], Other: [] }]",
    "pets.yaml:4:12 security: The client sends one API key, not Key and Other",
  ],
  "a scheme that is not defined": [
    "security: [{ Key: [] }]",
    "security: [{ Kee: [] }]",
    /^pets\.yaml:4:14 security-defined: /,
  ],
  "a reference that leads nowhere": [
    '{ type: [string, "null"] }',
    '{ $ref: "#/components/schemas/Name" }',
    "pets.yaml:14:17 reference: Cannot resolve `#/components/schemas/Name`",
  ],
  "a dynamic reference": [
    '{ type: [string, "null"] }',
    '{ $dynamicRef: "#name" }',
    "pets.yaml:14:17 schema: Use `$ref`",
  ],
  "a pattern that is not a regular expression": [
    '{ type: [string, "null"] }',
    '{ pattern: "(" }',
    /^pets\.yaml:14:9 schema: Invalid regular expression/,
  ],
  "a schema that no value matches": [
    '{ schema: { $ref: "#/components/schemas/Pet" } }',
    "{ schema: { type: string, allOf: [{ type: integer }] } }",
    /pets\.yaml:26:65 schema: No valid types possible$/,
  ],
  "a keyword that JSON Schema does not have": [
    "required: [name]",
    "requird: [name]",
    /^pets\.yaml:12:7 struct: Property `requird` is not expected here/,
  ],
  "YAML that is broken": [
    "    Pet:\n",
    "    Pet: [\n",
    "pets.yaml:12:15 unreadable: missed comma between flow collection entries",
  ],
  "OpenAPI 3.0": [
    "openapi: 3.1.0",
    "openapi: 3.0.3",
    "pets.yaml:1:10 version: Expected OpenAPI 3.1, found 3.0.3; " +
    "`npx @scalar/cli document upgrade FILE -o NEW_FILE` converts older documents",
  ],
  "Swagger 2": ["openapi: 3.1.0", 'swagger: "2.0"', /^pets\.yaml:1:1 version: .* found 2\.0; /],
  "a document of something else": ["openapi: 3.1.0", "open: 1", /:1:1 version: .* no version; /],
};

for (const [name, [from, to, message]] of Object.entries(cases)) {
  Deno.test(`generate refuses ${name}`, async () => {
    const found = await refusal(from, to);
    if (typeof message === "string") expect(found).toBe(message);
    else expect(found).toMatch(message);
    expect(found.split("\n").filter((line) => !/no-unused-components/.test(line)).length).toBe(1);
  });
}

Deno.test("generate refuses a file that does not exist", async () => {
  await using files = await folder();
  const file = await files.write("pets.yaml", "");
  await rm(file);
  await expect(readSpec(file)).rejects.toThrow(/pets\.yaml:1:1 unreadable: ENOENT/);
});
