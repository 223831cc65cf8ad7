/**
 * Reads the OpenAPI document: version, lint, bundle, and places in its file.
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
import { follow, type Json, type JsonObject, objectOf, pointerTo } from "./json.ts";
import { examples, names, plugin } from "./rules.ts";

/** An error in the document, or a feature that the client does not support. */
export class SpecError extends Error {}

/** An OpenAPI document. */
export interface Spec {
  /** The document: every `$ref` in it points into it. */
  readonly document: JsonObject;
  /** `file:line:column` of a JSON Pointer into the document, or of the nearest place. */
  place(pointer: string): string;
}

/** Redocly's recommended rules, except some, and our own. */
const config = await createConfig({
  plugins: [plugin],
  extends: ["recommended-strict"],
  rules: {
    ...Object.fromEntries(names.map((name) => [`client/${name}`, "error"])),
    "info-license": "off", // the service documentation does not show one
    "no-invalid-media-type-examples": examples,
    "no-invalid-parameter-examples": examples,
    "no-invalid-schema-examples": examples,
    "no-path-trailing-slash": "off", // it is sent
    "no-unresolved-refs": "off", // see findProblems()
    "no-unused-components": "off", // callers may use their types, such as those of webhooks
    "operation-2xx-response": "off", // ours does not accept `default`
    "operation-4xx-response": "off", // it shows no error status, so none may be listed (section 7)
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
  const lines = problems.map(({ location, ruleId, message, from }) => {
    const origin = from ? ` (from ${place(from)})` : "";
    return `${place(location[0]!)} ${ruleId.replace("client/", "")}: ${message}${origin}`;
  });
  return lines.sort(new Intl.Collator("en", { numeric: true }).compare);
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
  const document = await resolver.resolveDocument(null, resolve(file))
    .catch(({ originalError, line = 1, col = 1 }) => {
      const [reason] = originalError.message.split(/ in "|\n/, 1);
      throw new SpecError(`${show(file)}:${line}:${col} unreadable: ${reason}`);
    }) as Document;
  const { source, parsed } = document;
  const version = String(parsed?.openapi ?? parsed?.swagger ?? "no version");
  if (!version.startsWith("3.1.")) {
    const where = place({ source, pointer: "#/openapi" });
    throw new SpecError(`${where} version: Expected OpenAPI 3.1, found ${version}`);
  }

  const placeOf = (pointer: string) => place({ source, pointer: `#${pointer}`, reportOnKey: true });
  const found = [...findProblems(parsed, parsed)].map(([at, problem]) =>
    `${placeOf(at)} ${problem}`
  );
  if (found.length > 0) throw new SpecError(found.join("\n"));
  const options = { document, externalRefResolver: resolver };
  const problems = await lintDocument({ ...options, config: config.styleguide });
  if (problems.length > 0) throw new SpecError(toLines(problems).join("\n"));
  return { document: parsed, place: placeOf };
}

/** What may be next to `$ref`. */
const annotation = /^(\$comment|\$ref|description|summary|title|x-.*)$/;

/** Finds names that Redocly cannot read and references that are not followed: places, problems. */
function* findProblems(root: Json, node: JsonObject, pointer = ""): Generator<[string, string]> {
  for (const [name, value] of Object.entries(node)) {
    const place = pointer + pointerTo(name);
    if (name in {}) {
      yield [place, `name: \`${name}\` is a property of all objects in JavaScript; leave it out`];
    }
    if (typeof node.$ref === "string" && !annotation.test(name)) {
      yield [place, `reference: \`$ref\` hides \`${name}\`; drop it or write \`allOf\` with both`];
    }
    if (typeof value === "object" && value) yield* findProblems(root, value as JsonObject, place);
    if (name !== "$ref" || typeof value !== "string") continue;
    if (!/^#\/components\/[^/]+\/[^/]+$/.test(value)) {
      yield [place, `reference: Write the target of \`${value}\` directly below \`components\``];
    } else if (leadsToItself(root, value)) {
      yield [place, `reference: \`${value}\` leads to itself`];
    } else if (!follow(root, value)) yield [place, `reference: Cannot resolve \`${value}\``];
  }
}

/** Whether a reference leads to a reference, and so on, and at last to itself. */
function leadsToItself(root: Json, first: Json): boolean {
  const found = new Set<Json>();
  for (let ref: Json | undefined = first; ref; ref = objectOf(follow(root, ref)).$ref) {
    if (found.has(ref)) return true;
    found.add(ref);
  }
  return false;
}
