/** Writes the types of paths, operations and schemas. @module */

import { createConfig } from "@redocly/openapi-core";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";
import type { JsonObject } from "./json.ts";

/** A description as openapi-typescript writes it in a comment, with its further lines. */
const description = / *\* @description .*\n(?: *\*(?! @|\/).*\n)*/.source;

/** Writes the types of a document, each with documentation. */
export async function writeTypes(document: JsonObject): Promise<string> {
  const nodes = await openapiTS(structuredClone(document) as unknown as OpenAPI3, {
    redocly: await createConfig({ rules: {} }), // the document has passed the lint
    silent: true,
    emptyObjectsUnknown: true, // `type: object` alone allows any properties
    readWriteMarkers: /"(read|write)Only":/.test(JSON.stringify(document)),
    // A field with a default may be missing from a response; validators do not add it.
    defaultNonNullable: false,
  });
  for (const node of nodes) if (ts.isInterfaceDeclaration(node)) addDocs(node);
  const text = astToString(nodes)
    // The description comes first, which editors show first. After `@deprecated`, it would be read as
    // the reason.
    .replaceAll(new RegExp(`( *\\* @deprecated\\n)(${description})`, "g"), "$2$1")
    .replaceAll(new RegExp(`( *\\* )Format: (.*\\n)(${description})`, "g"), "$3$1@format $2")
    .replaceAll("* @description ", "* ") // as a tag it would come last
    // Public types must name no types without documentation.
    .replaceAll(/^export type \$(Read|Write)</gm, "/** @ignore */\n$&");
  return `// deno-lint-ignore-file\n${text}`;
}

/** Adds docs to an interface and its members where openapi-typescript writes none. */
function addDocs(node: ts.InterfaceDeclaration): void {
  for (const item of [node, ...node.members]) {
    if (ts.getSyntheticLeadingComments(item)?.length) continue;
    const name = item.name && "text" in item.name ? item.name.text : "others";
    const text = `* \`${name}\` of the OpenAPI document. `.replaceAll("*/", "*\\/");
    ts.addSyntheticLeadingComment(item, ts.SyntaxKind.MultiLineCommentTrivia, text, true);
  }
}
