/** The shortest secret that is looked for: a shorter one would garble addresses and logs. */
const MIN_LENGTH = 8;

/** The length of the part of a spelling that is looked for, in characters. */
const MAX_START = 256;

/** Lists the spellings of a secret that may be sent back: as it is, as in JSON, a URL, a form. */
function spellingsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = encodeURIComponent(secret);
  const form = new URLSearchParams([["", secret]]).toString().slice("=".length);
  const withLowerHex = (text: string) => text.replace(/%../g, (escape) => escape.toLowerCase());
  return [secret, json, percent, form, withLowerHex(percent), withLowerHex(form)];
}

/**
 * Replaces a spelling of a secret. Only its start is looked for, because searching for a long one may
 * take time proportional to both lengths.
 */
function replaceSpelling(text: string, spelling: string): string {
  const start = spelling.slice(0, MAX_START);
  // Each part except the first is taken to begin with the rest of the spelling.
  const [first, ...parts] = text.split(start);
  const rest = parts.map((part) => part.slice(spelling.length - start.length));
  return [first, ...rest].join("[redacted]");
}

/** The texts that errors must not show. */
export class Secrets {
  readonly #secrets: string[] = [];
  #spellings: string[] | undefined;

  /**
   * Adds a secret.
   *
   * @param secret Printable ASCII, which can be written in every spelling.
   */
  add(secret: string): void {
    if (secret.length >= MIN_LENGTH) this.#secrets.push(secret);
    this.#spellings = undefined; // made when they are needed, because most calls succeed
  }

  /** Replaces every secret in a text by `[redacted]`. */
  redact(text: string): string {
    if (text.length < MIN_LENGTH) return text;
    // The longest comes first, because it may contain another.
    this.#spellings ??= [...new Set(this.#secrets.flatMap(spellingsOf))]
      .sort((a, b) => b.length - a.length);
    return this.#spellings.reduce(replaceSpelling, text);
  }

  /** Replaces every secret in parsed JSON: in strings, numbers and names. */
  redactValue(value: unknown): unknown {
    if (typeof value === "string") return this.redact(value);
    if (typeof value === "number" && this.redact(`${value}`) !== `${value}`) return "[redacted]";
    if (Array.isArray(value)) return value.map((item) => this.redactValue(item));
    if (Object(value) !== value) return value;
    const fields = Object.entries(value as object)
      .map(([name, field]) => [this.redact(name), this.redactValue(field)]);
    return Object.fromEntries(fields);
  }
}
