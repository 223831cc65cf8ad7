/** How many errors in a chain of causes are searched for the reason of a failure. */
const MAX_CAUSES = 5;

/** The secrets of a call, which no error may show. */
export class Secrets {
  readonly #secrets: string[];

  /** Keeps the arguments that are strings and not empty. */
  constructor(...secrets: unknown[]) {
    this.#secrets = secrets.filter((secret): secret is string =>
      typeof secret === "string" && secret !== ""
    );
  }

  /** The secrets as they are, URL-encoded and as in JSON; the longest first. */
  get #forms(): string[] {
    const forms = this.#secrets.flatMap((secret) => {
      const wellFormed = secret.replace(/\p{Cs}/gu, "\ufffd"); // a lone surrogate would throw
      return [secret, encodeURIComponent(wellFormed), JSON.stringify(secret).slice(1, -1)];
    });
    return [...new Set(forms)].sort((a, b) => b.length - a.length);
  }

  /** Matches every occurrence of a secret. */
  get #pattern(): RegExp {
    const escaped = this.#forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
    return new RegExp(escaped.join("|") || "$^", "g");
  }

  /** Whether the name of a header, which has no case, contains a secret. */
  isIn(headerName: string): boolean {
    const name = headerName.toLowerCase();
    return this.#forms.some((form) => name.includes(form.toLowerCase()));
  }

  /** Replaces every secret in a text, in one pass, so that no replacement is replaced again. */
  redact(text: string): string {
    return text.replace(this.#pattern, "[redacted]");
  }

  /** Redacts the start of a text, and leaves no part of a secret at its end. */
  redactStart(text: string, length: number): string {
    const longest = this.#forms[0]?.length ?? 0; // a secret that starts before the cut is complete
    const start = this.redact(text.slice(0, length + longest));
    const doubtful = text.length > length + longest ? longest : 0;
    return start.slice(0, Math.max(0, Math.min(length, start.length - doubtful)));
  }

  /**
   * Makes an error with the reason of a failure: the message and the `code` of the innermost cause.
   *
   * It keeps nothing else that was thrown, because that may contain the request.
   */
  reason(thrown: unknown): Error {
    let message = "unknown reason";
    let code: unknown;
    try {
      let inner = thrown;
      for (let count = 1; count < MAX_CAUSES; count++) {
        const { cause, errors } = Object(inner);
        const next = cause ?? errors?.[0];
        if (next === undefined || next === null) break;
        inner = next;
      }
      const found = Object(inner);
      code = found.code;
      message = String(found.message || code || (inner ?? message));
    } catch { /* A getter throws. */ }
    const reason = new Error(this.redactStart(message, 1_000));
    if (typeof code === "string") Object.assign(reason, { code: this.redactStart(code, 100) });
    return reason;
  }
}
