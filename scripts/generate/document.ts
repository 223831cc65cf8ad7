/** Reads the OpenAPI document, and refuses what rules.ts refuses. @module */

import * as redocly from "@redocly/openapi-core";
import { writeOperations } from "./operations.ts";
import { redoclyConfigs } from "./rules.ts";
import { type Any, escape } from "./schemas.ts";

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
 * Reads the document.
 *
 * @param file Its path, relative to the project's folder.
 * @returns The document, without annotations that types would have as fields.
 * @throws If it is refused.
 */
export async function readDocument(file: string): Promise<Any> {
  const refuseAt = (location: Any, ruleId: string, message: string) =>
    refuse(file, [{ location: [location], message, ruleId }]);
  const externalRefResolver = new redocly.BaseResolver();
  const document: Any = await externalRefResolver.resolveDocument(null, file, true)
    .catch(({ line, col, message, originalError }) => {
      const start = { line: line || 1, col: col || 1 }; // A second document in the file has no place.
      refuseAt({ start }, "document", originalError?.reason ?? message);
    });
  // A copy in which each alias has objects of its own, because Redocly visits an object once.
  document.parsed = JSON.parse(JSON.stringify(document.parsed ?? null));
  const older = "Write OpenAPI 3.1: `openapi: 3.1.0`; convert a document of an older version first";
  const is31 = /^3\.1\./.test(document.parsed?.openapi);
  if (!is31) refuseAt({ source: document.source, pointer: "#/openapi" }, "openapi", older);
  /** Refuses what throws an error without a place, such as a reference to itself. */
  const refuseIn = (pointer: string) => ({ message }: Error): Any =>
    refuseAt({ source: document.source, pointer }, "document", message);
  for (const rawConfig of redoclyConfigs(document.parsed)) {
    const { styleguide: config } = await redocly.createConfig(rawConfig);
    const problems = redocly.lintDocument({ document, externalRefResolver, config });
    refuse(file, await problems.catch(refuseIn("#/components")));
  }
  // A pattern that JavaScript cannot read is refused where it is checked: in 2xx responses.
  for (const [path, item] of Object.entries(document.parsed.paths ?? {})) {
    const part = { ...document.parsed, paths: { [path]: item } };
    await Promise.try(writeOperations, part).catch(refuseIn(`#/paths/${escape(path)}`));
  }
  return document.parsed;
}
