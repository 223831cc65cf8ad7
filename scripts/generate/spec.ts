/**
 * Reads the OpenAPI document: version, lint, bundle, and places in its file.
 *
 * @module
 */

import {
  BaseResolver,
  bundle,
  createConfig,
  type Document,
  getLineColLocation,
  lintDocument,
  type LocationObject,
  type NormalizedProblem,
} from "@redocly/openapi-core";
import { relative, resolve } from "node:path";
import process from "node:process";
import type { JsonObject } from "./json.ts";
import { plugin } from "./rules.ts";

/** An error in the document, or a feature that the client does not support. */
export class SpecError extends Error {}

/** An OpenAPI document. */
export interface Spec {
  /** The bundled document: every `$ref` in it points into it. */
  readonly document: JsonObject;
  /** What the lint found that does not stop generation, one line each. */
  readonly warnings: readonly string[];
  /** `file:line:column` of a JSON Pointer into the document, or of the nearest place. */
  place(pointer: string): string;
}

/** Redocly's recommended rules and our own, except two that the document cannot follow. */
const config = await createConfig({
  plugins: [plugin],
  extends: ["recommended"],
  rules: {
    "client/idempotent": "error",
    "client/schema": "error",
    "client/security": "error",
    "info-license": "off", // the service's document does not show one
    "operation-4xx-response": "off", // it shows no error status, so none may be listed (section 7)
    "operation-operationId": "error",
  },
});

/** The path as it is shown to people. */
export function show(path: string): string {
  return relative(process.cwd(), path) || ".";
}

function place(location: LocationObject): string {
  const pointer = location.pointer?.replaceAll("%", "%25"); // Redocly decodes it once too often
  const { source, start } = getLineColLocation({ ...location, pointer } as LocationObject);
  return `${show(source.absoluteRef)}:${start.line}:${start.col}`;
}

function line({ location, ruleId, message, from }: NormalizedProblem): string {
  const origin = from ? ` (from ${place(from)})` : "";
  return `${place(location[0]!)} ${ruleId.replace("client/", "")}: ${message}${origin}`;
}

/**
 * Reads an OpenAPI document and what it refers to.
 *
 * @param file The path of the document, in YAML or JSON.
 * @returns The document.
 * @throws {SpecError} If it is not valid; the message has one line for each problem.
 */
export async function readSpec(file: string): Promise<Spec> {
  const resolver = new BaseResolver(config.resolve);
  const document = await resolver.resolveDocument(null, resolve(file), true)
    .catch(({ originalError, line = 1, col = 1 }) => {
      const [reason] = originalError.message.split(/ in "|\n/, 1);
      throw new SpecError(`${show(file)}:${line}:${col} unreadable: ${reason}`);
    }) as Document;
  const { source, parsed } = document;
  const version = parsed?.openapi ?? parsed?.swagger ?? "no version";
  if (!String(version).startsWith("3.1.")) {
    const where = place({ source, pointer: "#/openapi" });
    const advice = "`npx @scalar/cli document upgrade FILE -o NEW_FILE` converts older documents";
    throw new SpecError(`${where} version: Expected OpenAPI 3.1, found ${version}; ${advice}`);
  }

  const options = { document, externalRefResolver: resolver };
  const problems = await lintDocument({ ...options, config: config.styleguide });
  const errors = problems.filter((problem) => severityOf(problem) === "error");
  if (errors.length > 0) throw new SpecError(errors.map(line).join("\n"));

  const { bundle: { parsed: bundled } } = await bundle({ ...options, doc: document, config });
  return {
    document: bundled,
    warnings: problems.filter((problem) => severityOf(problem) === "warn").map(line),
    place: (pointer) => place({ source, pointer: `#${pointer}`, reportOnKey: true }),
  };
}

/** Redocly's verdict, except where JSON Schema allows what it takes for an error. */
function severityOf({ severity, message, location }: NormalizedProblem): "error" | "warn" | "off" {
  // `true` and `false` are schemas too.
  if (message.startsWith("Expected type `Schema` (object) but got `boolean`")) return "off";
  const isKeyword = /\/schemas?\//.test(`${location[0]?.pointer}/`) &&
    /^Property `.*` is not expected here/.test(message);
  return isKeyword ? "warn" : severity; // it may be misspelled
}
