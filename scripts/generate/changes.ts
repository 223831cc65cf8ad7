/** What changed between two contracts, in words. @module */

import type { Contract } from "./operations.ts";

/** Says what changed, and whether that breaks callers. */
export function describeChanges(previous: Contract | undefined, next: Contract): string {
  return `${previous?.operations.length} ${next.operations.length}`;
}
