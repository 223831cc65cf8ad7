/**
 * Reads the OpenAPI document: version, references, lint, and places in its file.
 *
 * @module
 */

import type { Document, LocationObject, NormalizedProblem } from "@redocly/openapi-core";
import {
  BaseResolver,
  createConfig,
  getLineColLocation,
  lintDocument,
} from "@redocly/openapi-core";
import { relative, resolve } from "node:path";
import process from "node:process";
import type { JsonObject } from "./json.ts";
import { examples, plugin } from "./plugin.ts";
import { findProblems } from "./references.ts";

/** An error in the document, or a feature that the client does not support. */
export class SpecError extends Error {}

/** Redocly's recommended rules, except some, and our own. */
const config = await createConfig({
  plugins: [plugin],
  extends: ["recommended-strict"],
  rules: {
    "client/accepted": "error",
    "info-license": "off", // the service documentation does not show one
    "no-invalid-media-type-examples": examples,
    "no-invalid-parameter-examples": examples,
    "no-invalid-schema-examples": examples,
    "no-enum-type-mismatch": "off", // see plugin.ts
    "no-path-trailing-slash": "off", // it is sent
    "no-unresolved-refs": "off", // see references.ts
    "no-unused-components": "off", // callers may use their types
    "operation-2xx-response": "off", // ours does not accept `default`
    "operation-4xx-response": "off", // the service documentation shows none
  },
});

/** The path as it is shown to people. */
function show(path: string): string {
  return relative(process.cwd(), path) || ".";
}

function place(location: LocationObject): string {
  const pointer = location.pointer?.replaceAll("%", "%25"); // Redocly decodes it once too often
  const { source, start } = getLineColLocation({ ...location, pointer } as LocationObject);
  return `${show(source.absoluteRef)}:${start.line}:${start.col}`;
}

/** Writes problems, one line each, in the order of the document. */
function toLines(problems: NormalizedProblem[]): string[] {
  const isOurs = ({ ruleId }: NormalizedProblem) => ruleId === "client/accepted";
  const pointerOf = ({ location }: NormalizedProblem) => location[0]!.pointer!;
  const refused = problems.filter(isOurs).map((problem) => `${pointerOf(problem)}/`);
  // What Redocly says of a field that is refused, and what is said of what is in it, helps nobody. With
  // the slash, what Redocly says of the field itself counts as in it.
  const isInRefused = (problem: NormalizedProblem) => {
    const pointer = isOurs(problem) ? pointerOf(problem) : `${pointerOf(problem)}/`;
    return refused.some((one) => pointer.startsWith(one));
  };
  const lines = problems.filter((problem) => !isInRefused(problem)).map((problem) => {
    const rule = isOurs(problem) ? "" : `${problem.ruleId}: `;
    return `${place(problem.location[0]!)} ${rule}${problem.message}`;
  });
  return lines.sort(new Intl.Collator("en", { numeric: true }).compare);
}

/**
 * Reads an OpenAPI document.
 *
 * @param file The path of the document, in YAML or JSON.
 * @returns The document.
 * @throws {SpecError} If it is not valid; the message has one line for each problem.
 */
export async function readSpec(file: string): Promise<JsonObject> {
  const resolver = new BaseResolver(config.resolve);
  const document = await resolver.resolveDocument(null, resolve(file))
    .catch(({ originalError, line = 1, col = 1 }) => {
      const [reason] = originalError.message.split(/ in "|\n/, 1);
      throw new SpecError(`${show(file)}:${line}:${col} unreadable: ${reason}`);
    }) as Document;
  document.parsed = JSON.parse(JSON.stringify(document.parsed ?? null)); // without YAML's aliases
  const { source, parsed } = document;
  const version = String(parsed?.openapi ?? parsed?.swagger ?? "no version");
  if (!version.startsWith("3.1.")) {
    const where = place({ source, pointer: "#/openapi" });
    throw new SpecError(`${where} Expected OpenAPI 3.1, found ${version}`);
  }

  const placeOf = (pointer: string) => place({ source, pointer: `#${pointer}`, reportOnKey: true });
  const found = [...findProblems(parsed)].map(([at, problem]) => `${placeOf(at)} ${problem}`);
  if (found.length > 0) throw new SpecError(found.join("\n"));
  const options = { document, externalRefResolver: resolver };
  const problems = await lintDocument({ ...options, config: config.styleguide });
  if (problems.length > 0) throw new SpecError(toLines(problems).join("\n"));
  return parsed;
}
