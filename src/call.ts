import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ParseAs } from "openapi-fetch";

import type { RequestOptions } from "./api.ts";
import type { ScamAddressError } from "./errors.ts";
import type { Operation } from "./operation.ts";
import type { Settings } from "./options.ts";

/** Everything about one call: the client's options, those of the call in their place, and more. */
export interface CallContext extends Settings {
  readonly method: string;
  /** The method and the address, without the query, for errors. */
  readonly name: string;
  readonly signal?: RequestOptions["signal"];
  /** The operation, if the OpenAPI document has it. */
  readonly operation?: Operation | undefined;
  /** Whether the key must be set and is sent, is sent if it is set, or is never sent. */
  readonly access: Operation["access"];
  /** The schema of the data of a 2xx response, for `call`. */
  readonly schema?: StandardSchemaV1 | undefined;
  /** Whether the call resolves to the body of a 4xx or 5xx response, and does not throw. */
  readonly resolvesToErrors?: boolean;
  /** Whether the caller says that the request is safe to repeat. */
  readonly idempotent?: boolean;
  /** The form of the data of a 2xx response. */
  readonly parseAs: ParseAs;
  /** The end of `totalTimeout`, on the clock of `performance.now()`. */
  readonly deadline: number;
  /** The keys that errors must not show. */
  readonly secrets: Set<string>;
  /** The error for the last response, if its status is not 2xx. */
  failure?: { readonly response: Response; readonly error: ScamAddressError };
  /** The errors that the call has made. */
  readonly errors: WeakSet<Error>;
  /** The number of the last attempt; 0 before the first, when nothing has been sent. */
  attempt: number;
}
