/** Reads the OpenAPI document, and refuses what rules.ts refuses. @module */

import * as redocly from "@redocly/openapi-core";
import { config as rules } from "./rules.ts";
import type { Any } from "./schemas.ts";

const unreadable =
  "Look for an alias or a $ref that is a part of itself, and for a name such as `valueOf`";

/** Throws if there are problems. The message has the first one of each place, from the top. */
function refuse(file: string, problems: Any[]): void {
  const lines = new Map<string, string>();
  for (const { location: [{ pointer, ...rest }], message, ruleId } of problems) {
    const encoded = pointer?.replaceAll("%", "%25"); // because Redocly decodes it once too often
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
 * @returns The document for types, and with its schemas as responses are checked for them.
 * @throws If it is refused.
 */
export async function readDocument(file: string): Promise<{ forTypes: Any; forChecks: Any }> {
  const externalRefResolver = new redocly.BaseResolver();
  const config = await redocly.createConfig(rules);
  /** Refuses a document that Redocly cannot read. */
  const refuseAll = (message: string, { line = 1, col = 1 } = {}) =>
    refuse(file, [{ location: [{ start: { line, col } }], message, ruleId: "document" }]);
  const document: Any = await externalRefResolver.resolveDocument(null, file, true)
    .catch((error) => refuseAll(error.originalError?.reason ?? error.message, error));
  const { parsed, source } = document;
  if (!/^3\.1\./.test(parsed?.openapi)) {
    const location = [{ source, pointer: "#/openapi" }];
    refuse(file, [{ location, ruleId: "openapi", message: "Write OpenAPI 3.1: `openapi: 3.1.0`" }]);
  }
  const options = { document, externalRefResolver, config: config.styleguide };
  const problems = await redocly.lintDocument(options)
    .catch(({ message }) => refuseAll(`${message}. ${unreadable}`));
  refuse(file, problems!);
  const forTypes = structuredClone(parsed);
  const bundled = await redocly.bundle({ doc: document, externalRefResolver, config });
  refuse(file, bundled.problems);
  return { forTypes, forChecks: bundled.bundle.parsed };
}
