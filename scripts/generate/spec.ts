/**
 * Reads the OpenAPI document: YAML, version, lint, and places in its file.
 *
 * @module
 */

import {
  BaseResolver,
  createConfig,
  type Document,
  getLineColLocation,
  lintDocument,
  type Source,
  YamlParseError,
} from "@redocly/openapi-core";
import { relative, resolve } from "node:path";
import process from "node:process";
import { type JsonObject, objectOf } from "./json.ts";
import { pluginFor } from "./plugin.ts";
import { pointerOf, type Problem, problemAt } from "./problems.ts";
import { takeOutUnreadable } from "./unreadable.ts";

/** An error whose message says all: what is refused, stale, or used wrongly. */
export class SpecError extends Error {}

/** Redocly's rules that guard what is generated, and our own. */
const rules = {
  "client/accepted": "error",
  struct: "error",
  "no-identical-paths": "error",
  "operation-operationId": "error",
  "operation-operationId-unique": "error",
  "operation-parameters-unique": "error",
  "path-parameters-defined": "error",
  "security-defined": "error",
  "spec-components-invalid-map-name": "error",
} as const;

/** Returns a path as it is shown to people. */
function show(path: string): string {
  return relative(process.cwd(), path) || ".";
}

/** Returns a place in a file: of the field at a JSON Pointer, or of the nearest around it. */
function placeOf(source: Source, pointer: string): string {
  const file = show(source.absoluteRef);
  try {
    const decodable = `#${pointer.replaceAll("%", "%25")}`; // Redocly decodes it once too often
    const { start } = getLineColLocation({ source, pointer: decodable, reportOnKey: true });
    return `${file}:${start.line}:${start.col}`;
  } catch { // Redocly finds no places in a file with `!!binary`.
    const lines = source.body.split("!!binary", 1)[0]!.split("\n");
    return `${file}:${lines.length}:${lines.at(-1)!.length + 1}`;
  }
}

/** Refuses what is not OpenAPI 3.1. */
function checkVersion(root: JsonObject): Problem[] {
  if (`${root.openapi}`.startsWith("3.1.")) return [];
  const field = "swagger" in root ? "swagger" : "openapi";
  return [problemAt(`/${field}`, "Write OpenAPI 3.1: `openapi: 3.1.0`", root[field])];
}

/** Has Redocly check a document: by our plugin, which adds to `ours`, and by its own rules. */
async function lint(document: Document, ours: Problem[]): Promise<Problem[]> {
  const config = await createConfig({
    plugins: [pluginFor(document.parsed, ours)],
    preprocessors: { "client/references": "error" },
    rules,
  });
  const externalRefResolver = new BaseResolver(config.resolve);
  const options = { document, externalRefResolver, config: config.styleguide };
  const found = await lintDocument(options);
  return found.map(({ location, message }) => problemAt(pointerOf(location[0]!), message));
}

/** The place of a path, a status or a field with schemas: only the name is refused, not what it has. */
const nameOnly =
  /\/((paths|responses)\/[^/]+|properties|additionalProperties|items|(all|any|one)Of)$/;

/** The end of the place of a parameter or a security scheme of a wrong kind: all of it is refused. */
const wrongKind = /(?<=\/(parameters|securitySchemes)\/[^/]+)\/(in|type)$/;

/** Leaves out what helps nobody: second problems of a place, and those of what is in a refused place. */
function withoutFollowUps(ours: readonly Problem[], fromRedocly: readonly Problem[]): Problem[] {
  // Of several problems of ours at one place, the first is kept.
  const firsts = new Map(ours.toReversed().map((problem) => [problem.pointer, problem]));
  const others = fromRedocly.filter(({ pointer }) => !firsts.has(pointer));
  const isInRefused = ({ pointer }: Problem) =>
    firsts.keys().some((refused) =>
      pointer !== refused && !nameOnly.test(refused) &&
      `${pointer}/`.startsWith(`${refused.replace(wrongKind, "")}/`)
    );
  return [...firsts.values(), ...others].filter((problem) => !isInRefused(problem));
}

/**
 * Reads an OpenAPI document.
 *
 * @param file The path of the document, in YAML or JSON.
 * @returns The document.
 * @throws {SpecError} If it is refused; the message has one line for each problem.
 */
export async function readSpec(file: string): Promise<JsonObject> {
  const document = await new BaseResolver().resolveDocument(null, resolve(file), true)
    .catch((error) => {
      if (!(error instanceof YamlParseError)) throw error;
      const { originalError: { message }, line, col } = error;
      const [reason] = message.split(/ in "|\n/, 1);
      const text = `Write valid YAML, where a text with \`: \` needs quotes: ${reason}`;
      throw new SpecError(`${show(file)}:${line || 1}:${col || 1} ${text}`);
    }) as Document;
  const { source } = document;
  const parsed = document.parsed = objectOf(document.parsed);
  const ours = [...checkVersion(parsed), ...takeOutUnreadable(parsed)];
  parsed.openapi = "3.1.0"; // so that all that is wrong in an older document is said at once
  const fromRedocly = await lint(document, ours);
  const problems = withoutFollowUps(ours, fromRedocly);
  if (problems.length === 0) return parsed;
  const lines = problems.map(({ pointer, message }) => `${placeOf(source, pointer)} ${message}`);
  const { compare } = new Intl.Collator("en", { numeric: true });
  throw new SpecError([...new Set(lines)].sort(compare).join("\n"));
}
