import type { Method } from "./api.ts";
import { optionError } from "./checks.ts";

/** The HTTP methods that fetch sends. */
export const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"] as const;

/** Checks a method, and returns it in upper case. */
export function readMethod(given: unknown): Method {
  const name = typeof given === "string" ? given.toUpperCase() : "";
  const method = METHODS.find((known) => known === name);
  if (method) return method;
  throw optionError("method", `must be one of ${METHODS.join(", ")}`);
}
