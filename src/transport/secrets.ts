/** The shortest secret that is looked for: a shorter one would garble addresses and logs. */
const MIN_LENGTH = 8;

/** The length of the part of a form that is looked for, in characters. */
const MAX_START = 256;

/** Lists the forms in which a secret may be sent back: as it is, as in JSON, in a URL, in a form. */
function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = encodeURIComponent(secret);
  const form = new URLSearchParams([["", secret]]).toString().slice("=".length);
  const inLowerCase = [percent, form].map((text) =>
    text.replace(/%../g, (escape) => escape.toLowerCase())
  );
  return [secret, json, percent, form, ...inLowerCase];
}

/**
 * Replaces a form of a secret. Only its start is looked for, because searching for a long one may take
 * time proportional to both lengths.
 */
function replaceForm(text: string, form: string): string {
  const start = form.slice(0, MAX_START);
  // Each part but the first is taken to begin with the rest of the form.
  const [first, ...parts] = text.split(start);
  const rest = parts.map((part) => part.slice(form.length - start.length));
  return [first, ...rest].join("[redacted]");
}

/** The texts that errors must not show. */
export class Secrets {
  readonly #secrets: string[] = [];
  #forms: string[] | undefined;

  /**
   * Adds a secret.
   *
   * @param secret Printable ASCII, which every form can write.
   */
  add(secret: string): void {
    if (secret.length >= MIN_LENGTH) this.#secrets.push(secret);
    this.#forms = undefined; // made when they are needed, because most calls succeed
  }

  /** Replaces every secret in a text by `[redacted]`. */
  redact(text: string): string {
    if (text.length < MIN_LENGTH) return text;
    // The longest comes first, because it may contain another.
    this.#forms ??= [...new Set(this.#secrets.flatMap(formsOf))]
      .sort((a, b) => b.length - a.length);
    return this.#forms.reduce(replaceForm, text);
  }

  /** Replaces every secret in parsed JSON: in strings, numbers and names. */
  redactValue(value: unknown): unknown {
    if (typeof value === "string") return this.redact(value);
    if (typeof value === "number") {
      return this.redact(`${value}`) === `${value}` ? value : "[redacted]";
    }
    if (Array.isArray(value)) return value.map((item) => this.redactValue(item));
    if (Object(value) !== value) return value;
    const fields = Object.entries(value as object);
    return Object.fromEntries(
      fields.map(([name, field]) => [this.redact(name), this.redactValue(field)]),
    );
  }
}
