/** A library whose declarations mention types of the package, and none of its dependencies. */

import { type CallOptions, createClient, type StandardSchemaV1 } from "@scam-address/client";

const client = createClient({ baseUrl: "https://service.example/" });
export const api = { call: client.call, checkKey: client.checkKey };
export const lookUp = (id: string) => client.call("GET", `reports/${encodeURIComponent(id)}`);

export function lookUpWith<Schema extends StandardSchemaV1 | undefined>(
  options: CallOptions<Schema>,
) {
  return client.call("GET", "report", options);
}
