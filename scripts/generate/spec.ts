/** Reading a description: lint, bundle, and where in its files a thing stands. @module */

import {
  BaseResolver,
  bundle,
  type Config,
  createConfig,
  type Document,
  getLineColLocation,
  lintDocument,
  type LocationObject,
  type NormalizedProblem,
  type ResolveError,
  type YamlParseError,
} from "@redocly/openapi-core";
import { relative, resolve } from "node:path";
import process from "node:process";
import { nameReferences } from "./references.ts";

/** A value that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  [key: string]: Json;
}

/** A description that is broken, or that asks for what the client cannot do. */
export class SpecError extends Error {
  override readonly name = "SpecError";
}

/** A description, bundled into one document. */
export interface Spec {
  /** The bundled document: every `$ref` left in it points into it. */
  readonly document: JsonObject;
  /** The files that it was read from. */
  readonly files: readonly string[];
  /** What the lint found that does not stop generation; each writes its line when it is asked. */
  readonly warnings: readonly (() => string)[];
  /** `file:line:column` of a JSON pointer (without `#`) into the document. */
  place(pointer: string): string;
}

/**
 * Rules that Redocly recommends and that cannot be kept here.
 *
 * - info-license: the service's document shows no licence.
 * - operation-4xx-response: it shows no error status either (section 7), so none may be listed.
 */
const rulesOff = { "info-license": "off", "operation-4xx-response": "off" } as const;

/**
 * Recommended rules whose breach leaves a description that can be read without doubt. Their errors
 * are warnings while generating; `deno task lint:spec` accepts no problem at all.
 */
const style = new Set([
  "no-empty-servers",
  "no-enum-type-mismatch",
  "no-example-value-and-externalValue",
  "no-identical-paths",
  "no-path-trailing-slash",
  "no-server-trailing-slash",
  "no-server-variables-empty-enum",
  "no-undefined-server-variable",
  "operation-operationId-url-safe",
  "operation-summary",
  "security-defined",
]);

/** Whether a problem makes the description unusable. */
function isFatal({ severity, ruleId, message, location }: NormalizedProblem): boolean {
  if (severity !== "error" || style.has(ruleId)) return false;
  // In 3.1 `true` and `false` are schemas wherever one may stand.
  if (message.startsWith("Expected type `Schema` (object) but got `boolean`")) return false;
  const pointer = location[0]?.pointer ?? "";
  // Extensions are their owners' business; `nullable` without a type or in 3.1 is read as it is
  // meant; and a mapping of a discriminator may hold names of schemas.
  return !/\/x-|\/nullable$|\/discriminator\/mapping\//.test(pointer);
}

/** The path as it is shown to people: relative where it lies below the working folder. */
export function show(path: string): string {
  const short = relative(process.cwd(), path) || ".";
  return short.startsWith("..") ? path : short;
}

function place(location: LocationObject | undefined): string {
  if (!location) return "";
  const { source, start } = getLineColLocation(location);
  return `${show(source.absoluteRef)}:${start.line}:${start.col}`;
}

function line(problem: NormalizedProblem): string {
  const from = problem.from ? ` (from ${place(problem.from)})` : "";
  return `${place(problem.location[0])} ${problem.ruleId}: ${problem.message}${from}`;
}

interface Source {
  readonly document: Document;
  readonly resolver: BaseResolver;
  readonly config: Config;
}

async function open(file: string): Promise<Source> {
  const path = resolve(file);
  const config = await createConfig({ extends: ["recommended"], rules: rulesOff });
  const resolver = new BaseResolver(config.resolve);
  const document = await resolver.resolveDocument(null, path, true)
    .catch((error) => error as ResolveError | YamlParseError);
  if (document instanceof Error) throw unreadable(path, document);
  const version = document.parsed?.openapi;
  if (typeof version !== "string" || !/^3\.[01]\./.test(version)) {
    const found = version === undefined ? "no `openapi` field" : `version "${version}"`;
    const where = place({ source: document.source, pointer: "#/openapi", reportOnKey: false });
    throw new SpecError(`${where} Expected OpenAPI 3.0 or 3.1, found ${found}`);
  }
  return { document, resolver, config };
}

/** A file that is missing, or neither YAML nor JSON. */
function unreadable(path: string, error: ResolveError | YamlParseError): SpecError {
  const reason = error.originalError.message.split("\n", 1)[0]?.replace(
    / in "[^"]*" \(\d+:\d+\)$/,
    "",
  );
  return new SpecError(
    "line" in error
      ? `${show(path)}:${error.line}:${error.col} syntax: ${reason}`
      : `Cannot read "${show(path)}": ${reason}`,
  );
}

async function lintSource({ document, resolver, config }: Source): Promise<NormalizedProblem[]> {
  const problems = await lintDocument({
    document,
    config: config.styleguide,
    externalRefResolver: resolver,
  });
  return problems.filter(({ ignored }) => !ignored);
}

/** Every problem that the rules find in a description, one line each. */
export async function lintSpec(file: string): Promise<string[]> {
  return (await lintSource(await open(file))).map(line);
}

/**
 * Reads a description and what it refers to.
 *
 * @param file The path of an OpenAPI 3.0 or 3.1 description in YAML or JSON.
 * @returns The description as one document.
 * @throws {SpecError} If it is broken; the message has one line for each problem.
 */
export async function readSpec(file: string): Promise<Spec> {
  const source = await open(file);
  const problems = await lintSource(source);
  const fatal = problems.filter(isFatal);
  if (fatal.length > 0) throw new SpecError(fatal.map(line).join("\n"));

  const { document, resolver, config } = source;
  // Bundling moves what lies in other files into the document that it is given.
  const bundled = await bundle({ doc: document, externalRefResolver: resolver, config });
  nameReferences(bundled.bundle.parsed);
  return {
    document: bundled.bundle.parsed,
    files: [resolve(file), ...bundled.fileDependencies],
    warnings: problems.map((problem) => () => line(problem)),
    place: (pointer) =>
      place({ source: document.source, pointer: `#${pointer}`, reportOnKey: true }),
  };
}
