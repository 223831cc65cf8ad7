// Texts name the header of the key, which only the OpenAPI document chooses.
import { parseYaml } from "@redocly/openapi-core";
import { expect } from "@std/expect";
import { join } from "node:path";
import { type Json, type JsonObject, objectOf } from "../../scripts/generate/json.ts";
import { listFiles, root } from "../../scripts/support/files.ts";
import { apiKeyHeader } from "../../src/generated/operations.ts";

const read = (file: string) => Deno.readTextFile(join(root, file));

/** Finds the objects in a value. */
function* objectsIn(value: Json): Generator<JsonObject> {
  if (typeof value !== "object" || value === null) return;
  yield objectOf(value);
  for (const part of Object.values(value)) yield* objectsIn(part);
}

const objects = [...objectsIn(parseYaml(await read("openapi/openapi.yaml")) as Json)];
const descriptions = objects.flatMap(({ summary, description }) => [summary, description]);

/** The headers that the document has in addition to the key's. */
const documented = objects.flatMap(({ in: place, type, name, headers }) => [
  ...Object.keys(objectOf(headers)),
  ...place === "header" && type !== "apiKey" ? [name] : [],
]);

/** The names in a text that are written like a header's, `Some-Name`, or called or used as one. */
function headersIn(text: string): string[] {
  const names = text.match(
    /(?<=[`"])[A-Z]\w*(-[A-Z]\w*)+(?=[`":])|(?<=[`"])[\w-]+(?=[`"]\s+(?:\* +)?header)|(?<=headers: \{ ")[\w-]+/g,
  );
  return (names ?? []).filter((name) =>
    !/^(Access-Control-|Content-|Location$|Retry-After$)/.test(name) && !documented.includes(name)
  );
}

Deno.test("the key's header has its name in README, RECIPES, the docs and the descriptions", async () => {
  const sources = (await listFiles(join(root, "src")))
    .filter((file) => file.endsWith(".ts") && !file.startsWith("generated/"));
  const files = ["README.md", "RECIPES.md", "SECURITY.md", "mod.ts"]
    .concat(sources.map((file) => `src/${file}`));
  const texts: [string, string][] = [["a description", descriptions.join("\n")]];
  for (const file of files) texts.push([file, await read(file)]);
  const named = texts.flatMap(([file, text]) => headersIn(text).map((name) => [file, name]));
  const isKey = (name: string) => name === apiKeyHeader;
  const blind = texts.filter(([, text]) =>
    text.split(/[`"]/).filter(isKey).length > headersIn(text).filter(isKey).length
  );
  const advice =
    `Write "\`${apiKeyHeader}\` header", so that this test finds it when it is renamed`;
  expect(blind.map(([file]) => file), advice).toEqual([]);
  expect(named.filter(([, name]) => name !== apiKeyHeader)).toEqual([]);
  expect(named.length).toBeGreaterThan(0);
});
