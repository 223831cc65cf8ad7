// What an editor offers: TypeScript's language service completes the options of the methods.
import { expect } from "@std/expect";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

import { root } from "../../scripts/support/files.ts";

/** Returns the file with the types of a package. */
function typesOf(name: string): string {
  return fileURLToPath(import.meta.resolve(name)).replace(/\.(m?)js$/, ".d.$1ts");
}

const library = typesOf("openapi-fetch");
const settings: ts.CompilerOptions = {
  strict: true,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
  types: [],
  allowImportingTsExtensions: true,
  noEmit: true,
  paths: {
    "openapi-fetch": [library],
    "openapi-typescript-helpers": [createRequire(library).resolve("openapi-typescript-helpers")],
    "@standard-schema/spec": [typesOf("@standard-schema/spec")],
  },
};

/** Returns the options that are offered at `|` in a call of a client, with their docs. */
function complete(call: string): Record<string, string> {
  const file = join(root, "editor.ts"); // which is nowhere
  const source = `import { createClient } from "./mod.ts";
    type Get = { parameters: { query?: { page: number } }; responses: { 200: { content: never } } };
    type Paths = { "/a": { get: Get } };
    const client = createClient({ baseUrl: "https://service.example/" });
    const wider = createClient<Paths>({ baseUrl: "https://service.example/" });
    void client, wider, ${call};`;
  const read = (name: string) => name === file ? source.replace("|", "") : ts.sys.readFile(name);
  const service = ts.createLanguageService({
    getCompilationSettings: () => settings,
    getScriptFileNames: () => [file],
    getScriptVersion: () => "1",
    getScriptSnapshot: (name) => ts.ScriptSnapshot.fromString(read(name) ?? ""),
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (name) => read(name) !== undefined,
    readFile: read,
  });
  for (const name of [file, join(root, "src/api.ts")]) {
    expect(service.getSemanticDiagnostics(name).map(({ messageText }) => messageText)).toEqual([]);
  }
  const at = [file, source.indexOf("|")] as const;
  const offered = service.getCompletionsAtPosition(...at, {})?.entries ?? [];
  return Object.fromEntries(offered.map(({ name }) => {
    const entry = service.getCompletionEntryDetails(...at, name, {}, undefined, {}, undefined);
    return [name, ts.displayPartsToString(entry?.documentation)];
  }));
}

Deno.test("editors offer the options of a typed method, with their docs", () => {
  const offered = {
    timeout: expect.stringContaining("in milliseconds"),
    retries: expect.stringContaining("ClientOptions.retries"),
    idempotent: expect.stringContaining("safe to repeat"),
  };
  expect(complete('client.POST("/checkKey", { body: { apiKey: "k" }, | })')).toMatchObject(offered);
  expect(complete('wider.GET("/a", { | })')).toMatchObject(offered);
});
