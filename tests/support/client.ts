// Clients for tests, and ways to call them.
import type { StandardSchemaV1 } from "@standard-schema/spec";
import process from "node:process";

import { type ClientOptions, createClient, type paths, type ScamAddressClient } from "../../mod.ts";
import { apiKeyHeader, type Operation, operations } from "./internals.ts";
import type { AnyPath } from "./server.ts";

/** Whether the tests run on Deno; otherwise they run on Node. */
export const isDeno = "deno" in process.versions;

/** The header of the key, as Node.js names headers. */
export const keyHeader = apiKeyHeader.toLowerCase();

/** The path of `checkKey` in the OpenAPI document. */
export const checkKeyPath = "/checkKey" satisfies keyof paths;

/** Whether an operation needs the key. */
export type Access = Operation["access"];

/** Adds an operation to the generated table, as long as the result is in use. */
export function addGeneratedOperation(
  path: string,
  responses: Operation["responses"] = {},
  access: Access = "required",
): Disposable {
  const table = operations as Record<string, Partial<Operation>>;
  const operationId = "toString"; // Each object inherits one, which is no handler of the sandbox.
  table[`GET /${path}`] = { operationId, access, responses };
  return { [Symbol.dispose]: () => void delete table[`GET /${path}`] };
}

/** The name of an endpoint that is reserved for tests: no OpenAPI document has it. */
export const undocumented = "undocumented";

/** The key of clients that need any key. */
export const apiKey = "key-of-the-client";

/** A base URL for clients whose `fetch` does not use the network. */
export const baseUrl = "https://service.example/";

/** Calls in each of the three ways at the same time: a method of its own, call(), a typed method. */
export function callEveryWay(client: ScamAddressClient<AnyPath>, init = {}): Promise<unknown>[] {
  return [
    client.checkOwnKey(init),
    client.call("GET", undocumented, init),
    client.GET(`/${undocumented}`, init),
  ];
}

/** Creates a client, like `createClient`. */
type Create = (options: ClientOptions) => ScamAddressClient<AnyPath>;

/** Creates a client with middleware and a custom `fetch`, both of which change nothing. */
const createWithBoth: Create = (options) => {
  const client = createClient<AnyPath>({ fetch: (request) => fetch(request), ...options });
  client.use({ onRequest() {}, onResponse() {} });
  return client;
};

/** Creates a client without anything of the caller's own, and one with middleware and a `fetch`. */
export const bothWays: Create[] = [createClient<AnyPath>, createWithBoth];

/** Creates a client of a server. */
export function clientAt({ url }: { url: string }, options: Partial<ClientOptions> = {}) {
  return createClient<AnyPath>({ baseUrl: url, apiKey, ...options });
}

/** Creates a client whose custom `fetch` is a function, which may return anything. */
export function clientOf(
  respond: (request: Request) => unknown,
  options: Partial<ClientOptions> = {},
): ScamAddressClient<AnyPath> {
  const fetch = respond as (request: Request) => Promise<Response>;
  return createClient<AnyPath>({ baseUrl, apiKey, fetch, ...options });
}

/** A client that must send nothing: its `fetch` fails. */
export const unsent = clientOf(unusedFetch);

/** A `fetch` that must not be called. */
export function unusedFetch(): never {
  throw new Error("A request was sent");
}

/** Makes a schema of a function that validates. */
export function schemaOf(validate: (value: unknown) => unknown): StandardSchemaV1 {
  return { "~standard": { version: 1, vendor: "test", validate: validate as never } };
}

/** Replaces the global `fetch`, as libraries for tests do, as long as the result is in use. */
export function replaceFetch(wrap: (original: typeof fetch) => typeof fetch): Disposable {
  const original = globalThis.fetch;
  globalThis.fetch = wrap(original);
  return { [Symbol.dispose]: () => void (globalThis.fetch = original) };
}
