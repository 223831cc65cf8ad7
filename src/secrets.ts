const REDACTED = "[redacted]";

/** Replaces every occurrence of a secret in a text. */
export function redactText(text: string, secrets: readonly string[]): string {
  for (const secret of secrets) text = text.replaceAll(secret, REDACTED);
  return text;
}

/** Replaces every occurrence of a secret in names and strings of a JSON value. */
export function redactJson(value: unknown, secrets: readonly string[]): unknown {
  const json = JSON.stringify(value) ?? "";
  const redacted = redactText(json, secrets.map((secret) => JSON.stringify(secret).slice(1, -1)));
  if (redacted === json) return value;
  try {
    return JSON.parse(redacted);
  } catch {
    return redacted; // the secret looks like a part of JSON's own syntax
  }
}

/**
 * Returns what a fetch threw as it is, or, where it could show a secret when it is logged, an error
 * that says the same without it.
 */
export function redactCause(cause: unknown, secrets: readonly string[]): unknown {
  const seen = new Set<unknown>();
  const shows = (value: unknown): boolean => {
    if (typeof value === "string") return secrets.some((secret) => value.includes(secret));
    if (typeof value !== "object" || value === null || seen.has(value)) return false;
    seen.add(value);
    // A Request, Headers or the like: what it shows cannot be told from its properties.
    const plain = value instanceof Error || Array.isArray(value) ||
      !Object.getPrototypeOf(value)?.constructor?.name.replace("Object", "");
    return !plain ||
      Reflect.ownKeys(value).some((key) => shows(key) || shows(value[key as keyof typeof value]));
  };
  if (!secrets.length || !shows(cause)) return cause;
  const { name, message, code } = Object(cause);
  const copy = new Error(redactText(`${name}: ${message}`, secrets));
  return code === undefined ? copy : Object.assign(copy, { code });
}
