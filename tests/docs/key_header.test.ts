// Texts name the header of the key, which only the OpenAPI document chooses.
import { parseYaml } from "@redocly/openapi-core";
import { type Json, type JsonObject, objectOf } from "../../scripts/generate/json.ts";
import { listProject, read } from "../../scripts/support/files.ts";
import { apiKeyHeader } from "../../src/generated/operations.ts";
import { testList } from "../support/lists.ts";

/** Finds the objects in a value. */
function* objectsIn(value: Json): Generator<JsonObject> {
  if (typeof value !== "object" || value === null) return;
  yield objectOf(value);
  for (const part of Object.values(value)) yield* objectsIn(part);
}

const objects = [...objectsIn(parseYaml(await read("openapi/openapi.yaml")) as Json)];
const descriptions = objects.flatMap(({ summary, description }) => [summary, description]);

/** The headers of the OpenAPI document, the key's too. */
const documented = objects.flatMap(({ in: place, name, headers }) => [
  ...Object.keys(objectOf(headers)),
  ...place === "header" ? [name] : [],
]);

/** Headers of HTTP itself, which texts may name. */
const others = /^(Access-Control-|Content-|Retry-After$)/;

const sources = (await listProject("src")).filter((file) => !file.startsWith("src/generated/"));
const texts = new Map([["openapi/openapi.yaml", descriptions.join("\n")]]);
for (const file of ["README.md", "RECIPES.md", "SECURITY.md", "mod.ts", ...sources]) {
  texts.set(file, await read(file));
}
testList(
  `A header in code marks is the key's, ${apiKeyHeader}, another one of the OpenAPI document, or one of HTTP: add that to "others" in tests/docs/key_header.test.ts`,
  [...texts].flatMap(([file, text]) =>
    (text.match(/(?<=[`"])[A-Z]\w*(-[A-Z]\w*)+(?=[`":])/g) ?? [])
      .filter((name) => !documented.includes(name) && !others.test(name))
      .map((name) => `${name} in ${file}`)
  ),
  [],
);
