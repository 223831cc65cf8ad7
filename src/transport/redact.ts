/** Replaces every secret in a text by `[redacted]`. */
export type Redact = (text: string) => string;

/** How many errors in a chain of causes are searched for the reason of a failure. */
const MAX_CAUSES = 5;

/** The longest message that is kept of an error, in characters. */
const MAX_REASON = 1_000;

/** How a text is sent back: as it is, as JSON writes it, percent-encoded, as in a form. */
function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = encodeURIComponent(secret.replace(/\p{Cs}/gu, "\ufffd")); // as a form does
  const form = new URLSearchParams([["", secret]]).toString().slice("=".length);
  const inLowerCase = [percent, form].map((text) =>
    text.replace(/%../g, (escape) => escape.toLowerCase())
  );
  return [secret, json, percent, form, ...inLowerCase];
}

/**
 * Finds where a word starts in a text, also where its occurrences overlap.
 *
 * The time is linear, also when every part of the text almost matches: this is the search of Knuth,
 * Morris and Pratt. For each place it has the length of the longest start of the word that ends
 * there, first in the word itself, then in the text.
 */
function* placesOf(word: string, text: string): Generator<number> {
  if (word.length > text.length) return;
  const starts = new Uint32Array(word.length);
  let length = 0;
  const advance = (character: string) => {
    while (length > 0 && word[length] !== character) length = starts[length - 1]!;
    if (word[length] === character) length++;
  };
  for (let index = 1; index < word.length; index++) {
    advance(word[index]!);
    starts[index] = length;
  }
  length = 0;
  for (let index = 0; index < text.length; index++) {
    advance(text[index]!);
    if (length === word.length) yield index + 1 - length;
  }
}

/**
 * Makes a function that replaces secrets in a text, in time that is linear.
 *
 * @param secrets The secrets; only strings that are not empty count.
 * @returns The function.
 */
export function redactor(...secrets: unknown[]): Redact {
  const texts = secrets.filter((secret): secret is string =>
    !!secret && typeof secret === "string"
  );
  let forms: Set<string> | undefined; // made when they are needed, because most calls succeed
  return (text) => {
    forms ??= new Set(texts.flatMap(formsOf));
    const isSecret = new Uint8Array(text.length);
    for (const form of forms) {
      let end = 0;
      for (const start of placesOf(form, text)) {
        isSecret.fill(1, Math.max(start, end), end = start + form.length);
      }
    }
    let result = "";
    for (let start = 0, end; start < text.length; start = end) {
      end = isSecret.indexOf(1 - isSecret[start]!, start);
      if (end < 0) end = text.length;
      result += isSecret[start] ? "[redacted]" : text.slice(start, end);
    }
    return result;
  };
}

/**
 * Makes an error with the reason of a failure: the message and the `code` of the innermost cause
 * that has a message.
 *
 * It keeps nothing else that was thrown, because that may contain the request.
 */
export function reasonOf(thrown: unknown, redact: Redact): Error {
  let message = "unknown reason";
  let code: unknown;
  let inner = thrown;
  for (let count = 0; count < MAX_CAUSES && inner; count++) {
    const { message: text, code: found, name, cause, errors } = Object(inner);
    const words = typeof inner === "string" ? inner : text || found;
    if (typeof words === "string") {
      message = words;
      code = name === "NotCapable" ? name : found; // Deno lacks a permission
    }
    inner = cause ?? errors?.[0];
  }
  const reason = new Error(redact(message).slice(0, MAX_REASON).trim());
  return typeof code === "string" ? Object.assign(reason, { code: redact(code) }) : reason;
}
