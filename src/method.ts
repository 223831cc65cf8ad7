import type { Method } from "./api.ts";
import { optionError } from "./checks.ts";

/** The HTTP methods that fetch sends. */
export const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"] as const;

/** Checks a method, and returns it in upper case. */
export function readMethod(method: unknown): Method {
  const name = typeof method === "string" ? method.toUpperCase() : "";
  const known = METHODS.find((known) => known === name);
  if (known) return known;
  throw optionError("method", `must be one of ${METHODS.join(", ")}`);
}
