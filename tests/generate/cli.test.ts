import { expect } from "@std/expect";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readContract } from "../../scripts/generate/operations.ts";
import { readSpec, SpecError } from "../../scripts/generate/spec.ts";
import { deno, type Finished, folder } from "./support.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const script = ["run", "--quiet", "--no-check", "-A", "--import-map=import_map.npm.json"];

function generate(...args: string[]): Promise<Finished> {
  return deno([...script, "scripts/generate.ts", ...args], root);
}

const pets = `openapi: 3.0.3
info: { title: Pets, version: "1" }
servers: [{ url: https://pets.example }]
security: [{ Key: [] }]
components:
  securitySchemes:
    Key: { type: apiKey, in: header, name: X-Pets }
  schemas:
    Pet:
      type: object
      required: [name]
      properties:
        name: { type: string, nullable: true }
        parents: { type: array, uniqueItems: true, items: { $ref: "#/components/schemas/Pet" } }
        toys: { type: object, additionalProperties: { type: string, pattern: "^a/b" } }
        state: { oneOf: [{ type: string, maxLength: 3 }, { type: integer, multipleOf: 2 }] }
        none: { type: array, items: { type: object, additionalProperties: false } }
paths:
  /pets/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: string } }
    get:
      summary: A pet.
      responses:
        "200":
          description: The pet.
          content:
            application/json: { schema: { $ref: "#/components/schemas/Pet" } }
            application/hal+json: { schema: { type: string } }
        "204": { description: No pet. }
        default: { description: An error. }
    delete:
      operationId: "delete"
      summary: No more pet.
      responses:
        "200": { description: Anything., content: { application/json: {} } }
  /names:
    get:
      operationId: constructor
      summary: Names.
      responses:
        "200":
          description: Part of a pet.
          content:
            application/json:
              schema: { $ref: "#/components/schemas/Pet/properties/name" }
`;

async function contents(path: string): Promise<Record<string, string>> {
  const names = (await readdir(path)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), "utf8")));
  return Object.fromEntries(names.map((name, index) => [name, texts[index]!]));
}

Deno.test("generate refuses wrong usage with status 2 and explains itself with --help", async () => {
  const { code, stdout } = await generate("--help");
  expect(code).toBe(0);
  for (const option of ["--spec FILE", "--out FOLDER", "--check", "--watch"]) {
    expect(stdout).toContain(option);
  }
  for (const args of [["--unknown"], ["--out="], ["--check", "--watch"]]) {
    const { code, stdout, stderr } = await generate(...args);
    expect([args, code, stdout]).toEqual([args, 2, ""]);
    expect(stderr).toContain("Usage: deno task generate");
  }
});

Deno.test("generate writes files that are formatted, linted, strict and always the same", async () => {
  await using files = await folder();
  const spec = await files.write("pets.yaml", pets);
  const out = join(files.path, "out", "generated");
  const written = await generate("--spec", spec, "--out", out);
  expect(written.code).toBe(0);
  expect(written.stderr).toMatch(/^Warnings:\n {2}\S+pets\.yaml:22:5 operation-operationId: .*\n$/);
  expect(written.stdout).toBe(
    `Wrote types.ts, operations.ts, validators.ts, contract.json in ${out}\n` +
      "No previous description to compare with: 3 operations\n",
  );
  const before = await contents(out);
  expect(Object.keys(before)).toEqual([
    "contract.json",
    "operations.ts",
    "types.ts",
    "validators.ts",
  ]);
  for (const text of Object.values(before)) {
    expect(text.slice(0, 120)).toContain(
      "Made by `deno task generate` from pets.yaml. Do not edit.",
    );
  }
  expect(before["operations.ts"]).toContain('export const apiKeyHeader = "X-Pets";');

  const again = await generate("--spec", spec, "--out", out);
  expect([again.code, again.stdout]).toEqual([0, `${out} is up to date\n`]);
  expect(await contents(out)).toEqual(before);

  const config = join(root, "deno.json");
  await writeFile(
    join(files.path, "use.ts"),
    `import { operations } from "./out/generated/operations.ts";
import type { paths } from "./out/generated/types.ts";
type Pet = paths["/pets/{id}"]["get"]["responses"][200]["content"]["application/json"];
const pet: Pet = { name: null, parents: [{ name: "a" }] };
const validate = operations["GET /pets/{id}"]?.responses?.["200"];
console.log(JSON.stringify([
  Object.keys(operations),
  validate?.(pet),
  validate?.({ ...pet, parents: [{ name: "a" }, { name: "a" }] }),
  operations["constructor"],
  operations["toString"],
]));
`,
  );
  for (const args of [["fmt", "--check"], ["lint"]]) {
    const { code, stderr } = await deno([...args, "--quiet", "--config", config, out], root);
    expect([args, code, stderr]).toEqual([args, 0, ""]);
  }
  const use = ["run", "--quiet", "--check", "--config", config, join(files.path, "use.ts")];
  const { code, stdout, stderr } = await deno(use, files.path);
  expect([code, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toEqual([
    ["GET /pets/{id}", "DELETE /pets/{id}", "GET /names"],
    null,
    [{ path: "/parents", rule: "uniqueItems" }],
    null,
    null,
  ]);
});

Deno.test("generate --check fails when files are stale or missing, and says what to run", async () => {
  await using files = await folder();
  const spec = await files.write("pets.yaml", pets);
  const out = join(files.path, "out");
  const args = ["--spec", spec, "--out", out];
  const run = `run \`deno task generate --spec ${spec} --out ${out}\``;
  const missing = await generate(...args, "--check");
  expect([missing.code, missing.stdout]).toEqual([1, ""]);
  expect(missing.stderr).toContain(run);
  expect((await readdir(files.path)).sort()).toEqual(["pets.yaml"]);

  await generate(...args);
  expect((await generate(...args, "--check")).code).toBe(0);
  await files.write("pets.yaml", pets.replace("X-Pets", "X-Animals"));
  const before = await contents(out);
  const stale = await generate(...args, "--check");
  expect(stale.code).toBe(1);
  expect(stale.stderr).toContain(`\n${out} is stale (operations.ts, contract.json); ${run}\n`);
  expect(await contents(out)).toEqual(before);
});

Deno.test("generate leaves the files alone when the description is broken, and says where", async () => {
  await using files = await folder();
  const spec = await files.write("pets.yaml", pets);
  const args = ["--spec", spec, "--out", join(files.path, "out")];
  await generate(...args);
  const before = await contents(join(files.path, "out"));
  await files.write("pets.yaml", pets.replace("required: [name]", "required: name"));
  expect(await generate(...args)).toEqual({
    code: 1,
    stdout: "",
    stderr: `${spec}:11:17 struct: Expected type \`array\` but got \`string\`. ` +
      `(from ${spec}:28:41)\n`,
  });
  expect(await contents(join(files.path, "out"))).toEqual(before);
});

Deno.test("readSpec() and readContract() say where a description is broken, and what rule it breaks", async () => {
  await using files = await folder();
  const spec = await files.write("pets.yaml", pets);
  const read = async () => {
    try {
      readContract(await readSpec(spec));
    } catch (error) {
      if (error instanceof SpecError) return error.message;
      throw error;
    }
    return "not broken";
  };
  const cases: [from: string, to: string, message: RegExp][] = [
    ["    Pet:\n", "    Pet: [\n", /pets\.yaml:11:15 syntax: missed comma/],
    [
      'items: { $ref: "#/components/schemas/Pet" }',
      "items: { $ref: ./cat.yaml }",
      /pets\.yaml:14:59 no-unresolved-refs: .*cat\.yaml/,
    ],
    ["in: path, required: true", "in: query", /pets\.yaml:22:5 path-parameters-defined: /],
    [
      "operationId: constructor",
      'operationId: "delete"',
      /pets\.yaml:\d+:\d+ operation-operationId-unique: /,
    ],
    ["in: header", "in: query", /pets\.yaml:7:5 security: .*"Key" \(apiKey in query\)/],
    ["openapi: 3.0.3", 'swagger: "2.0"', /pets\.yaml:1:1 Expected OpenAPI 3\.0 or 3\.1/],
    ["openapi: 3.0.3", "openapi: 4.0.0", /pets\.yaml:1:10 Expected .* found version "4\.0\.0"/],
  ];
  for (const [from, to, message] of cases) {
    expect(pets).toContain(from);
    await files.write("pets.yaml", pets.replace(from, to));
    expect(await read()).toMatch(message);
  }
  await rm(spec);
  expect(await read()).toMatch(/^Cannot read ".*pets\.yaml": ENOENT/);
});

/** The text that a stream has so far, and a wait for what it is to have. */
function reader(stream: ReadableStream<Uint8Array>) {
  let text = "";
  let wake = () => {};
  (async () => {
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      wake();
    }
  })();
  return {
    async until(part: string): Promise<void> {
      while (!text.includes(part)) await new Promise<void>((resolve) => wake = resolve);
      text = text.slice(text.indexOf(part) + part.length);
    },
  };
}

Deno.test("generate --watch writes again when a file changes, and survives a broken one", async () => {
  await using files = await folder();
  const part = await files.write("part.yaml", "type: string\n");
  const spec = await files.write(
    "pets.yaml",
    pets.replace(
      'schema: { $ref: "#/components/schemas/Pet/properties/name" }',
      "schema: { $ref: part.yaml }",
    ),
  );
  const out = join(files.path, "out");
  await using process = new Deno.Command(Deno.execPath(), {
    args: [...script, "scripts/generate.ts", "--watch", "--spec", spec, "--out", out],
    cwd: root,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const stdout = reader(process.stdout);
  const stderr = reader(process.stderr);
  await stdout.until("3 operations");
  await stderr.until("Waiting for changes");
  await writeFile(part, "type: integer\n");
  await stdout.until("type: string → integer: breaks callers");
  await stderr.until("Waiting for changes");
  await writeFile(part, "type: [\n");
  await stderr.until("part.yaml");
  await stderr.until("Waiting for changes");
  await writeFile(part, "type: boolean\n");
  await stdout.until("type: integer → boolean: breaks callers");
});
