/** Replaces every occurrence of a secret in a text. */
export function redact(text: string, secrets: readonly string[]): string {
  for (const secret of secrets) text = text.replaceAll(secret, "[redacted]");
  return text;
}

/**
 * Returns what a fetch or a serializer threw as it is, or, where it could show a secret when it is
 * logged, an error that says the same without it.
 */
export function redactCause(cause: unknown, secrets: readonly string[]): unknown {
  const found = new Set([cause]);
  for (const value of found) { // as the set grows
    if (
      value instanceof Request || value instanceof Headers || // which print their headers
      typeof value === "string" && redact(value, secrets) !== value
    ) return new Error(redact(`${cause}`, secrets));
    if (value && typeof value === "object") {
      for (const key of Reflect.ownKeys(value)) found.add(value[key as never]);
    }
  }
  return cause;
}
