/** The files of `src/generated/`. @module */

import { createConfig } from "@redocly/openapi-core";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import type { Contract } from "./operations.ts";
import type { Spec } from "./spec.ts";
import { writeValidators } from "./validators.ts";

/** The name of the file that holds the contract, which the next run compares with. */
export const contractFile = "contract.json";

/**
 * Writes the generated files, formatted as the project's others.
 *
 * @param spec The description.
 * @param contract What it says about its operations.
 * @param header What made the files, from what.
 * @returns The text of each file by its name.
 */
export async function writeFiles(
  spec: Spec,
  contract: Contract,
  header: string,
): Promise<Map<string, string>> {
  const validators = writeValidators(contract);
  const sources: [name: string, text: string][] = [
    ["types.ts", `// ${header}\n${lintIgnore}\n\n${await types(spec)}`],
    ["operations.ts", `// ${header}\n\n${operations(contract, validators.names)}`],
    ["validators.ts", `// ${header}\n\n${validators.code}`],
    [contractFile, JSON.stringify({ $comment: header, ...contract })],
  ];
  const files = sources.map(async ([name, text]): Promise<[string, string]> => [
    name,
    await format(text, name.replace(/^.*\./, "")),
  ]);
  return new Map(await Promise.all(files));
}

const lintIgnore = "// deno-lint-ignore-file -- openapi-typescript chooses how types are written";

async function types(spec: Spec): Promise<string> {
  // The description is linted and bundled; what is left is to write its types, from a copy,
  // because openapi-typescript adds tags of discriminators to the document that it is given.
  const document = structuredClone(spec.document) as unknown as OpenAPI3;
  const nodes = await openapiTS(document, {
    redocly: await createConfig({ rules: {} }),
    silent: true,
    // A field with a default may be missing from a response; validators do not add it.
    defaultNonNullable: false,
  });
  nodes.forEach(addDocs);
  // A description is what editors show first; as a tag it would come last.
  return astToString(nodes).replaceAll("* @description ", "* ");
}

const interfaceDocs: Readonly<Record<string, string>> = {
  paths: "The operations, by path and method.",
  components: "The parts that operations share.",
  operations: "The operations, by their `operationId`.",
};

/** Documents an interface and its members, which openapi-typescript leaves without. */
function addDocs(node: ts.Node): void {
  if (!ts.isInterfaceDeclaration(node)) return;
  addDoc(node, interfaceDocs[node.name.text] ?? `The ${node.name.text}.`);
  for (const member of node.members) {
    const name = member.name !== undefined && "text" in member.name ? member.name.text : "others";
    addDoc(member, `The ${node.name.text === "components" ? name : `entry \`${name}\``}.`);
  }
}

function addDoc(node: ts.Node, text: string): void {
  if (ts.getSyntheticLeadingComments(node)?.length) return;
  const kind = ts.SyntaxKind.MultiLineCommentTrivia;
  ts.addSyntheticLeadingComment(node, kind, `* ${text.replaceAll("*/", "*\\/")} `, true);
}

function operations(
  { apiKeyHeader, operations }: Contract,
  validators: ReadonlyMap<string, Readonly<Record<string, string>>>,
): string {
  const used = operations.flatMap(({ operationId }) =>
    Object.values(validators.get(operationId) ?? {})
  );
  const entries = operations.map(({ method, path, operationId, apiKey, idempotent }) => {
    const responses = Object.entries(validators.get(operationId) ?? {})
      .map(([status, validator]) => `${JSON.stringify(status)}: ${validator}`);
    return `${JSON.stringify(`${method} ${path}`)}: {
      operationId: ${JSON.stringify(operationId)},
      apiKey: ${JSON.stringify(apiKey)},
      idempotent: ${idempotent},
      ${responses.length === 0 ? "" : `responses: { ${responses.join(", ")} },`}
    },`;
  });
  return `
import { ${[...used, "type Validator"].join(", ")} } from "./validators.ts";

/** What the client has to know of an operation to call it. */
export interface Operation {
  /** The name of the operation in the description. */
  readonly operationId: string;
  /** Whether the key is sent: always, where there is one, or never. */
  readonly apiKey: "required" | "optional" | "none";
  /** Whether the operation may be repeated after a failure. */
  readonly idempotent: boolean;
  /** Checks of the success responses that hold JSON, by status: "200", or "2XX" for all others. */
  readonly responses?: Readonly<Record<string, Validator>>;
}

/** The header that carries the key. */
export const apiKeyHeader = ${JSON.stringify(apiKeyHeader)};

/** The operations by method and path: "GET /path/{name}". */
export const operations: Readonly<Record<string, Operation>> = {
  __proto__: null as never, // no name is there that is not below
  ${entries.join("\n")}
};
`;
}

const config = fileURLToPath(new URL("../../deno.json", import.meta.url));

function format(text: string, extension: string): Promise<string> {
  const args = ["fmt", "--quiet", "--config", config, "--ext", extension, "-"];
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: Infinity };
    const child = execFile(Deno.execPath(), args, options, (error, stdout, stderr) => {
      if (error) reject(new Error(`deno fmt failed: ${stderr.trim()}`, { cause: error }));
      else resolve(stdout);
    });
    child.stdin?.end(text);
  });
}
