import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ParseAs } from "openapi-fetch";

import type { ClientOptions, RequestOptions } from "./api.ts";
import type { Operation } from "./operation.ts";

/** What one call needs: each option of the call, or the client's where the call leaves it out. */
export interface CallContext {
  readonly apiKey: ClientOptions["apiKey"];
  readonly baseUrl: string;
  readonly fetch: ClientOptions["fetch"];
  readonly maxResponseBytes: number;
  readonly onRetry: ClientOptions["onRetry"];
  readonly requestInitExt: ClientOptions["requestInitExt"];
  readonly retries: number;
  readonly signal: RequestOptions["signal"];
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly method: string;
  /** The method and the address, without the query, for errors. */
  readonly name: string;
  /** The operation, if the OpenAPI document has it. */
  readonly operation: Operation | undefined;
  /** Whether the key must be set and is sent, is sent if it is set, or is never sent. */
  readonly access: Operation["access"];
  /** The schema of the data of a 2xx response, for `call`. */
  readonly schema: StandardSchemaV1 | undefined;
  /** Whether the call resolves to the body of a 4xx or 5xx response, and does not throw. */
  readonly resolvesToErrors: boolean;
  /** Whether the caller says that the request is safe to send again. */
  readonly idempotent: boolean | undefined;
  /** The form of the data of a 2xx response. */
  readonly parseAs: ParseAs;
  /** The end of `totalTimeout`, on the clock of `performance.now()`. */
  readonly deadline: number;
  /** The keys that errors must not show. */
  readonly secrets: Set<string>;
  /** The errors that the call has made. */
  readonly errors: Set<unknown>;
  /** The number of the last attempt; 0 before the first, when nothing has been sent. */
  attempt: number;
}
