/** Reads the OpenAPI document, and refuses what rules.ts refuses. @module */

import * as redocly from "@redocly/openapi-core";
import { redoclyConfig } from "./rules.ts";
import { type Any, escape } from "./schemas.ts";

const unreadable = "Look for a $ref that is a part of itself, and for a name such as `valueOf`";

/** Throws if there are problems. The message has the first one of each place, from the top. */
function refuse(file: string, problems: Any[]): void {
  const lines = new Map<string, string>();
  for (const { location: [{ pointer, ...rest }], message, ruleId } of problems) {
    const encoded = pointer?.replaceAll("%", "%25"); // Redocly decodes it once too often.
    const { start } = redocly.getLineColLocation({ ...rest, pointer: encoded, reportOnKey: true });
    const place = `${file}:${start.line}:${start.col}`;
    if (!lines.has(place)) lines.set(place, `${place} ${ruleId}: ${message}`);
  }
  const { compare } = new Intl.Collator("en", { numeric: true });
  if (lines.size > 0) throw new Error([...lines.values()].sort(compare).join("\n"));
}

/**
 * Copies a node so that each alias has objects of its own, because Redocly visits an object once.
 *
 * @param refuseAlias Throws an error for the JSON Pointer of an alias that is a part of itself.
 */
function copy(node: Any, refuseAlias: (at: string) => void, parents: Any[] = [], at = "#"): Any {
  if (Object(node) !== node) return node;
  if (parents.includes(node)) refuseAlias(at);
  const entries = Object.entries<Any>(node).map(([name, value]) =>
    [name, copy(value, refuseAlias, [...parents, node], `${at}/${escape(name)}`)] as const
  );
  return Array.isArray(node) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

/** Returns the place of an error in YAML. If the error is a second document, that is the line "---". */
function placeOf({ line, col, source }: Any) {
  const start = source?.getLines().findLastIndex((text: string) => text.startsWith("---"));
  return line ? { line, col } : { line: start + 1 || 1, col: 1 };
}

/**
 * Reads the document.
 *
 * @param file Its path, relative to the project's folder.
 * @returns The document for types, and with its schemas as responses are checked for them.
 * @throws If it is refused.
 */
export async function readDocument(file: string): Promise<{ forTypes: Any; forChecks: Any }> {
  const resolver = new redocly.BaseResolver();
  const config = await redocly.createConfig(redoclyConfig);
  const refuseAt = (location: Any, ruleId: string, message: string) =>
    refuse(file, [{ location: [location], message, ruleId }]);
  const { source, parsed: shared }: Any = await resolver.resolveDocument(null, file, true)
    .catch((error) =>
      refuseAt({ start: placeOf(error) }, "document", error.originalError?.reason ?? error.message)
    );
  const circular = "Write `$ref` in place of the alias: it is a part of itself";
  const parsed = copy(shared, (pointer) => refuseAt({ source, pointer }, "alias", circular));
  const older = "Write OpenAPI 3.1: `openapi: 3.1.0`; convert a document of an older version first";
  const is31 = /^3\.1\./.test(parsed?.openapi);
  if (!is31) refuseAt({ source, pointer: "#/openapi" }, "openapi", older);
  const document = { source, parsed };
  const options = { document, externalRefResolver: resolver, config: config.styleguide };
  const problems = await redocly.lintDocument(options).catch(({ location, message }) => {
    if (location) refuseAt(location, "$ref", message);
    refuseAt({ start: { line: 1, col: 1 } }, "document", `${message}. ${unreadable}`);
  });
  refuse(file, problems!);
  const forTypes = structuredClone(parsed);
  const bundled = await redocly.bundle({ ...options, doc: document, config });
  refuse(file, bundled.problems);
  return { forTypes, forChecks: bundled.bundle.parsed };
}
