/** Writes the types of paths, operations and schemas. @module */

import { createConfig } from "@redocly/openapi-core";
import openapiTS, { addJSDocComment, astToString } from "openapi-typescript";
import ts from "typescript";
import { operationsOf } from "./operations.ts";
import type { Any } from "./schemas.ts";

/** Writes the types of a document, each with documentation. */
export async function writeTypes(document: Any): Promise<string> {
  const nodes = await openapiTS(document, {
    redocly: await createConfig({ rules: {} }), // The document has passed the lint.
    silent: true,
    emptyObjectsUnknown: true, // `type: object` alone allows any properties
    defaultNonNullable: false, // A field with a default may be missing from a response.
    readWriteMarkers: /"(read|write)Only":/.test(JSON.stringify(document)),
  });
  for (const node of nodes) if (ts.isInterfaceDeclaration(node)) addDocs(node, document);
  const text = astToString(nodes)
    .replaceAll("* @description ", "* ") // Editors show a tag after the text.
    // What follows `@deprecated` would be its reason.
    .replaceAll(/( *\* @deprecated\n)((?: *\*(?!\/).*\n)+)/g, "$2$1")
    // Helper types, such as `type WithRequired<T, K …`: public types must name no private ones.
    .replaceAll(/^(?:export )?type (?=[$\w]+<)/gm, "/** @ignore */\nexport type ");
  return `// deno-lint-ignore-file\n${text}`;
}

/** Adds docs to an interface and its members where openapi-typescript writes none. */
function addDocs(node: ts.InterfaceDeclaration, document: Any): void {
  const operations = node.name.text === "operations" ? operationsOf(document) : [];
  for (const item of [node, ...node.members]) {
    const name = item.name && "text" in item.name ? item.name.text : "others";
    const found = operations.find(({ operation }) => operation.operationId === name);
    if (found) addJSDocComment(found.operation, item as ts.PropertySignature);
    if (ts.getSyntheticLeadingComments(item)?.length) continue;
    const text = `* \`${name.replaceAll("*/", "")}\` of the OpenAPI document. `;
    ts.addSyntheticLeadingComment(item, ts.SyntaxKind.MultiLineCommentTrivia, text, true);
  }
}
