/** The forms in which a text may show a secret: as it is, or as a URL or JSON writes it. */
export function secretForms(secret: unknown): string[] {
  if (typeof secret !== "string" || !secret) return [];
  if (/^[\w.-]+$/.test(secret)) return [secret];
  const encoded = encodeURIComponent(secret.replace(/\p{Cs}/gu, "\ufffd")); // it throws at surrogates
  return [secret, encoded, JSON.stringify(secret).slice(1, -1)];
}

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
  let copy = new Error("[redacted]");
  try {
    const { code } = Object(cause);
    copy = new Error(redact(`${cause}`, secrets));
    if (typeof code === "string") Object.assign(copy, { code: redact(code, secrets) });
    const found = new Set([cause]);
    for (const value of found) { // as the set grows
      if (typeof value === "string" && redact(value, secrets) !== value) return copy;
      if (value !== Object(value)) continue;
      const { constructor, name, message, stack } = value as Error;
      if (value instanceof Error) found.add(name).add(message).add(stack); // may be inherited
      else if (constructor && constructor !== Object && constructor !== Array) {
        return copy; // a Request, Headers or the like prints more than its properties
      }
      for (const key of Reflect.ownKeys(value as Error)) {
        found.add(key).add((value as Error)[key as keyof Error]);
      }
    }
    return cause;
  } catch { /* It throws when it is looked at. */ }
  return copy;
}
