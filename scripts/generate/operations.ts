/** The operations of a description, resolved. @module */

import {
  capital,
  dereference,
  isObject,
  join,
  listOf,
  Names,
  objectOf,
  type Schema,
  Schemas,
} from "./schema.ts";
import { type Json, type JsonObject, type Spec, SpecError } from "./spec.ts";

/** Schemas by media type. */
export type Content = Record<string, Schema>;

/** A parameter of an operation. */
export interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required: boolean;
  readonly content: Content;
}

/** What a description says about one operation. */
export interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly apiKey: "required" | "optional" | "none";
  readonly idempotent: boolean;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Content>>;
}

/** What callers can see of a service: all that two versions of it are compared by. */
export interface Contract {
  readonly apiKeyHeader: string;
  readonly operations: readonly Operation[];
  readonly definitions: Readonly<Record<string, Schema>>;
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
const repeatable = new Set(["get", "head", "options", "put", "delete"]);

/** The header of the key where a description has no scheme (section 5.1 of the service's document). */
const defaultHeader = "X-API-Key";

/**
 * Reads what a description says about its operations.
 *
 * @param spec The description.
 * @returns The contract, and where keywords stand that validators do not check.
 * @throws {SpecError} If an operation needs a security scheme that the client cannot serve.
 */
export function readContract(spec: Spec): { contract: Contract; unchecked: readonly string[] } {
  const { document } = spec;
  const schemas = new Schemas(document);
  const security = new Security(spec);
  const entries = operationsOf(document);
  const names = new Names(
    entries.flatMap(({ operation }) => operation.operationId as string ?? []),
  );

  const operations = entries.map(({ method, path, operation, shared, at }): Operation => {
    const declared = operation.operationId;
    const parameters = [
      ...readParameters(document, schemas, shared.list, shared.at),
      ...readParameters(document, schemas, operation.parameters, join(at, "parameters")),
    ];
    const body = dereference(document, operation.requestBody, join(at, "requestBody"));
    return {
      operationId: typeof declared === "string" ? declared : names.add(`${method} ${path}`),
      method: method.toUpperCase(),
      path,
      apiKey: security.of(operation, at),
      idempotent: typeof operation["x-idempotent"] === "boolean"
        ? operation["x-idempotent"]
        : repeatable.has(method),
      // An operation's own parameter replaces the path's of the same name and place.
      parameters: [
        ...new Map(parameters.map((each) => [`${each.in} ${each.name}`, each])).values(),
      ],
      ...(operation.requestBody !== undefined && {
        requestBody: {
          required: body.value.required === true,
          content: readContent(schemas, body.value, body.pointer),
        },
      }),
      responses: Object.fromEntries(
        Object.entries(objectOf(operation.responses))
          .filter(([status]) => !status.startsWith("x-"))
          .map(([status, value]) => {
            const response = dereference(document, value, join(at, "responses", status));
            return [
              status.toUpperCase().replace("DEFAULT", "default"),
              readContent(schemas, response.value, response.pointer),
            ];
          }),
      ),
    };
  });
  const definitions = Object.fromEntries(schemas.definitions);
  const apiKeyHeader = security.header ?? defaultHeader;
  return { contract: { apiKeyHeader, operations, definitions }, unchecked: schemas.unchecked };
}

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
  readonly shared: { readonly list: Json | undefined; readonly at: string };
  readonly at: string;
}

function operationsOf(document: JsonObject): Entry[] {
  return Object.entries(objectOf(document.paths)).flatMap(([path, item]) => {
    if (!path.startsWith("/")) return [];
    const resolved = dereference(document, item, join("/paths", path));
    return methods.flatMap((method): Entry[] => {
      const operation = resolved.value[method];
      if (!isObject(operation)) return [];
      const shared = { list: resolved.value.parameters, at: join(resolved.pointer, "parameters") };
      return [{ method, path, operation, shared, at: join(resolved.pointer, method) }];
    });
  });
}

function readParameters(
  document: JsonObject,
  schemas: Schemas,
  list: Json | undefined,
  at: string,
): Parameter[] {
  return listOf(list).map((item, index) => {
    const { value, pointer } = dereference(document, item, join(at, index));
    return {
      in: String(value.in),
      name: String(value.name),
      required: value.required === true || value.in === "path",
      content: value.content === undefined
        ? { "": schemas.read(value.schema, join(pointer, "schema")) }
        : readContent(schemas, value, pointer),
    };
  });
}

function readContent(schemas: Schemas, from: JsonObject, pointer: string): Content {
  return Object.fromEntries(
    Object.entries(objectOf(from.content)).map(([type, media]) => [
      type,
      schemas.read(objectOf(media).schema, join(pointer, "content", type, "schema")),
    ]),
  );
}

/** The security schemes of a description; the client serves one API key in one header. */
class Security {
  readonly #spec: Spec;
  readonly #schemes: JsonObject;
  #used: { readonly header: string; readonly scheme: string } | undefined;

  constructor(spec: Spec) {
    this.#spec = spec;
    this.#schemes = objectOf(objectOf(spec.document.components).securitySchemes);
  }

  /** The header of the key: of the scheme in use, or else of the first that could be. */
  get header(): string | undefined {
    if (this.#used) return this.#used.header;
    return Object.keys(this.#schemes).map((name) => this.#header(name)).find((name) => name);
  }

  /** Whether an operation carries the key. */
  of(operation: JsonObject, at: string): Operation["apiKey"] {
    const own = operation.security !== undefined;
    const place = own ? join(at, "security") : "/security";
    const requirements = listOf(own ? operation.security : this.#spec.document.security)
      .map((item) => Object.keys(objectOf(item)));
    if (requirements.length === 0) return "none";
    const needed = requirements.filter((schemes) => schemes.length > 0);
    if (needed.length === 0) return "none";
    // Each requirement is an alternative: one that the client can meet is enough.
    const servable = needed.map(([scheme, ...more]) => more.length === 0 ? scheme : undefined)
      .find((scheme) => scheme !== undefined && this.#header(scheme) !== undefined);
    if (servable === undefined) throw this.#unserved(needed.flat(), place);
    this.#use(servable, place);
    return needed.length < requirements.length ? "optional" : "required";
  }

  #scheme(name: string): JsonObject {
    return dereference(
      this.#spec.document,
      this.#schemes[name],
      join("/components/securitySchemes", name),
    ).value;
  }

  #header(scheme: string): string | undefined {
    const { type, in: place, name } = this.#scheme(scheme);
    return type === "apiKey" && place === "header" ? String(name) : undefined;
  }

  #use(scheme: string, place: string): void {
    const header = this.#header(scheme) ?? "";
    this.#used ??= { header, scheme };
    if (this.#used.header.toLowerCase() === header.toLowerCase()) return;
    throw new SpecError(
      `${this.#spec.place(place)} security: The scheme "${scheme}" sends the key in "${header}", ` +
        `"${this.#used.scheme}" in "${this.#used.header}"; the client has one header for it`,
    );
  }

  #unserved(schemes: string[], place: string): SpecError {
    const scheme = schemes.find((name) => this.#header(name) === undefined);
    if (scheme === undefined) {
      return new SpecError(
        `${this.#spec.place(place)} security: The client sends one API key, ` +
          `not "${schemes.join('" and "')}" together`,
      );
    }
    const { type, in: where, scheme: http } = this.#scheme(scheme);
    if (type === undefined) {
      return new SpecError(
        `${this.#spec.place(place)} security: The scheme "${scheme}" is not defined`,
      );
    }
    const kind = [type, http, where && `in ${where}`].filter((word) => word).join(" ");
    return new SpecError(
      `${this.#spec.place(join("/components/securitySchemes", scheme))} security: ` +
        `The client sends an API key in a header; it cannot serve the scheme "${scheme}" ` +
        `(${kind}), which ${this.#spec.place(place)} asks for`,
    );
  }
}

/** Whether a media type holds JSON. */
export function isJson(mediaType: string): boolean {
  const essence = mediaType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^(application|text)\/json$|^[^/]+\/[^/]+\+json$/.test(essence);
}

/** The success responses of an operation that hold JSON, each with the schemas to try. */
export function jsonResponses({ operationId, responses }: Operation): {
  status: string;
  name: string;
  schemas: Schema[];
}[] {
  // "default" is no success: neither openapi-fetch's types nor the client treat it as one.
  return Object.entries(responses).filter(([status]) => /^2(\d\d|XX)$/.test(status)).flatMap(
    ([status, content]) => {
      const schemas = Object.entries(content).filter(([type]) => isJson(type))
        .map(([, schema]) => schema);
      return schemas.length === 0
        ? []
        : [{ status, name: `${operationId} ${capital(status)}`, schemas }];
    },
  );
}
