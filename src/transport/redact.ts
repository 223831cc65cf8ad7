/**
 * Replaces every secret in a text; with a length, in the start of the text, which it cuts. From a
 * text that is incomplete, it also drops an end that may be the start of a secret.
 */
export type Redact = (text: string, length?: number, isIncomplete?: boolean) => string;

/** How many errors in a chain of causes are searched for the reason of a failure. */
const MAX_CAUSES = 5;

/** How much of a secret is compared, because a regular expression has a limit. */
const MAX_COMPARED = 1_000;

/** How many times as long as a secret its longest form is. */
const EXPANSION = 6;

/** Matches a character as it is, percent-encoded, as in a form, and with JSON's escapes. */
function formsOf(character: string): string {
  const units = character.split("").map((unit) =>
    `u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  );
  const percent = character < "\x80"
    ? `%${units[0]!.slice(3)}`
    : encodeURIComponent(character.replace(/^\p{Cs}$/u, "\ufffd")); // a lone surrogate would throw
  const [escapes, literal] = ["\\\\", "\\"].map((prefix) => prefix + units.join(prefix));
  return `(?:${percent}|${escapes}|\\\\?${literal}${character === " " ? "|\\+" : ""})`;
}

/** Matches a secret, and whatever is in the place of the part that is not compared. */
function patternOf(secret: string): string {
  const compared = secret.slice(0, MAX_COMPARED);
  const rest = EXPANSION * (secret.length - compared.length);
  return [...compared].map(formsOf).join("") + (rest ? `[^]{0,${rest}}` : "");
}

/**
 * Makes a function that replaces secrets by `[redacted]`, in one pass, so that no replacement is
 * replaced again.
 *
 * @param secrets The secrets; only strings that are not empty count.
 * @returns The function.
 */
export function redactor(...secrets: unknown[]): Redact {
  const texts = secrets
    .filter((secret): secret is string => typeof secret === "string" && secret !== "")
    .sort((a, b) => b.length - a.length);
  const longest = EXPANSION * (texts[0]?.length ?? 0);
  const match = (parts: string[]) => new RegExp(parts.map(patternOf).join("|") || "[]", "gi");
  let secret: RegExp | undefined; // made when it is needed, because most calls succeed
  return (text, length = Infinity, isIncomplete = text.length > length + longest) => {
    // A secret that starts before the cut is complete.
    const start = text.slice(0, length + longest).replace(secret ??= match(texts), "[redacted]");
    if (!isIncomplete) return start.slice(0, length);
    const end = Math.max(0, start.length - longest);
    const beginnings = [...texts.map((text) => text[0]!), "%", "\\"]; // or that of an escape
    const part = start.slice(end).search(match(beginnings));
    return start.slice(0, part < 0 ? length : Math.min(length, end + part));
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
  try {
    let inner = thrown;
    for (let count = 0; count < MAX_CAUSES && inner !== undefined && inner !== null; count++) {
      const { message: text, code: found, name, cause, errors } = Object(inner);
      const words = Object(inner) === inner ? text || found : inner;
      if (words && typeof words !== "object") {
        message = String(words);
        code = name === "NotCapable" ? name : found; // Deno lacks a permission
      }
      inner = cause ?? errors?.[0];
    }
  } catch { /* A getter throws. */ }
  const reason = new Error(redact(message, 1_000).trim());
  return typeof code === "string" ? Object.assign(reason, { code: redact(code, 100) }) : reason;
}
