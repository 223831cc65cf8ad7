import type { Check } from "./checks.ts";

/** An operation, as far as the client must know it to call it. */
export interface Operation {
  /** The name of the operation in the OpenAPI document. */
  readonly operationId: string;
  /** Whether the key must be set and is sent, is sent if it is set, or is never sent. */
  readonly access: "required" | "optional" | "none";
  /** Whether the operation may be retried after any temporary failure. */
  readonly idempotent: boolean;
  /**
   * The checks of 2xx responses, by status: "200", or "2XX" for all others; `undefined` where the
   * OpenAPI document has no content. A 2xx status without an entry is refused.
   */
  readonly responses: Readonly<Record<string, Check | undefined>>;
}
