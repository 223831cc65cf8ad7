/** The shortest secret that is looked for: a shorter one would garble addresses and logs. */
const MIN_LENGTH = 8;

/** The longest text that is searched, in characters, and how much of a secret it is searched for. */
const MAX_SEARCHED = 64 * 2 ** 10;
const MAX_START = 256;

/** The longest message, and the longest stack, that is kept of an error, in characters. */
const MAX_KEPT = 2_000;

/** How a secret may be sent back: as it is, as JSON writes it, percent-encoded, as in a form. */
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
 * Replaces a form of a secret. Only its start is looked for, because the time to look for all of a
 * long one is its length times that of the text.
 */
function replaceForm(text: string, form: string): string {
  const start = form.slice(0, MAX_START);
  const [first, ...parts] = text.split(start);
  const rest = parts.map((part) => part.slice(form.length - start.length));
  return [first, ...rest].join("[redacted]");
}

/** What errors must not show. */
export class Secrets {
  readonly #secrets: string[] = [];
  #forms: string[] | undefined;

  /**
   * Adds a secret.
   *
   * @param secret Printable ASCII, so that all of its forms exist.
   */
  add(secret: string): void {
    this.#secrets.push(secret);
    this.#forms = undefined; // made when they are needed, because most calls succeed
  }

  /** Replaces every secret in a text by `[redacted]`. */
  redact(text: string): string {
    this.#forms ??= this.#secrets
      .filter(({ length }) => length >= MIN_LENGTH)
      .flatMap(formsOf)
      .filter((form, index, all) => all.indexOf(form) === index)
      .sort((a, b) => b.length - a.length); // the longest first, which may contain another
    return this.#forms.reduce(replaceForm, text);
  }
}

/**
 * Makes an error with the reason of a failure: the message, the `code` and the stack of the first
 * cause that has a message, or of what was thrown.
 *
 * It keeps nothing else, because that may contain the request.
 */
export function reasonOf(thrown: unknown, secrets: Secrets): Error {
  const isText = (value: unknown) => typeof value === "string" && value !== "";
  // Node.js has the reason in a cause, which may have an error for each address of a host.
  const { cause } = Object(thrown); // dnt adds a polyfill for "error.cause"
  const all = [cause, thrown].flatMap((error) => [error, error?.errors?.[0]]);
  const inner = Object(all.find((error) => isText(error?.message)) ?? thrown);
  const clean = (text: string) =>
    withoutQueries(secrets.redact(text.slice(0, MAX_SEARCHED)).slice(0, MAX_KEPT));
  const { message, code, name, stack } = inner;
  const reason = new Error(clean([message, code, thrown].find(isText) ?? "unknown reason"));
  if (isText(stack)) reason.stack = clean(stack);
  const ownCode = name === "NotCapable" ? name : code; // Deno lacks a permission
  return isText(ownCode) ? Object.assign(reason, { code: clean(ownCode) }) : reason;
}

/** Removes the queries of URLs in a text. */
function withoutQueries(text: string): string {
  return text.replace(/(\bhttps?:\/\/[^\s?#"']*)[?#][^\s"']*?(?=[).,:;!]*([\s"']|$))/gi, "$1");
}
