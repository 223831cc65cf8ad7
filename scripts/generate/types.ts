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
  const operations = operationsOf(document).map(({ operation }) => operation);
  for (const node of nodes) {
    if (!ts.isInterfaceDeclaration(node)) continue;
    if (node.name.text === "operations") describeOperations(node, operations);
    addDocs(node);
  }
  const text = astToString(nodes)
    .replaceAll("* @description ", "* ") // Editors show a tag after the text.
    // What follows `@deprecated` would be its reason.
    .replaceAll(/( *\* @deprecated\n)((?: *\*(?!\/).*\n)+)/g, "$2$1")
    // Helper types, such as `type WithRequired<T, K …`: public types must name no private ones.
    .replaceAll(/^(?:export )?type (?=[$\w]+<)/gm, "/** @ignore */\nexport type ");
  return `// deno-lint-ignore-file\n${text}`;
}

/** Adds the summaries and descriptions of operations, which openapi-typescript adds only to paths. */
function describeOperations({ members }: ts.InterfaceDeclaration, operations: Any[]): void {
  for (const member of members) {
    const property = member as ts.PropertySignature & { name: ts.Identifier };
    addJSDocComment(
      operations.find(({ operationId }) => operationId === property.name.text),
      property,
    );
  }
}

/** Adds docs to an interface and its members where openapi-typescript writes none. */
function addDocs(node: ts.InterfaceDeclaration): void {
  for (const item of [node, ...node.members]) {
    if (ts.getSyntheticLeadingComments(item)?.length) continue;
    const name = item.name && "text" in item.name ? item.name.text : "others";
    const text = `* \`${name.replaceAll("*/", "")}\` of the OpenAPI document. `;
    ts.addSyntheticLeadingComment(item, ts.SyntaxKind.MultiLineCommentTrivia, text, true);
  }
}
